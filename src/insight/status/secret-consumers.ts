import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { PUBLISHED_SELECTOR, secretType } from "../../publish/secret-publisher.ts";
import { deletedKeyProblems } from "../consumers/deleted-keys.ts";
import { allConsumersOf, listDerived } from "../consumers/derived-secrets.ts";
import { lookAround, type Neighbourhood } from "../consumers/neighbourhood.ts";
import { viewOf } from "../consumers/source-view.ts";
import { listSeen, type Unseen } from "../resources/list-all.ts";
import type { StatusReport } from "./status-report.ts";

/** A namespace with Secrets of ours, and what runs in it. */
interface Surroundings {
  readonly around: Neighbourhood;
  readonly secrets: ReadonlyMap<string, KubeObject>;
  /** Those that were made from others. */
  readonly derived: readonly KubeObject[];
  readonly unseen: readonly Unseen[];
}

export interface ReportsWithConsumers {
  readonly reports: readonly StatusReport[];
  /** What could not be looked at, in words. */
  readonly hints: readonly string[];
}

/**
 * Adds to each report who uses its Secret. One list for each kind in each namespace, however many Secrets there are in it,
 * and of those metadata alone; where only one Secret of a namespace is wanted, the others are not asked for.
 */
export async function withConsumers(
  kube: Kube,
  reports: readonly StatusReport[],
  now: number,
): Promise<ReportsWithConsumers> {
  const places = new Map<string, Surroundings>();
  const wanted = Map.groupBy(
    reports.flatMap(({ secret }) => (secret === undefined ? [] : [addressOf(secret)])),
    ({ namespace }) => namespace,
  );
  for (const [namespace, addresses] of wanted) {
    places.set(namespace, await lookAt(kube, namespace, new Set(addresses.map(({ name }) => name))));
  }
  const hints = [...places].flatMap(([namespace, { unseen }]) => {
    const what = [...new Set(unseen.map((one) => one.what))];
    if (what.length === 0) return [];
    return [
      `who uses the Secrets of ${namespace} is not shown whole: you may not list ${what.sort().join(", ")} there`,
    ];
  });
  return { reports: reports.map((report) => withOwn(report, places, now)), hints };
}

async function lookAt(kube: Kube, namespace: string, names: ReadonlySet<string>): Promise<Surroundings> {
  const unseen: Unseen[] = [];
  const [only] = names.size === 1 ? names : [];
  const selection = {
    namespace,
    labelSelector: PUBLISHED_SELECTOR,
    metadataOnly: true,
    ...(only !== undefined && { fieldSelector: `metadata.name=${only}` }),
  };
  const [around, secrets, derived] = await Promise.all([
    lookAround(kube, namespace),
    listSeen(kube, secretType, selection, unseen),
    listDerived(kube, namespace, unseen),
  ]);
  return {
    around,
    secrets: new Map(secrets.map((secret) => [secret.metadata.name, secret])),
    derived,
    unseen: [...unseen, ...around.unseen],
  };
}

function withOwn(report: StatusReport, places: ReadonlyMap<string, Surroundings>, now: number): StatusReport {
  if (report.secret === undefined) return report;
  const { namespace, name } = addressOf(report.secret);
  const place = places.get(namespace);
  if (!place) return report;
  const object = place.secrets.get(name);
  const view = viewOf(`secret/${name}`, object, now);
  const consumers = allConsumersOf({ view, object, derived: place.derived }, place.around, now);
  return { ...report, consumers, problems: [...report.problems, ...deletedKeyProblems(report.resource, consumers)] };
}

/** As `keyOf` has written it. */
function addressOf(secret: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = secret.split("/");
  return { namespace, name };
}
