import { isDeepStrictEqual } from "node:util";
import { parseInstant } from "../base/instant.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { fieldsOf, textOf } from "../reconcile/managed/read-fields.ts";
import { readingOnce } from "./assembly.ts";
import type { Books } from "./books.ts";
import type { Children, LiveKey } from "./families/family.ts";
import { type Bench, Judge } from "./judge.ts";
import { nameIn, refOf, targetOf } from "./places.ts";
import type { Call, Doer } from "./process.ts";
import { RESOURCE, SECRET } from "./scene.ts";
import { type Subject, type Truth, truthOf } from "./truth.ts";
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

/** The level that the stories are about comes first. Children that are not ours are nobody's level: others answer for them. */
export function levelsOf(world: World, books: readonly Books[] = []): readonly [Level, ...Level[]] {
  const { holders, parents } = world.family;
  const keyKind = holders && readingOnce(holders.create().kind);
  const [first, second] = books;
  if (parents) {
    const below = keyKind ? [keyLevel(world, keyKind, second)] : [];
    return [parentLevel(world, parents.children, first), ...below];
  }
  if (!keyKind) throw new RangeError(`the keys of ${world.family.name} are nowhere`);
  return [keyLevel(world, keyKind, first)];
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
    targetOf: (name) => targetOf(kind.type, name),
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
    instanceOf: ({ spec }) => textOf(fieldsOf(fieldsOf(spec).forProvider)[family.holders?.instance ?? ""]),
    holds: () => true,
    flawsOf: () => [],
    take: async (id) => outside.removeKey(id),
  };
}

/** Resources whose keys are other resources. */
function parentLevel(world: World, family: Children, books: Books | undefined): Level {
  const { kind } = world;
  const { type } = family;
  const children = (): readonly LiveKey[] => world.stored(type).map((object) => liveChild(world, family, object));
  const truth = (): Truth => truthIn(world, kind, children());
  const nameOf = (id: string): string | undefined => children().find((one) => one.id === id)?.name;
  const keyOf = ({ port, verb, target }: Call, { live }: Truth): string | undefined => {
    const [what, address = ""] = target.split(" ");
    const isOfChild = port === "kube" && what === type.kind && (verb === "delete" || verb === "patch");
    return isOfChild ? [...live.values()].find((one) => one.name === nameIn(address))?.id : undefined;
  };
  const isBad = (id: string, doer: Doer): boolean => {
    const name = nameOf(id) ?? "";
    return world.unwellSince(name) < (doer.readAt.get(targetOf(type, name)) ?? -1);
  };
  const bench: Bench = {
    kind: kind.type.kind,
    targetOf: (name) => targetOf(kind.type, name),
    truth,
    keyOf,
    touchable,
    hasUniqueNames: true,
    isBad,
  };
  const level: Level = {
    kind,
    judge: new Judge(world, bench, books),
    names: () => world.names,
    truth,
    instanceOf: () => undefined,
    holds: ({ data }, id) => {
      const source = world.storedSecret(family.secretOf(nameOf(id) ?? ""));
      return isDeepStrictEqual(source?.data, data);
    },
    flawsOf: ({ object }) =>
      world
        .stored(type)
        .filter(({ metadata }) => metadata.annotations?.["keyturn.dev/parent-name"] === object.metadata.name)
        .filter(({ metadata }) => !level.judge.isForeign(metadata.uid ?? ""))
        .filter(({ metadata }) => !metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
        .map(({ metadata }) => `S4 nothing but its marks ties ${metadata.name} to its parent`),
    take: async (id) => {
      const name = nameOf(id);
      if (name !== undefined) await world.kube.delete(type, refOf(type, name));
    },
  };
  return level;
}

const truthIn = (world: World, kind: ManagedKind, keys: readonly LiveKey[]): Truth =>
  truthOf({ kind, resources: world.stored(kind.type), secrets: world.storedSecrets(), keys });

/** A child as the key that it is to its parent: it works as long as what it publishes does. */
function liveChild(world: World, children: Children, child: KubeObject): LiveKey {
  const { metadata } = child;
  const { uid = "", name, labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = metadata;
  const credentialsWork = deletionTimestamp === undefined && gives(world, children, child);
  return {
    id: uid,
    name,
    instanceId: "",
    createdAt: children.createdAt?.(child) ?? parseInstant(creationTimestamp) ?? 0,
    isReady: credentialsWork,
    credentialsWork,
    cluster: labels["keyturn.dev/cluster"],
    holder: annotations["keyturn.dev/parent-name"],
    sequence: Number(labels["keyturn.dev/sequence"] ?? 0),
  };
}

/** What a child publishes works; one that publishes nothing has a key that does. */
function gives(world: World, children: Children, child: KubeObject): boolean {
  const silent = children.silentKeyOf?.(child);
  if (silent !== undefined)
    return world.outside.liveKeys().some(({ id, credentialsWork }) => id === silent && credentialsWork);
  const secret = world.storedSecret(children.secretOf(child.metadata.name));
  return secret !== undefined && world.works(secret);
}
