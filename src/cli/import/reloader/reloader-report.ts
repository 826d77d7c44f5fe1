import { listSeen, type Unseen } from "../../../insight/resources/list-all.ts";
import { Forbidden, NotFound } from "../../../kube/errors.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import { controllerOf, namespaceType } from "../../../reconcile/restart/restart-sources.ts";
import { annotationsOf } from "../../../restart/annotations.ts";
import type { SourceId, SourceKind } from "../../../restart/model.ts";
import { type SourceMarks, sourceMarksOf } from "../../../restart/opt-in.ts";
import { classType, configMapType, jobType, kindOf, workloadKinds } from "../../../restart/workload-kinds.ts";
import { type Candidate, type ReloaderWorkload, readReloaderWorkload } from "./reloader-workload.ts";

/** A Secret, ConfigMap or SecretProviderClass that says something to Reloader. */
export interface MarkedSource extends SourceMarks {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface ReloaderReport {
  readonly workloads: readonly ReloaderWorkload[];
  readonly sources: readonly MarkedSource[];
  readonly unseen: readonly Unseen[];
}

/** Argo's own kind of Deployment, which Reloader restarts too. */
const rolloutType: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "rollouts",
  kind: "Rollout",
  namespaced: true,
};

/** One list for each kind, of one namespace or of all; of what they use metadata alone. */
export async function reportReloader(kube: Kube, namespace: string | undefined): Promise<ReloaderReport> {
  const unseen: Unseen[] = [];
  const within = namespace === undefined ? {} : { namespace };
  const candidates: Candidate[] = [];
  for (const type of [...workloadKinds.map((kind) => kind.type), jobType, rolloutType]) {
    const objects = await listSeen(kube, type, within, unseen);
    candidates.push(...objects.filter((object) => isOnItsOwn(type, object)).map((object) => candidateOf(type, object)));
  }
  const sources = [
    ...(await sourcesOf(kube, secretType, { ...within, fieldSelector: "type!=helm.sh/release.v1" }, unseen)),
    ...(await sourcesOf(kube, configMapType, within, unseen)),
    ...(await sourcesOf(kube, classType, within, unseen)),
  ];
  const byNamespace = Map.groupBy(sources, (source) => source.namespace);
  const workloads = candidates.flatMap((candidate) => {
    const around = byNamespace.get(candidate.object.metadata.namespace ?? "") ?? [];
    return readReloaderWorkload(candidate, new Map(around.map((source) => [idOf(source), source]))) ?? [];
  });
  if (namespace !== undefined && workloads.length === 0 && unseen.length === 0) await mustBeThere(kube, namespace);
  return {
    workloads: workloads.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    sources: sources.filter(({ isMatched, isIgnored }) => isMatched || isIgnored),
    unseen,
  };
}

/** Where nothing is found, the name may be a mistake. Who may not look is told nothing. */
async function mustBeThere(kube: Kube, name: string): Promise<void> {
  try {
    await kube.get(namespaceType, { name }, { metadataOnly: true });
  } catch (error) {
    if (error instanceof NotFound) throw new NotFound(`there is no namespace "${name}"`);
    if (!(error instanceof Forbidden)) throw error;
  }
}

/** The ReplicaSet of a Deployment and the Job of a CronJob bear what their maker bears. */
const isOnItsOwn = ({ kind }: ResourceType, { metadata }: KubeObject): boolean =>
  (kind !== "ReplicaSet" && kind !== "Job") || controllerOf(metadata) === undefined;

const placeOf = ({ kindName, ...ref }: ReloaderWorkload): string => `${keyOf(ref)} ${kindName}`;

const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
  [secretType.kind]: "secret",
  [configMapType.kind]: "configmap",
  [classType.kind]: "class",
};

const idOf = ({ kind, name }: MarkedSource): SourceId => `${SOURCE_KINDS[kind] ?? "secret"}/${name}`;

/** Jobs and Rollouts have their pod template where Deployments have it. */
function candidateOf(type: ResourceType, object: KubeObject): Candidate {
  const { templateOf } = kindOf(type.kind) ?? (workloadKinds[0] as (typeof workloadKinds)[number]);
  return { kindName: type.kind, object, template: templateOf(object) };
}

async function sourcesOf(
  kube: Kube,
  type: ResourceType,
  selection: { readonly namespace?: string; readonly fieldSelector?: string },
  unseen: Unseen[],
): Promise<readonly MarkedSource[]> {
  const objects = await listSeen(kube, type, { ...selection, metadataOnly: true }, unseen);
  return objects.map(({ metadata: { namespace = "", name, annotations } }) => ({
    kind: type.kind,
    namespace,
    name,
    ...sourceMarksOf(annotationsOf(annotations), { reloader: true }),
  }));
}
