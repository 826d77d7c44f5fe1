import { isDeepStrictEqual } from "node:util";
import { parseInstant } from "../base/instant.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { fieldsOf, textOf } from "../reconcile/managed/read-fields.ts";
import type { LiveKey } from "./families/family.ts";
import { type Bench, type Books, Judge } from "./judge.ts";
import type { Call, Doer } from "./process.ts";
import { EXTERNAL_NAME, RESOURCE, SECRET } from "./scene.ts";
import { keyIdIn, type Subject, type Truth, truthOf } from "./truth.ts";
import type { World } from "./world.ts";

/**
 * A kind, the keys that its resources have, and a judge for both. Parents have children for keys, and children have keys at
 * the external system: two levels, which are judged by the same rules.
 */
export interface Level {
  readonly kind: ManagedKind;
  readonly judge: Judge;
  /** The resources that are reconciled. */
  names(): readonly string[];
  truth(): Truth;
  /** What the keys of a resource are of, by its spec. */
  instanceOf(object: KubeObject): string | undefined;
  /** Whether a Secret that works is the one that this key gives now. */
  holds(secret: KubeObject, id: string): boolean;
  /** What else is wrong with the keys of a resource at rest. */
  flawsOf(subject: Subject): readonly string[];
  /** Somebody takes a key away, without a request of ours. */
  take(id: string): Promise<void>;
}

/** The level that the stories are about comes first. */
export function levelsOf(
  world: World,
  managed: ManagedKind,
  books: readonly Books[] = [],
): readonly [Level, ...Level[]] {
  const [first, second] = books;
  const isOfParents = world.kind.type.kind !== managed.type.kind;
  return isOfParents
    ? [parentLevel(world, managed, first), keyLevel(world, managed, second)]
    : [keyLevel(world, managed, first)];
}

/** Only one of the resources that stories are about is laid hands on. */
const touchable = (owner: string): string | undefined =>
  owner === RESOURCE ? `${SECRET.namespace}/${SECRET.name}` : undefined;

const KEY_PATH = /\/service_(?:credential_)?bindings\/([^/?]+)(?:\?.*)?$/;

/** Resources whose keys are at the external system. */
function keyLevel(world: World, kind: ManagedKind, books: Books | undefined): Level {
  const { outside, family } = world;
  const isOfStories = world.kind.type.kind === kind.type.kind;
  const truth = (): Truth => truthIn(world, kind, outside.liveKeys());
  const bench: Bench = {
    kind: kind.type.kind,
    truth,
    keyOf: ({ port, target }) => (port === "http" ? KEY_PATH.exec(target)?.[1] : undefined),
    hasUniqueNames: family.hasUniqueNames,
    touchable: isOfStories ? touchable : (child) => `${SECRET.namespace}/${child}`,
  };
  return {
    kind,
    judge: new Judge(world, bench, books),
    names: () => (isOfStories ? world.names : world.stored(kind.type).map(({ metadata }) => metadata.name)),
    truth,
    instanceOf: ({ spec }) => textOf(fieldsOf(fieldsOf(spec).forProvider)[family.fields.instance]),
    holds: () => true,
    flawsOf: () => [],
    take: async (id) => outside.removeKey(id),
  };
}

/** Resources whose keys are other resources. */
function parentLevel(world: World, child: ManagedKind, books: Books | undefined): Level {
  const { kind } = world;
  const children = (): readonly LiveKey[] => world.stored(child.type).map((object) => liveChild(world, child, object));
  const truth = (): Truth => truthIn(world, kind, children());
  const nameOf = (id: string): string | undefined => children().find((one) => one.id === id)?.name;
  const keyOf = ({ port, verb, target }: Call, { live }: Truth): string | undefined => {
    const [what, name] = target.split(" ");
    const isOfChild = port === "kube" && what === child.type.kind && (verb === "delete" || verb === "patch");
    return isOfChild ? [...live.values()].find((one) => one.name === name)?.id : undefined;
  };
  const isBad = (id: string, doer: Doer): boolean => {
    const name = nameOf(id) ?? "";
    return world.unwellSince(name) < (doer.readAt.get(`${child.type.kind} ${name}`) ?? -1);
  };
  return {
    kind,
    judge: new Judge(world, { kind: kind.type.kind, truth, keyOf, touchable, hasUniqueNames: true, isBad }, books),
    names: () => world.names,
    truth,
    instanceOf: () => undefined,
    holds: ({ data }, id) => {
      const source = world.storedSecret(`${SECRET.namespace}/${nameOf(id)}`);
      return isDeepStrictEqual(source?.data, data);
    },
    flawsOf: ({ object }) =>
      world
        .stored(child.type)
        .filter(({ metadata }) => metadata.annotations?.["keyturn.dev/parent-name"] === object.metadata.name)
        .filter(({ metadata }) => !metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
        .map(({ metadata }) => `S4 nothing but its marks ties ${metadata.name} to its parent`),
    take: async (id) => {
      const name = nameOf(id);
      if (name !== undefined) await world.kube.delete(child.type, { name });
    },
  };
}

const truthIn = (world: World, kind: ManagedKind, keys: readonly LiveKey[]): Truth =>
  truthOf({ kind, resources: world.stored(kind.type), secrets: world.storedSecrets(), keys });

/** A child as the key that it is to its parent: it works as long as what it publishes does. */
function liveChild(world: World, kind: ManagedKind, child: KubeObject): LiveKey {
  const { metadata } = child;
  const { uid = "", name, labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = metadata;
  const { active } = kind.readState(child);
  const credentialsWork = deletionTimestamp === undefined && gives(world, kind, child);
  return {
    id: uid,
    name,
    instanceId: "",
    createdAt: active?.createdAt ?? parseInstant(creationTimestamp) ?? 0,
    isReady: credentialsWork,
    credentialsWork,
    cluster: labels["keyturn.dev/cluster"],
    holder: annotations["keyturn.dev/parent-name"],
    sequence: Number(labels["keyturn.dev/sequence"] ?? 0),
  };
}

/** What a child publishes works; one that publishes nothing has a key that does. */
function gives(world: World, kind: ManagedKind, child: KubeObject): boolean {
  const secret = world.storedSecret(`${SECRET.namespace}/${child.metadata.name}`);
  if (fieldsOf(child.spec).writeConnectionSecretToRef) return secret !== undefined && world.works(secret);
  const { active } = kind.readState(child);
  return world.outside.liveKeys().some(({ id, credentialsWork }) => id === active?.id && credentialsWork);
}

/** Whether what a child publishes may be used, by what it says of itself and by what its Secret says. */
export function isWell(child: KubeObject, secret: KubeObject | undefined): boolean {
  const { conditions = [] } = (child.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const isTrue = (type: string): boolean => conditions.some((one) => one.type === type && one.status === "True");
  const isSame = secret !== undefined && keyIdIn(secret) === child.metadata.annotations?.[EXTERNAL_NAME];
  return isTrue("Ready") && isTrue("Synced") && child.metadata.deletionTimestamp === undefined && isSame;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}
