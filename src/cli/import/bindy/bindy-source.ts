import { bind9Cluster } from "../../../api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../../api/bind/bind9-instance.ts";
import { BINDY_GROUP } from "../../../api/bind/names.ts";
import { rndcKey as rndcKeyType } from "../../../api/keyturn/rndc-key.ts";
import { Redacted } from "../../../base/redacted.ts";
import { fieldAt } from "../../../bind/fields.ts";
import { wantedInstances } from "../../../bind/instance-names.ts";
import { CONFIG_DIGEST } from "../../../bind/instance-objects.ts";
import { keyFields } from "../../../bind/key-fields.ts";
import { readKeySecret } from "../../../bind/key-secret.ts";
import { ifFound } from "../../../kube/if-found.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../../kube/objects.ts";
import { SecretPublisher, secretType } from "../../../publish/secret-publisher.ts";
import { serviceType } from "../../../reconcile/bind/bind-sources.ts";
import { createRndcKeyKind } from "../../../reconcile/bind/rndc-key-kind.ts";
import { ownerOf } from "../../../reconcile/managed/marks.ts";
import { fieldsOf } from "../../../reconcile/managed/read-fields.ts";
import { configMapType, deploymentType, statefulSetType } from "../../../restart/workload-kinds.ts";
import type { RndcKey } from "../../../rndc/key.ts";
import type { Bench } from "../bench.ts";
import { lookAtDefinition, planDefinition } from "../definition-plan.ts";
import { type Differences, differencesOf, NO_DIFFERENCES, textsIn } from "../differences.ts";
import { lookAtOperator, type OperatorTraces, operatorInTheWay } from "../other-operator.ts";
import { listed, pick } from "../pick.ts";
import { IMPORTING, NOTHING_TO_DO, type Refusal, refusal, together } from "../plan.ts";
import { prepareIdentity } from "../prepare.ts";
import type { ImportSource, ImportWish } from "../source.ts";
import { type BindyFacts, NOTE, type OwnedObject, planBindy } from "./bindy-plan.ts";
import { KEY_NAME, newInstance, rndcKeyFor, theirSecretName } from "./new-instance.ts";

const kind = createRndcKeyKind({ minFrequencyMs: 0 });

const traces: OperatorTraces = {
  title: "Bindy",
  images: /(^|\/)bindy(:|@|$)/,
  names: /^bindy(-operator|-controller)?$/,
  leases: /^bindy-/,
  group: BINDY_GROUP,
};

const serviceAccountType: ResourceType = {
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};

/** What Bindy makes for an instance, beside the Secret. */
const OWNED = [deploymentType, serviceType, configMapType, serviceAccountType];

/** Name servers that Bindy runs, each with its key. */
export const bindy: ImportSource = {
  name: "bindy",
  traces,
  isNamespaced: true,
  prepare: async (bench) => {
    const refusals = operatorInTheWay(traces, await lookAtOperator(bench.kube, bench.now()));
    const definitions = [bind9Instance, rndcKeyType].map(async (resource) =>
      planDefinition(await lookAtDefinition(bench, resource), traces),
    );
    const plans = await Promise.all(definitions);
    return together({ ...NOTHING_TO_DO, refusals }, ...plans, await prepareIdentity(bench));
  },
  find: async (bench, wish) => {
    const refs = await instanceRefs(bench, wish);
    return refs.map(({ namespace, name }) => ({
      title: `Bind9Instance ${namespace}/${name}`,
      look: async () => planBindy(await lookAt(namespace, name, bench), wish),
    }));
  },
  afterwards: [
    "Run the operator (keyturn manifests) with the controllers of BIND and restart: it takes over each key that is there.",
    "Zones and records (DNSZone and the like) are not looked after by Keyturn: those of Bindy stay as they are.",
  ],
};

interface InstanceRef {
  readonly namespace: string;
  readonly name: string;
}

/** Those that there are, and those that were deleted to be made anew, and are not yet. */
async function instanceRefs(bench: Bench, wish: ImportWish): Promise<readonly InstanceRef[]> {
  const within = wish.namespace === undefined ? {} : { namespace: wish.namespace };
  const noted = (await listed(bench, deploymentType, within)).filter(
    ({ metadata }) => metadata.annotations?.[NOTE] !== undefined,
  );
  const isMeant = (name: string): boolean => wish.names?.includes(name) ?? true;
  const between = noted.map(refOf).filter(({ name }) => isMeant(name));
  const names = wish.names?.filter((name) => !between.some((ref) => ref.name === name));
  const there = await pick(bench, bind9Instance, { namespace: wish.namespace, names });
  const all = [...there.map(refOf), ...between].map((ref) => [keyOf(ref), ref] as const);
  return [...new Map(all).values()];
}

const refOf = ({ metadata: { namespace = "", name } }: KubeObject): InstanceRef => ({ namespace, name });

async function lookAt(namespace: string, name: string, bench: Bench): Promise<BindyFacts> {
  const { kube, signal } = bench;
  const get = (type: ResourceType, one: string | undefined): Promise<KubeObject | undefined> =>
    one === undefined ? Promise.resolve(undefined) : ifFound(kube.get(type, { namespace, name: one }, { signal }));
  const [instance, deployment] = [await get(bind9Instance, name), await get(deploymentType, name)];
  const note = noteIn(deployment);
  const cluster = await get(bind9Cluster, clusterNameOf(instance));
  const secretName = note ? theirSecretName({ instance: note }) : instance && theirSecretName({ instance, cluster });
  const secret = await get(secretType, secretName);
  const key = secret && readKey(secret);
  const read = !note && instance ? newInstance({ instance, cluster }, key?.found?.algorithm) : undefined;
  const wanted = note ?? (read?.kind === "wanted" ? read.wanted.instance : undefined);
  const wantedKey = wanted && secretName !== undefined ? rndcKeyFor({ instance: wanted, secretName }) : undefined;
  const rndcKey = await get(rndcKeyType, secretName);
  const isRunByUs = [deployment, await get(statefulSetType, name)].some(hasOurTemplate);
  const bare = secret && (({ data: _, ...rest }) => rest as KubeObject)(secret);
  return {
    ...{ kind, name, instance, isRunByUs, deployment, wanted, wantedKey, rndcKey },
    secret: bare,
    isMarked: secret !== undefined && (await isMarked(secret, rndcKey, bench)),
    differences: key?.differences ?? NO_DIFFERENCES,
    owned: await ownedBy(instance, { namespace, bench }),
    problems: [
      ...(read?.kind === "refused" ? [refusal(read.problem, "leave it to Bindy, or correct it")] : []),
      ...(key?.problem === undefined ? [] : [refusal(key.problem, "have Bindy make another key first")]),
      ...(instance && cluster ? surplus(instance, cluster) : []),
      ...(rndcKey && !note ? strangeKey(rndcKey) : []),
    ],
  };
}

/** Bindy writes no digest of the configuration there. */
const hasOurTemplate = (workload: KubeObject | undefined): boolean =>
  fieldAt(workload, ["spec", "template", "metadata", "annotations", CONFIG_DIGEST]) !== undefined;

const clusterNameOf = (instance: KubeObject | undefined): string | undefined => {
  const name = fieldAt(instance, ["spec", "clusterRef"]);
  return typeof name === "string" && name !== "" ? name : undefined;
};

function noteIn(deployment: KubeObject | undefined): KubeObject | undefined {
  const text = deployment?.metadata.annotations?.[NOTE];
  return text === undefined ? undefined : (JSON.parse(text) as KubeObject);
}

interface KeyInSecret {
  readonly found?: RndcKey;
  readonly problem?: string;
  readonly differences: Differences;
}

function readKey({ data, metadata }: KubeObject): KeyInSecret {
  const values = new Redacted(fieldsOf(data) as Readonly<Record<string, string>>);
  const read = readKeySecret(values);
  const title = `Secret ${metadata.name}`;
  if (read.kind === "damaged") return { problem: `${title} holds no key: ${read.why}`, differences: NO_DIFFERENCES };
  const { key } = read;
  const differences = differencesOf(textsIn(data), { ...textsIn(data), ...keyFields(key).reveal() }, "exact");
  if (key.name === KEY_NAME) return { found: key, differences };
  return { found: key, differences, problem: `the key in ${title} is called otherwise than ${KEY_NAME}` };
}

async function isMarked(secret: KubeObject, rndcKey: KubeObject | undefined, bench: Bench): Promise<boolean> {
  const { fingerprinter } = await bench.identity();
  const isOurs = secret.metadata.ownerReferences?.some(({ uid }) => uid === rndcKey?.metadata.uid);
  if (!fingerprinter || !rndcKey || !isOurs) return false;
  const { namespace = "", name } = secret.metadata;
  const publisher = new SecretPublisher(bench.kube, fingerprinter);
  const content = await publisher.read({ namespace, name }, ownerOf(kind, rndcKey), bench.signal);
  return content?.isSound === true && content.keyId !== undefined;
}

/** Of the kinds that Bindy makes, what goes when this instance goes. */
async function ownedBy(
  instance: KubeObject | undefined,
  { namespace, bench }: { readonly namespace: string; readonly bench: Bench },
): Promise<readonly OwnedObject[]> {
  if (!instance || fieldAt(instance, ["spec", "deploymentRef"]) !== undefined) return [];
  const found: OwnedObject[] = [];
  for (const type of OWNED) {
    const all = await listed(bench, type, { namespace });
    const isOwned = ({ metadata }: KubeObject): boolean =>
      (metadata.ownerReferences ?? []).some(({ uid }) => uid === instance.metadata.uid);
    found.push(...all.filter(isOwned).map((object) => ({ type, object })));
  }
  return found;
}

/** One that the cluster does not want would be deleted by it, and one that it wants beside be made. */
function surplus({ metadata }: KubeObject, cluster: KubeObject): readonly Refusal[] {
  const isMade = metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid);
  const names = wantedInstances(cluster).map(({ name }) => name);
  if (!isMade || names.includes(metadata.name)) return [];
  const problem = `Bind9Cluster ${cluster.metadata.name} would have ${names.join(", ") || "no instances"}, and not this one`;
  return [refusal(problem, "correct its replicas, or take its owner reference off the instance")];
}

const strangeKey = ({ metadata }: KubeObject): readonly Refusal[] =>
  metadata.annotations?.[IMPORTING] === undefined
    ? [refusal(`there is an RndcKey ${metadata.name} already`, "find out whose it is, and rename or delete it")]
    : [];
