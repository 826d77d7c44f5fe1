import type { MarkFilter, Marks } from "../contract.ts";
import { ProviderError } from "../provider-error.ts";
import { isRecord, type UnknownRecord } from "../rest/wire.ts";
import { type Criterion, isQueryable } from "./query.ts";

/**
 * Marks as labels of a binding, the only thing of ours that the Service Manager keeps. Keys consist of what its query
 * language takes in a key: no dots, and nowhere the letters of its separator `and`.
 */
export const LABELS = {
  clusterId: "keyturn_cluster",
  ownerUid: "keyturn_owner_uid",
  ownerKind: "keyturn_kind",
  ownerNamespace: "keyturn_namespace",
  ownerName: "keyturn_name",
  sequence: "keyturn_sequence",
} as const satisfies Record<keyof Marks, string>;

const MAX_VALUE_CHARS = 255;

export type Labels = Readonly<Record<string, readonly string[]>>;

export interface LabelChange {
  readonly op: "add" | "remove";
  readonly key: string;
  readonly values: readonly string[];
}

/** Other people's labels included; what is not a list of texts is left out. */
export function decodeLabels(value: unknown): Labels {
  if (!isRecord(value)) return {};
  const labels: Record<string, readonly string[]> = Object.create(null);
  for (const [key, values] of Object.entries(value)) {
    if (Array.isArray(values)) labels[key] = values.filter((item) => typeof item === "string");
  }
  return labels;
}

export function encodeMarks(marks: Marks): Labels {
  const values: UnknownRecord = { ...marks };
  const labels: Record<string, readonly string[]> = {};
  for (const [name, key] of Object.entries(LABELS)) {
    const value = values[name];
    if (value === undefined) continue;
    const text = String(value);
    if (text === "" || text.length > MAX_VALUE_CHARS || !isQueryable(text)) {
      throw new ProviderError("ProviderRefused", `the mark ${name} does not fit into a label of the Service Manager`);
    }
    labels[key] = [text];
  }
  return labels;
}

/**
 * Undefined unless the marks are whole: a key with half of them is nobody's, so that nothing is deleted on the strength
 * of what a person left of its labels. Where a label has two values, a change of marks broke off after its first half,
 * and the later value is the one that was meant.
 */
export function decodeMarks(labels: Labels): Marks | undefined {
  const last = (key: string): string | undefined => labels[key]?.at(-1) || undefined;
  const clusterId = last(LABELS.clusterId);
  const ownerUid = last(LABELS.ownerUid);
  const ownerKind = last(LABELS.ownerKind);
  const ownerNamespace = last(LABELS.ownerNamespace);
  const ownerName = last(LABELS.ownerName);
  const sequence = last(LABELS.sequence) ?? "";
  if (clusterId === undefined || ownerUid === undefined || ownerKind === undefined || ownerName === undefined) {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(sequence)) return undefined;
  return {
    clusterId,
    ownerUid,
    ownerKind,
    ...(ownerNamespace !== undefined && { ownerNamespace }),
    ownerName,
    sequence: Number(sequence),
  };
}

/**
 * What to change so that a binding carries these marks, or none: first what is added, then what is removed. They are
 * two requests, because one that adds and removes under the same key loses the label; and in this order, because
 * whatever breaks off in between must leave the key found by its marks.
 */
export function labelChanges(
  current: Labels,
  marks: Marks | undefined,
): { readonly add: readonly LabelChange[]; readonly remove: readonly LabelChange[] } {
  const wanted: Labels = marks ? encodeMarks(marks) : {};
  const add: LabelChange[] = [];
  const remove: LabelChange[] = [];
  for (const key of Object.values(LABELS)) {
    const present = current[key] ?? [];
    const missing = (wanted[key] ?? []).filter((value) => !present.includes(value));
    const surplus = present.filter((value) => !wanted[key]?.includes(value));
    if (missing.length > 0) add.push({ op: "add", key, values: missing });
    if (surplus.length > 0) remove.push({ op: "remove", key, values: surplus });
  }
  return { add, remove };
}

/** Kind and name find an owner's keys whatever its UID: one query instead of two, since neither changes while it lives. */
export function markCriteria(filter: MarkFilter): readonly Criterion[] {
  const { clusterId, owner } = filter;
  return [
    { key: LABELS.clusterId, value: clusterId },
    ...(owner ? [{ key: LABELS.ownerKind, value: owner.kind }] : []),
    ...(owner ? [{ key: LABELS.ownerName, value: owner.name }] : []),
    ...(owner?.namespace === undefined ? [] : [{ key: LABELS.ownerNamespace, value: owner.namespace }]),
  ];
}
