import { createHash } from "node:crypto";
import { ownName } from "../../base/own-names.ts";
import type { ObjectMeta } from "../../kube/objects.ts";
import type { MarkFilter, Marks } from "../../providers/contract.ts";

/**
 * Whose a child is, on the child itself: what it is searched by as labels, what may be longer than those as annotations.
 * An owner reference does not do for that: a restored parent has another UID than the one that it names. Pure.
 */
const CLUSTER = ownName("cluster");
const PARENT_UID = ownName("parent-uid");
/** A digest of kind, namespace and name, by which the children of a parent are found whatever its UID. */
const PARENT = ownName("parent");
const SEQUENCE = ownName("sequence");
const KIND = ownName("parent-kind");
const NAMESPACE = ownName("parent-namespace");
const NAME = ownName("parent-name");
/** Where a child has its Secret, as decided when it was made: no mark, and of no use to anybody once those are off. */
export const CHILD_SECRET = ownName("child-secret");

const DIGEST_LENGTH = 32;

interface MarkMetadata {
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** For a patch: what the marks do not have is taken off. */
export function markPatch(marks: Marks | undefined): MarkMetadata {
  if (!marks) {
    return {
      labels: { [CLUSTER]: null, [PARENT_UID]: null, [PARENT]: null, [SEQUENCE]: null },
      annotations: { [KIND]: null, [NAMESPACE]: null, [NAME]: null, [CHILD_SECRET]: null },
    };
  }
  const { clusterId, ownerUid, ownerKind, ownerNamespace, ownerName, sequence } = marks;
  return {
    labels: {
      [CLUSTER]: clusterId,
      [PARENT_UID]: ownerUid,
      [PARENT]: digestOf(ownerKind, ownerNamespace, ownerName),
      [SEQUENCE]: String(sequence),
    },
    annotations: { [KIND]: ownerKind, [NAMESPACE]: ownerNamespace ?? null, [NAME]: ownerName },
  };
}

/** For a new child. */
export function markMetadata(marks: Marks): Required<Pick<ObjectMeta, "labels" | "annotations">> {
  const { labels, annotations } = markPatch(marks);
  const present = (entries: MarkMetadata["labels"]): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(entries).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
  return { labels: present(labels), annotations: present(annotations) };
}

/** Undefined where they are missing or damaged: nobody can tell then whose the child is. */
export function readMarks({ labels = {}, annotations = {} }: ObjectMeta): Marks | undefined {
  const { [CLUSTER]: clusterId, [PARENT_UID]: ownerUid, [SEQUENCE]: count } = labels;
  const { [KIND]: ownerKind, [NAMESPACE]: ownerNamespace, [NAME]: ownerName } = annotations;
  if (clusterId === undefined || ownerUid === undefined || count === undefined || !/^\d{1,15}$/.test(count)) {
    return undefined;
  }
  if (ownerKind === undefined || ownerName === undefined) return undefined;
  const sequence = Number(count);
  return {
    clusterId,
    ownerUid,
    ownerKind,
    ...(ownerNamespace !== undefined && { ownerNamespace }),
    ownerName,
    sequence,
  };
}

/** Finds at least what the filter means, and little else. */
export function markSelector({ clusterId, owner }: MarkFilter): string {
  const cluster = `${CLUSTER}=${clusterId}`;
  return owner ? `${cluster},${PARENT}=${digestOf(owner.kind, owner.namespace, owner.name)}` : cluster;
}

const digestOf = (kind: string, namespace: string | undefined, name: string): string =>
  createHash("sha256")
    .update(`${kind}/${namespace ?? ""}/${name}`)
    .digest("hex")
    .slice(0, DIGEST_LENGTH);
