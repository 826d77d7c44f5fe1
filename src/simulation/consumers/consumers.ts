import { parseInstant } from "../../base/instant.ts";
import { readDerivedFrom } from "../../korifi/derived-from.ts";
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { deploymentType, podType, replicaSetType } from "../../restart/workload-kinds.ts";
import { RESOURCE, SECRET } from "../scene.ts";
import { keyIdIn } from "../truth.ts";
import type { World } from "../world.ts";

/** Who uses the Secret of a resource: a workload with its pods, and pods that stand alone. Must not: ask production code. */
export const OPT_IN = "keyturn.dev/restartOnChange";
/** The workload whose pods use the Secret. */
export const SHOP = { namespace: SECRET.namespace, name: "shop" } as const;
const OTHER_SECRET = "another-secret";
/** A Secret that is made from that of the resource. */
const DERIVED_SECRET = "derived-secret";
const DERIVED_FROM = "keyturn.dev/derived-from";
/** On a pod: the key that it was started with. */
const RUNS_ON = "runs-on";
/** On a pod: the Secret that it uses. */
const USES = "uses";

export interface Consumers {
  /** What the annotation says, on the workload; undefined: nothing. */
  readonly workload?: "true" | "false" | undefined;
  /** The same on the pods themselves. */
  readonly pods?: "true" | "delete" | undefined;
  /** Nobody makes the pods again. */
  readonly areBare?: true;
  /** They use what is made from the Secret. */
  readonly isThrough?: true;
}

const container = { name: "main", image: "shop:1" };
const specOf = (secretName: string): object => ({
  nodeName: "node-1",
  containers: [container],
  volumes: [{ name: "credentials", secret: { secretName } }],
});

const annotated = (value: string | undefined): object =>
  value === undefined ? {} : { annotations: { [OPT_IN]: value } };

/** Two pods that run on what is published now. */
export async function addConsumers(world: World, { workload, pods, areBare, isThrough }: Consumers): Promise<void> {
  if (areBare) {
    await addPods(world, 2, { annotation: pods, owner: undefined });
    return;
  }
  if (isThrough) await makeDerived(world);
  const deployment = await addWorkload(world, deploymentType, { ...SHOP, ...annotated(workload) });
  const ownerReferences = [ownerOf(deployment)];
  const set = await addWorkload(world, replicaSetType, { ...SHOP, name: "shop-1", ownerReferences });
  const uses = isThrough && DERIVED_SECRET;
  await addPods(world, 2, { annotation: pods, owner: ownerOf(set), ...(uses && { uses }) });
}

const derivedIn = (world: World): KubeObject | undefined => world.storedSecret(`${SECRET.namespace}/${DERIVED_SECRET}`);

/** Of what is published now; it is another one each time. */
async function makeDerived(world: World): Promise<void> {
  const name = targetIn(world);
  const keyId = keyFrom(world, name);
  if (keyId === undefined) return;
  const data = { made: Buffer.from(`of ${keyId} at ${world.stepCount}`).toString("base64") };
  const metadata = {
    ...SHOP,
    name: DERIVED_SECRET,
    labels: { "keyturn.dev/derived": "true" },
    annotations: { [DERIVED_FROM]: `${name}@${keyId}` },
  };
  // In a scene that was set nobody keeps account of when something was written; of something new, it is kept.
  if (derivedIn(world)) await world.kube.delete(secretType, metadata);
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data };
  await world.kube.create(secretType, secret, { fieldManager: "deriver" });
}

/** It is made anew, if there is one. */
export async function derive(world: World): Promise<void> {
  if (isDerived(world)) await makeDerived(world);
}

export const isDerived = (world: World): boolean => derivedIn(world) !== undefined;

const addWorkload = (world: World, type: ResourceType, metadata: KubeObject["metadata"]): Promise<KubeObject> =>
  world.kube.create<KubeObject>(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata,
    spec: {
      selector: { matchLabels: { app: SHOP.name } },
      template: { metadata: { labels: { app: SHOP.name } }, spec: { containers: [container] } },
    },
  });

const ownerOf = ({ kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion: "apps/v1",
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
});

interface PodWish {
  readonly annotation: string | undefined;
  readonly owner: OwnerReference | undefined;
  /** The Secret that they use, where it is not that of the resource. */
  readonly uses?: string;
}

/** The key that whoever starts with a Secret runs on. */
function keyFrom(world: World, secretName: string): string | undefined {
  const secret = world.storedSecret(`${SECRET.namespace}/${secretName}`);
  if (secretName === DERIVED_SECRET) return secret?.metadata.annotations?.[DERIVED_FROM]?.split("@")[1];
  return secret && keyIdIn(secret);
}

async function addPods(world: World, count: number, { annotation, owner, uses }: PodWish): Promise<void> {
  const secretName = uses ?? targetIn(world);
  const keyId = keyFrom(world, secretName);
  const taken = new Set(podsOf(world).map(({ metadata }) => metadata.name));
  for (let number = 1, made = 0; made < count; number++) {
    const name = `${SHOP.name}-1-${number}`;
    if (taken.has(name)) continue;
    made++;
    await world.kube.create<KubeObject>(podType, {
      apiVersion: "v1",
      kind: podType.kind,
      metadata: {
        namespace: SHOP.namespace,
        name,
        labels: { app: SHOP.name, [USES]: secretName, ...(keyId !== undefined && { [RUNS_ON]: keyId }) },
        ...annotated(annotation),
        ...(owner && { ownerReferences: [owner] }),
      },
      spec: specOf(secretName),
    });
  }
}

export const podsOf = (world: World): readonly KubeObject[] => world.stored(podType);

/** At once, whatever becomes of them otherwise. */
export async function removePods(world: World): Promise<void> {
  for (const { metadata } of podsOf(world))
    await world.kube.delete(podType, { ...SHOP, name: metadata.name }, { gracePeriodSeconds: 0 });
}

/** Others take their places, on what is there now. */
export async function replacePods(world: World, isElsewhere = false): Promise<void> {
  const pods = podsOf(world);
  const [first] = pods;
  if (!first) return;
  const { annotations, ownerReferences } = first.metadata;
  await removePods(world);
  const used = isElsewhere ? OTHER_SECRET : first.metadata.labels?.[USES] === DERIVED_SECRET && DERIVED_SECRET;
  const wish = { annotation: annotations?.[OPT_IN], owner: ownerReferences?.[0], ...(used && { uses: used }) };
  await addPods(world, pods.length, wish);
}

/** Pods that are waited for: they have not ended, and they, or what makes them, have opted in. */
function waitedFor(world: World): readonly KubeObject[] {
  const shop = world.stored(deploymentType).find(({ metadata }) => metadata.name === SHOP.name);
  const isIn = shop?.metadata.annotations?.[OPT_IN] === "true";
  return podsOf(world).filter(({ metadata, status }) => {
    const { phase } = (status ?? {}) as { readonly phase?: string };
    if (phase === "Succeeded" || phase === "Failed") return false;
    const said = metadata.annotations?.[OPT_IN];
    return metadata.ownerReferences ? isIn || said === "true" || said === "delete" : said === "delete";
  });
}

/**
 * Those of them that run on this key. A Secret that was left and is gone tells nobody that it was there; nor does one that
 * was made from it, unless it says that it is made of this very key.
 */
export const usersOf = (world: World, keyId: string): readonly string[] =>
  waitedFor(world)
    .filter(
      ({ metadata }) => metadata.labels?.[RUNS_ON] === keyId && isKnown(world, metadata.labels[USES] ?? "", keyId),
    )
    .map(({ metadata }) => metadata.name);

function isKnown(world: World, secretName: string, keyId: string): boolean {
  if (secretName === targetIn(world)) return true;
  const secret = world.storedSecret(`${SECRET.namespace}/${secretName}`);
  if (secretName !== DERIVED_SECRET) return secret !== undefined;
  const origins = readDerivedFrom(secret?.metadata.annotations?.[DERIVED_FROM] ?? "");
  return Array.from(origins).some(([origin, of]) => of === keyId || isKnown(world, origin, keyId));
}

/** Where the resource publishes its keys now. */
const targetIn = (world: World): string => world.truth().subjects.get(RESOURCE)?.spec?.secret?.name ?? SECRET.name;

/** Dates are whole seconds, by the one clock that there is here, and nobody can tell what came first within one. */
const TOLERANCE_MS = 2_000;

/** Those of whom nobody can tell whether they had moved on from what was replaced then. */
export const suspectsOf = (world: World, replacedAt: number): readonly string[] =>
  waitedFor(world)
    .filter(({ metadata }) => (parseInstant(metadata.creationTimestamp) ?? 0) <= replacedAt + TOLERANCE_MS)
    .filter(({ metadata }) => metadata.labels?.[USES] !== OTHER_SECRET)
    .map(({ metadata }) => metadata.name);
