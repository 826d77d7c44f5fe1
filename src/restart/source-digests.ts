import { parseInstant } from "../base/instant.ts";
import { ownName } from "../base/own-names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";
import type { Fingerprinter } from "../publish/fingerprint.ts";
import { lastWrittenAt } from "./managed-fields.ts";
import { ABSENT, type SourceId, type Use } from "./model.ts";

/**
 * What is kept of sources instead of their values: keyed digests, of which others than the key's holder learn only
 * whether a source of that very name changed. Two forms, each with the id of the key:
 * `a.KEYID.DIGEST` of everything, where an added or removed key is a change;
 * `t.KEYID.TAGS` of chosen parts, a tag of fixed length for each, sorted: a change is another value of a part that was
 * there before, or that pods were without. Must not: let a value out.
 */
export interface DigestScope {
  readonly fingerprinter: Fingerprinter;
  readonly namespace: string;
  readonly source: SourceId;
}

/** Of one version of a Secret or ConfigMap; the digest for any choice of keys is made from it. */
export interface SourceDigests {
  readonly keyId: string;
  readonly all: string;
  /** By key. */
  readonly tags: ReadonlyMap<string, string>;
  /** What the tag of a key begins with, whether it is there or not. */
  readonly idOf: (key: string) => string;
}

/** The bytes of a source, as `dataOf` reads them. */
export type SourceData = ReadonlyMap<string, Uint8Array>;

const ID_LENGTH = 6;
const VALUE_LENGTH = 10;
const TAG_LENGTH = ID_LENGTH + VALUE_LENGTH;
const ALL_LENGTH = 22;
/** Instead of the value of a key that is used and not there: one that pods start without, and one that they need. */
const DISPENSED = "-".repeat(VALUE_LENGTH);
const NEEDED = "_".repeat(VALUE_LENGTH);

const isMissing = (value: string): boolean => value === DISPENSED || value === NEEDED;

export function digestsOf({ data, ...scope }: DigestScope & { readonly data: SourceData }): SourceDigests {
  const entries = [...data].sort(([a], [b]) => (a < b ? -1 : 1));
  const all = hashOf(scope, "all", entries.flat()).slice(0, ALL_LENGTH);
  const tags = new Map(entries.map(([key, value]) => [key, tagOf(scope, key, value)]));
  return { keyId: scope.fingerprinter.keyId, all, tags, idOf: (key) => idOf(scope, key) };
}

/** How much of a source is used; `keys` undefined: all of it. */
export type UsedKeys = Pick<Use, "keys" | "optionalKeys">;

/** The digest of what is used of a source. */
export function digestFor(digests: SourceDigests, { keys, optionalKeys = [] }: UsedKeys): string {
  const { keyId, all, tags } = digests;
  if (keys === undefined) return `a.${keyId}.${all}`;
  const missing = (key: string): string => digests.idOf(key) + (optionalKeys.includes(key) ? DISPENSED : NEEDED);
  return tagged(
    keyId,
    keys.map((key) => tags.get(key) ?? missing(key)),
  );
}

export const digestOf = ({
  keys,
  optionalKeys,
  ...source
}: DigestScope & UsedKeys & { readonly data: SourceData }): string =>
  digestFor(digestsOf(source), { keys, ...(optionalKeys && { optionalKeys }) });

/** An object that the Secrets Store driver has mounted. */
export interface MountedObject {
  readonly id: string;
  readonly version: string;
}

/** Of a class, by what the driver has mounted of it. */
export const classDigest = ({
  objects,
  ...scope
}: DigestScope & { readonly objects: readonly MountedObject[] }): string =>
  tagged(
    scope.fingerprinter.keyId,
    objects.map(({ id, version }) => tagOf(scope, id, version)),
  );

const tagged = (keyId: string, tags: readonly string[]): string => `t.${keyId}.${[...new Set(tags)].sort().join("")}`;

const tagOf = (scope: DigestScope, id: string, value: string | Uint8Array): string =>
  idOf(scope, id) + hashOf(scope, "value", [id, value]).slice(0, VALUE_LENGTH);

const idOf = (scope: DigestScope, id: string): string => hashOf(scope, "id", [id]).slice(0, ID_LENGTH);

const hashOf = (
  { fingerprinter, namespace, source }: DigestScope,
  what: string,
  parts: readonly (string | Uint8Array)[],
): string => fingerprinter.ofParts(["restart", what, namespace, source, ...parts]);

/** What has become of a source that was `known`. Unknown: the two cannot be compared, or differ in what they cover. */
export function compareDigests(known: string, now: string): "same" | "changed" | "unknown" {
  const runs = runningOn(known, now);
  if (runs === known) return "same";
  const values = valuesOf(runs);
  if (known === ABSENT) return !isTagged(runs) || [...values.values()].some(isThere) ? "changed" : "unknown";
  if (!isOfOneKind(known, runs)) return "unknown";
  if (!isTagged(known)) return "changed";
  const isChanged = ([id, value]: readonly [string, string]): boolean => {
    const next = values.get(id) ?? value;
    // Pods that need a key have started since it was missing, so they have it.
    return next !== value && value !== NEEDED && isThere(next);
  };
  return [...valuesOf(known)].some(isChanged) ? "changed" : "unknown";
}

const isThere = (value: string): boolean => !isMissing(value);

/**
 * What pods run on that have not started since a source was `known`: that a key goes changes nothing for them, so that
 * what it was stays known until it comes again.
 */
export function runningOn(known: string, now: string): string {
  if (!isTagged(known) || !isOfOneKind(known, now)) return now;
  const before = valuesOf(known);
  const kept = Array.from(valuesOf(now), ([id, value]) => {
    const former = before.get(id);
    return id + (isMissing(value) && former !== undefined && !isMissing(former) ? former : value);
  });
  return tagged(keyIdIn(now), kept);
}

const keyIdIn = (digest: string): string => digest.split(".")[1] ?? "";

/** Of the same form, and under the same key. */
const isOfOneKind = (one: string, other: string): boolean =>
  isTagged(one) === isTagged(other) && one !== ABSENT && other !== ABSENT && keyIdIn(one) === keyIdIn(other);

const isTagged = (digest: string): boolean => digest.startsWith("t.");

/** Whether two digests were made with different keys: nothing can be said of them together. */
export const isUnderOtherKey = (known: string, now: string): boolean =>
  known !== ABSENT && now !== ABSENT && keyIdIn(known) !== keyIdIn(now);

/** By id; parts that share an id by chance stand together, in their order. */
function valuesOf(digest: string): ReadonlyMap<string, string> {
  const tags = isTagged(digest) ? (digest.split(".")[2] ?? "") : "";
  const values = new Map<string, string>();
  for (let at = 0; at < tags.length; at += TAG_LENGTH) {
    const id = tags.slice(at, at + ID_LENGTH);
    values.set(id, (values.get(id) ?? "") + tags.slice(at + ID_LENGTH, at + TAG_LENGTH));
  }
  return values;
}

/** Whether it was made of everything that is in a source, with this very key. */
export const isWholeDigest = (digest: string, { keyId }: Pick<Fingerprinter, "keyId">): boolean =>
  digest.startsWith(`a.${keyId}.`);

/** Whether it can be a digest at all: state is text that anybody may have edited. */
export const isDigest = (text: string): boolean =>
  text === ABSENT || /^(?:a\.[0-9a-f]{1,16}\.[-\w]{22}|t\.[0-9a-f]{1,16}\.(?:[-\w]{16})*)$/.test(text);

const DATA_FIELDS = ["data", "binaryData", "stringData"];

/** What a Secret or a ConfigMap holds, as the bytes that a pod sees. */
export function dataOf(object: KubeObject): SourceData {
  const encoding = object.kind === "Secret" ? "base64" : "utf8";
  return new Map([...bytesIn(object.data, encoding), ...bytesIn(object.binaryData, "base64")]);
}

const bytesIn = (field: unknown, encoding: "base64" | "utf8"): readonly [string, Uint8Array][] =>
  Object.entries(recordOf(field)).flatMap(([key, value]) =>
    typeof value === "string" ? [[key, Buffer.from(value, encoding)]] : [],
  );

const PUBLISHED_AT = ownName("published-at");

/** When the data of a Secret or ConfigMap came to be what it is; a date of the future counts as now. */
export function publishedAtOf(object: KubeObject, now: number): number {
  const { metadata } = object;
  const writtenAt = lastWrittenAt(object, DATA_FIELDS);
  const saidAt = parseInstant(metadata.annotations?.[PUBLISHED_AT]);
  const at = Math.max(writtenAt ?? parseInstant(metadata.creationTimestamp) ?? 0, saidAt ?? 0);
  return Math.min(at, now);
}

/** When the driver last wrote what it has mounted into a pod status. */
export const statusWrittenAt = (podStatus: KubeObject): number | undefined => lastWrittenAt(podStatus, ["status"]);
