import { isRecord, recordOf, type UnknownRecord } from "../../kube/record.ts";

/**
 * What is written down of who owns which field, without that `manager` owns the number of replicas; undefined where it does
 * not. Pure. Whoever applies an installation again by the server would meet a conflict with it otherwise.
 */
export function withoutReplicasOf(
  manager: string,
  managedFields: readonly unknown[] = [],
): readonly unknown[] | undefined {
  if (!managedFields.some((entry) => ownsReplicas(entry, manager))) return undefined;
  const left = managedFields.flatMap((entry): readonly unknown[] =>
    ownsReplicas(entry, manager) ? released(recordOf(entry)) : [entry],
  );
  // To the API an empty list says nothing; this one says that nobody owns anything.
  return left.length > 0 ? left : [{}];
}

const specOf = (entry: unknown): unknown => recordOf(recordOf(entry).fieldsV1)["f:spec"];

const ownsReplicas = (entry: unknown, manager: string): boolean =>
  recordOf(entry).manager === manager && recordOf(specOf(entry))["f:replicas"] !== undefined;

/** The rest of an entry, if there is any. */
function released(entry: UnknownRecord): readonly UnknownRecord[] {
  const { "f:spec": _, ...fields } = recordOf(entry.fieldsV1);
  const { "f:replicas": _replicas, ...spec } = recordOf(specOf(entry));
  const fieldsV1 = { ...fields, ...(isEmpty(spec) ? {} : { "f:spec": spec }) };
  return isEmpty(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0;
