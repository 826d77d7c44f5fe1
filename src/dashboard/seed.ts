import { parseInstant } from "../base/instant.ts";
import { OWN_GROUP } from "../base/own-names.ts";
import type { Reason } from "../engine/model.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { apiVersionOf, type KubeObject, type ObjectMeta } from "../kube/objects.ts";
import { ANNOTATIONS, FINALIZER, type ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { type Fields, fieldsOf, itemsOf } from "../reconcile/managed/read-fields.ts";
import { shortText, wholeText } from "./short-text.ts";

/**
 * What is kept of a resource, as one text: enough for rows, bars and futures, a fraction of what the object takes. Ten
 * thousand of them are to cost little beside an operator's own caches, and a text is the smallest thing there is to keep.
 * Must not: keep parameters, which may hold secrets, or be shown to anybody.
 */
const MAX_SEED_CHARACTERS = 8192;

/** More retired keys than these are counted, not kept. */
export const MAX_SEED_KEYS = 20;

const MAX_CONDITION_MESSAGE = 1000;
/** What is worth a word only when it says that something is wrong. */
const isComplaint = ({ type, status }: Fields): boolean =>
  (type === "Synced" && status === "False") || (type === "RotationIneffective" && status === "True");

/** Undefined where that is too much to keep. */
export function seedOf(kind: ManagedKind, object: KubeObject): string | undefined {
  const { metadata } = object;
  const trimmed = {
    metadata: trimmedMetadata(kind, metadata),
    spec: trimmedSpec(fieldsOf(object.spec)),
    ...(object.status !== undefined && { status: trimmedStatus(fieldsOf(object.status)) }),
  };
  const text = shortText(JSON.stringify(trimmed));
  return text.length > MAX_SEED_CHARACTERS ? undefined : text;
}

export function resourceOfSeed(kind: ManagedKind, seed: string): ManagedResource {
  const { metadata, spec, status } = JSON.parse(wholeText(seed)) as KubeObject;
  const object = { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, metadata, spec };
  return managedResource(kind, status === undefined ? object : { ...object, status: grown(fieldsOf(status)) });
}

function trimmedMetadata({ forceAnnotation }: ManagedKind, metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const read = new Set<string>([...Object.values(ANNOTATIONS), forceAnnotation]);
  const annotations = only(metadata.annotations, (key) => read.has(key) || isOurs(key));
  const labels = only(metadata.labels, isOurs);
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(metadata.finalizers?.includes(FINALIZER) && { finalizers: [FINALIZER] }),
    ...(ownerReferences && { ownerReferences }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}

const isOurs = (key: string): boolean => key.startsWith(`${OWN_GROUP}/`);

function only(
  texts: Readonly<Record<string, string>> | undefined,
  isMeant: (key: string) => boolean,
): Readonly<Record<string, string>> | undefined {
  const kept = Object.entries(texts ?? {}).filter(([key]) => isMeant(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function trimmedSpec(spec: Fields): Fields {
  if (spec.forProvider === undefined) return spec;
  const { parameters: _, ...forProvider } = fieldsOf(spec.forProvider);
  return { ...spec, forProvider };
}

function trimmedStatus(status: Fields): Fields {
  const { atProvider, sequence, pending, retiredKeys, lastForced, postponedUntil } = status;
  // The list of children says nothing that the keys do not.
  const { children: _, ...inside } = fieldsOf(atProvider);
  const kept = {
    ...(atProvider !== undefined && {
      atProvider: { ...inside, ...(inside.retiredKeys !== undefined && { retiredKeys: newest(inside.retiredKeys) }) },
    }),
    ...(retiredKeys !== undefined && { retiredKeys: newest(retiredKeys) }),
  };
  const ids = new Set(
    [inside, ...itemsOf(kept.retiredKeys), ...itemsOf(fieldsOf(kept.atProvider).retiredKeys)].flatMap(idsIn),
  );
  // When a key was begun is told of those that are there; of others, what did not simply come with time, or took long.
  const history = itemsOf(status.history).flatMap((entry) => told(entry, ids.has(entry.keyId)));
  const conditions = itemsOf(status.conditions).filter(isComplaint);
  return {
    ...kept,
    sequence,
    pending,
    lastForced,
    postponedUntil,
    ...(history.length > 0 && { history }),
    ...(conditions.length > 0 && { conditions: conditions.map(shortCondition) }),
  };
}

/** A rotation that has succeeded, in short: where nothing else is said, it came with time and was quick. */
type Told = readonly [keyId: unknown, endedAt: unknown, startedAt?: unknown, reason?: unknown];

const ORDINARY: Reason = "RotationDue";

/** One that took longer may have begun much earlier than it ended, and only then is that worth its room. */
const QUICK_MS = 60_000;

function told(entry: Fields, isThere: boolean): readonly (Fields | Told)[] {
  const { keyId, startedAt, endedAt, reason, outcome } = entry;
  if (outcome !== "Succeeded") return isThere || outcome === "Ineffective" ? [entry] : [];
  const tookMs = (parseInstant(endedAt) ?? 0) - (parseInstant(startedAt) ?? 0);
  if (isThere || tookMs > QUICK_MS) return [[keyId, endedAt, startedAt, reason]];
  return [reason === ORDINARY ? [keyId, endedAt] : [keyId, endedAt, null, reason]];
}

/** With every rotation as a status has it. */
function grown({ history, ...status }: Fields): Fields {
  if (!Array.isArray(history)) return status;
  const entries = (history as readonly (Fields | Told)[]).map((entry) => {
    if (!Array.isArray(entry)) return entry;
    const [keyId, endedAt, startedAt, reason = entry.length === 2 ? ORDINARY : undefined] = entry as Told;
    return { keyId, startedAt: startedAt ?? endedAt, endedAt, reason, outcome: "Succeeded" };
  });
  return { ...status, history: entries };
}

/** Under whatever name a kind has it. */
const idsIn = (key: Fields): readonly unknown[] => [key.id, key.guid, key.uid].filter((id) => id !== undefined);

/** The latest are the last. */
const newest = (keys: unknown, most = MAX_SEED_KEYS): readonly Fields[] => itemsOf(keys).slice(-most);

/** The same object with no more retired keys than that, wherever its kind has them: nobody draws or explains thousands. */
export function withNewestKeys(object: KubeObject, most: number): KubeObject {
  const status = fieldsOf(object.status);
  const atProvider = fieldsOf(status.atProvider);
  if (Math.max(itemsOf(status.retiredKeys).length, itemsOf(atProvider.retiredKeys).length) <= most) return object;
  return {
    ...object,
    status: {
      ...status,
      ...(status.retiredKeys !== undefined && { retiredKeys: newest(status.retiredKeys, most) }),
      ...(atProvider.retiredKeys !== undefined && {
        atProvider: { ...atProvider, retiredKeys: newest(atProvider.retiredKeys, most) },
      }),
    },
  };
}

function shortCondition({ type, status, reason, message, lastTransitionTime }: Fields): Fields {
  const text = typeof message === "string" ? message.slice(0, MAX_CONDITION_MESSAGE) : message;
  return { type, status, reason, message: text, lastTransitionTime };
}
