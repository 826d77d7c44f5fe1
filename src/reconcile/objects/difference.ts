import { createHash } from "node:crypto";
import { ownName } from "../../base/own-names.ts";
import { sortedJson } from "../../base/sorted-json.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { isRecord } from "../../kube/record.ts";

/**
 * Whether an object is as it is to be applied. Pure. What the server or others have added beside it is no difference; a
 * digest of all that was applied tells of fields that are wanted no more. Must not: digest a Secret, since others read
 * annotations.
 */
export const APPLIED = ownName("applied");

/** The object as it is written: with a digest of itself. */
export function withDigest(wanted: KubeObject): KubeObject {
  if (wanted.kind === "Secret") return wanted;
  const { metadata } = wanted;
  return {
    ...wanted,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [APPLIED]: digestOf(wanted) } },
  };
}

export const digestOf = (value: unknown): string =>
  createHash("sha256").update(sortedJson(value)).digest("base64url").slice(0, 16);

/** Whether applying `body` to `live` would change something. Of a Secret the data is ours as a whole. */
export function differs(body: KubeObject, live: KubeObject): boolean {
  if (!holds(body, live)) return true;
  return body.kind === "Secret" && !hasSameNames(body.data, live.data);
}

const hasSameNames = (wanted: unknown, live: unknown): boolean =>
  sortedNames(wanted).join() === sortedNames(live).join();

const sortedNames = (value: unknown): readonly string[] => (isRecord(value) ? Object.keys(value).sort() : []);

/** Everything of `wanted` stands in `live`. Lists whose elements have others' beside them count as different. */
function holds(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    // Kinds may keep lists in an order of their own where elements have names; texts stay in theirs.
    return wanted.every((each: unknown, index) =>
      isRecord(each) ? live.some((one: unknown) => holds(each, one)) : each === live[index],
    );
  }
  if (!isRecord(wanted)) return wanted === live;
  // What says nothing asks for nothing.
  const fields = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null);
  return isRecord(live) && fields.every(([name, value]) => holds(value, live[name]));
}
