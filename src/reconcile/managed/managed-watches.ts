import { createHash } from "node:crypto";
import { rotationInstant } from "../../engine/dates.ts";
import { nextOpening } from "../../engine/windows.ts";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { keyIdOf, ownerUidOf, PUBLISHED_SELECTOR, secretType } from "../../publish/secret-publisher.ts";
import type { Source, Watch } from "../../runtime/controller.ts";
import { ANNOTATIONS, type ManagedKind, type ManagedSpec } from "./managed-kind.ts";
import { fieldsOf, itemsOf } from "./read-fields.ts";

/** The watches that every managed kind has: of the resources themselves, and of the Secrets that are published. */
export interface CredentialRecord {
  readonly providerConfig: string;
  readonly activeSince: number | undefined;
  readonly rotationAt: number;
  /** From when on nothing holds that rotation back: no window, no freeze, no pause. Infinity while something does. */
  readonly dueAt: number;
  readonly retired: number;
  readonly held: number;
  readonly isHealthy: boolean;
  /** Differs when somebody asks for something else. */
  readonly wish: string;
}

export interface PublishedRecord {
  readonly ownerUid: string;
  /** Those that own it, each by kind and name, separated by spaces: mostly one. */
  readonly owners: string;
  readonly keyId: string | undefined;
}

/** What is kept of a managed resource of whatever kind: what metrics tell, and what is asked for. */
export function credentialRecord(kind: ManagedKind, object: KubeObject): CredentialRecord {
  const { active, retired, postponedUntil } = kind.readState(object);
  const spec = specOf(kind, object);
  const rotationAt = active && spec ? rotationInstant(spec.policy, active, postponedUntil) : Infinity;
  return {
    providerConfig: kind.readDeparture(object).providerConfig,
    activeSince: active?.createdAt,
    rotationAt,
    dueAt: spec && !isHeldBack(spec, object) ? openFrom(spec, rotationAt) : Infinity,
    retired: retired.length,
    held: retired.filter(({ heldFor }) => heldFor !== undefined).length,
    isHealthy: ["Ready", "Synced"].every((type) => isTrue(object, type)),
    wish: wishOf(object.metadata),
  };
}

/** By the status alone nobody asks for anything: mostly it is us who wrote it. */
export const isWish = (delta: Delta<CredentialRecord>): boolean =>
  delta.type !== "updated" || delta.old.record.wish !== delta.entry.record.wish;

/** The Secrets of all kinds: there are many of them, and every controller looks at the same ones. */
const published: Source<PublishedRecord> = {
  type: secretType,
  selection: { labelSelector: PUBLISHED_SELECTOR },
  metadataOnly: true,
  record: ({ metadata }) => ({
    ownerUid: ownerUidOf(metadata) ?? "",
    owners: (metadata.ownerReferences ?? []).map(({ kind, name }) => ownerWord(kind, name)).join(" "),
    keyId: keyIdOf(metadata),
  }),
  indexes: { owner: ({ ownerUid }) => [ownerUid] },
};

/** `usersOf` finds the resources that one concerns which is not their own. */
export const publishedWatch = (
  { type }: ManagedKind,
  usersOf: (secret: string) => readonly string[] = () => [],
): Watch<PublishedRecord> => ({
  source: published,
  keysOf: (delta) => {
    // What owns a Secret is in its namespace, or in none.
    const within = type.namespaced ? delta.key.slice(0, delta.key.indexOf("/") + 1) : "";
    const names = new Set(recordsOf(delta).flatMap(({ owners }) => namesOf(owners, type.kind)));
    return [...Array.from(names, (name) => `${within}${name}`), ...usersOf(delta.key)];
  },
});

const ownerWord = (kind: string, name: string): string => `${kind}/${name}`;

function namesOf(owners: string, kind: string): readonly string[] {
  const start = ownerWord(kind, "");
  return owners.split(" ").flatMap((owner) => (owner.startsWith(start) ? [owner.slice(start.length)] : []));
}

/** What a change is about: what was, what is, or both. */
export function recordsOf<R>(delta: Delta<R>): readonly R[] {
  if (delta.type === "added") return [delta.entry.record];
  return delta.type === "deleted" ? [delta.old.record] : [delta.old.record, delta.entry.record];
}

/** Of the spec, and of labels and annotations, which keys may bear too: by the status alone nobody asks for anything. */
function wishOf({ generation, deletionTimestamp = "", labels = {}, annotations = {} }: ObjectMeta): string {
  const sorted = [labels, annotations].map((texts) => Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = createHash("sha256").update(JSON.stringify(sorted)).digest("base64url").slice(0, 12);
  return `${generation} ${deletionTimestamp} ${digest}`;
}

function specOf(kind: ManagedKind, object: KubeObject): ManagedSpec | undefined {
  try {
    return kind.readSpec(object);
  } catch {
    return undefined;
  }
}

/** By a person. */
function isHeldBack({ may }: ManagedSpec, { metadata: { annotations = {} } }: KubeObject): boolean {
  return !may.create || annotations[ANNOTATIONS.freeze] === "true" || annotations[ANNOTATIONS.paused] === "true";
}

const openFrom = ({ windows }: ManagedSpec, at: number): number =>
  Number.isFinite(at) ? (nextOpening(windows, at) ?? Infinity) : Infinity;

const isTrue = (object: KubeObject, type: string): boolean =>
  itemsOf(fieldsOf(object.status).conditions).some(
    (condition) => condition.type === type && condition.status === "True",
  );
