import { parseInstant } from "../base/instant.ts";
import type { KubeObject } from "../kube/objects.ts";
import { isRecord, type UnknownRecord } from "../kube/record.ts";

/** Who wrote a field of an object, as the API server keeps account of it. Whatever cannot be read owns nothing. */
interface FieldEntry {
  readonly manager: unknown;
  readonly isApply: boolean;
  readonly writtenAt: number | undefined;
}

/** The entries that own the field at the path, such as `["status"]`, or anything beneath it. */
export function ownersOf(object: KubeObject, path: readonly string[]): readonly FieldEntry[] {
  const { managedFields } = object.metadata;
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .filter(isRecord)
    .filter(({ fieldsV1 }) => owns(fieldsV1, path))
    .map(readEntry);
}

const owns = (fields: unknown, path: readonly string[]): boolean =>
  path.reduce<unknown>((at, name) => (isRecord(at) ? at[`f:${name}`] : undefined), fields) !== undefined;

const readEntry = ({ manager, operation, time }: UnknownRecord): FieldEntry => ({
  manager,
  isApply: operation === "Apply",
  writtenAt: parseInstant(time),
});

/** When somebody last wrote one of these fields at the top of the object. */
export function lastWrittenAt(object: KubeObject, fields: readonly string[]): number | undefined {
  const times = fields.flatMap((field) => ownersOf(object, [field])).flatMap(({ writtenAt }) => writtenAt ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
