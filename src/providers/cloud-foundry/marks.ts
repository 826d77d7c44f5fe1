import { createHash } from "node:crypto";
import { OWN_GROUP, ownName } from "../../base/own-names.ts";
import type { KeyMetadata, MarkFilter, Marks } from "../contract.ts";
import { ProviderError } from "../provider-error.ts";
import { checkedMetadata, isLabelValue } from "./metadata.ts";

/** Labels can be selected by, and hold 63 characters; annotations hold what is longer. */
const LABELS = {
  clusterId: ownName("cluster"),
  ownerUid: ownName("owner-uid"),
  sequence: ownName("sequence"),
} as const;
/** A digest of kind, namespace and name, so that an owner's keys can be selected whatever its UID. */
const OWNER_LABEL = ownName("owner");
const ANNOTATIONS = {
  ownerKind: ownName("kind"),
  ownerNamespace: ownName("namespace"),
  ownerName: ownName("name"),
} as const;

const DIGEST_CHARS = 40;

export function encodeMarks(marks: Marks): KeyMetadata {
  const { clusterId, ownerUid, ownerKind, ownerNamespace, ownerName, sequence } = marks;
  return {
    labels: {
      [LABELS.clusterId]: labelValue("clusterId", clusterId),
      [LABELS.ownerUid]: labelValue("ownerUid", ownerUid),
      [LABELS.sequence]: labelValue("sequence", String(sequence)),
      [OWNER_LABEL]: ownerDigest(ownerKind, ownerNamespace, ownerName),
    },
    annotations: {
      [ANNOTATIONS.ownerKind]: ownerKind,
      ...(ownerNamespace !== undefined && { [ANNOTATIONS.ownerNamespace]: ownerNamespace }),
      [ANNOTATIONS.ownerName]: ownerName,
    },
  };
}

/**
 * Undefined unless the marks are whole: a key with half of them is nobody's, so that nothing is deleted on the strength of
 * what a person left of its labels.
 */
export function decodeMarks({ labels, annotations }: KeyMetadata): Marks | undefined {
  const clusterId = labels[LABELS.clusterId];
  const ownerUid = labels[LABELS.ownerUid];
  const sequence = labels[LABELS.sequence] ?? "";
  const ownerKind = annotations[ANNOTATIONS.ownerKind];
  const ownerName = annotations[ANNOTATIONS.ownerName];
  const ownerNamespace = annotations[ANNOTATIONS.ownerNamespace];
  if (!clusterId || !ownerUid || !ownerKind || !ownerName || !/^\d{1,15}$/.test(sequence)) return undefined;
  return {
    clusterId,
    ownerUid,
    ownerKind,
    ...(ownerNamespace && { ownerNamespace }),
    ownerName,
    sequence: Number(sequence),
  };
}

/** Whether there is anything of ours on it, whole or not. */
export const isTouched = ({ labels, annotations }: KeyMetadata): boolean =>
  [...Object.keys(labels), ...Object.keys(annotations)].some((key) => key.startsWith(`${OWN_GROUP}/`));

interface MetadataChange {
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

const NOTHING: KeyMetadata = { labels: {}, annotations: {} };

/** What to send so that a key carries these marks and no others of ours, or none; and with them what else is to stand on it. */
export function markChange(marks: Marks | undefined, metadata: KeyMetadata = NOTHING): MetadataChange {
  const wanted = marks ? encodeMarks(marks) : NOTHING;
  const theirs = checkedMetadata(metadata);
  const none = (keys: readonly string[]): Record<string, null> => Object.fromEntries(keys.map((key) => [key, null]));
  return {
    labels: { ...theirs.labels, ...none([...Object.values(LABELS), OWNER_LABEL]), ...wanted.labels },
    annotations: { ...theirs.annotations, ...none(Object.values(ANNOTATIONS)), ...wanted.annotations },
  };
}

/** Kind and name find an owner's keys whatever its UID: one query instead of two, since neither changes while it lives. */
export function markSelector({ clusterId, owner }: MarkFilter): string {
  const ofCluster = `${LABELS.clusterId}=${labelValue("clusterId", clusterId)}`;
  return owner ? `${ofCluster},${OWNER_LABEL}=${ownerDigest(owner.kind, owner.namespace, owner.name)}` : ofCluster;
}

const ownerDigest = (kind: string, namespace: string | undefined, name: string): string =>
  createHash("sha256")
    .update(JSON.stringify([kind, namespace ?? null, name]))
    .digest("hex")
    .slice(0, DIGEST_CHARS);

function labelValue(mark: string, value: string): string {
  if (value !== "" && isLabelValue(value)) return value;
  throw new ProviderError("ProviderRefused", `the mark ${mark} does not fit into a label of Cloud Foundry`);
}
