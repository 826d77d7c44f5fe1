import type { ObjectMeta, OwnerReference } from "../../kube/objects.ts";
import { forbidden, invalidValue, required, tooLong } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { asPrefix, dnsLabel, dnsSubdomain, labelValue, type NameRule, qualifiedName } from "./names.ts";

/**
 * What holds for the metadata of every object, built-in or custom: names, labels, annotations, owners, finalizers.
 * Pure. Must not: know kinds beyond the name rule it is given.
 */
interface MetadataRules {
  readonly namespaced: boolean;
  /** Default: a DNS subdomain. */
  readonly validateName?: NameRule;
}

export const FIELD_IS_IMMUTABLE = "field is immutable";

const ANNOTATIONS_LIMIT_BYTES = 256 * 1024;

/** On create, once the name was generated. */
export function validateMetadata(metadata: ObjectMeta, rules: MetadataRules): readonly FieldError[] {
  const rule = rules.validateName ?? dnsSubdomain;
  const errors: FieldError[] = [];
  const { name = "", generateName = "" } = metadata;
  if (generateName !== "") {
    const reasons = asPrefix(rule)(generateName);
    errors.push(...reasons.map((reason) => invalidValue("metadata.generateName", generateName, reason)));
  }
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else errors.push(...rule(name).map((reason) => invalidValue("metadata.name", name, reason)));
  errors.push(...namespaceErrors(metadata, rules), ...commonErrors(metadata), ...finalizerErrors(metadata));
  return errors;
}

/** On update; `updated` is what will be stored, with everything the server itself carries over. */
export function validateMetadataUpdate(updated: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (updated.finalizers ?? []).filter((name) => !old.finalizers?.includes(name)).sort();
    if (added.length > 0) {
      const listed = `[]string{${[...new Set(added)].map((name) => JSON.stringify(name)).join(", ")}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`;
      errors.push(forbidden("metadata.finalizers", detail));
    }
  }
  const fixed = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ] as const;
  for (const field of fixed) {
    if (updated[field] !== old[field]) {
      errors.push(
        invalidValue(`metadata.${field}`, updated[field] ?? (field === "name" ? "" : null), FIELD_IS_IMMUTABLE),
      );
    }
  }
  errors.push(...commonErrors(updated));
  const changed = updated.finalizers?.some((name) => !old.finalizers?.includes(name)) ?? false;
  return changed ? [...errors, ...finalizerErrors(updated)] : errors;
}

export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((reason) => invalidValue(field, key, reason)),
    ...labelValue(value).map((reason) => invalidValue(field, value, reason)),
  ]);
}

export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) =>
    qualifiedName(key.toLowerCase()).map((reason) => invalidValue(field, key, reason)),
  );
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > ANNOTATIONS_LIMIT_BYTES) errors.push(tooLong(field, ANNOTATIONS_LIMIT_BYTES));
  return errors;
}

function namespaceErrors({ namespace }: ObjectMeta, rules: MetadataRules): FieldError[] {
  const field = "metadata.namespace";
  if (!rules.namespaced) return namespace ? [forbidden(field, "not allowed on this type")] : [];
  if (!namespace) return [required(field)];
  return dnsLabel(namespace).map((reason) => invalidValue(field, namespace, reason));
}

function commonErrors(metadata: ObjectMeta): FieldError[] {
  return [
    ...validateLabels(metadata.labels ?? {}, "metadata.labels"),
    ...validateAnnotations(metadata.annotations ?? {}, "metadata.annotations"),
    ...ownerErrors(metadata.ownerReferences ?? []),
  ];
}

function ownerErrors(owners: readonly OwnerReference[]): FieldError[] {
  const field = "metadata.ownerReferences";
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    const version = owner.apiVersion?.slice(owner.apiVersion.indexOf("/") + 1) ?? "";
    if (version === "")
      errors.push(invalidValue(`${field}.apiVersion`, owner.apiVersion ?? "", "version must not be empty"));
    for (const part of ["kind", "name", "uid"] as const) {
      if (!owner[part]) errors.push(invalidValue(`${field}.${part}`, owner[part] ?? "", "must not be empty"));
    }
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      errors.push(invalidValue(field, owner, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (owner.controller !== true) continue;
    const own = `${owner.kind}/${owner.name}`;
    if (controller === undefined) controller = own;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${own}`;
      const shown = JSON.stringify(owners.map(inOrder));
      errors.push({ reason: "FieldValueInvalid", message: `Invalid value: ${shown}: ${detail}`, field });
    }
  }
  return errors;
}

/** As the server's own type lists its fields. */
const inOrder = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): object => ({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
});

const STANDARD_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];

/** Built-in kinds ask for more than custom ones do: a finalizer of one's own carries a domain. */
export function validateFinalizerNames({ finalizers = [] }: ObjectMeta): readonly FieldError[] {
  return finalizers.flatMap((name, index) => {
    if (name.includes("/") || STANDARD_FINALIZERS.includes(name)) return [];
    const detail = "name is neither a standard finalizer name nor is it fully qualified";
    return [invalidValue(`metadata.finalizers[${index}]`, name, detail)];
  });
}

/** Custom kinds take any finalizer, but a new one without a domain could be somebody else's too. */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta, old: ObjectMeta | undefined): readonly string[] {
  const added = new Set(finalizers.filter((name) => !old?.finalizers?.includes(name)));
  return [...added].sort().flatMap((name) => {
    if (name.includes("/") || STANDARD_FINALIZERS.includes(name)) return [];
    const advice = `prefer a domain-qualified finalizer name ${name.includes(".") ? "including a path (/) " : ""}to avoid`;
    return [
      `metadata.finalizers: ${JSON.stringify(name)}: ${advice} accidental conflicts with other finalizer writers`,
    ];
  });
}

function finalizerErrors({ finalizers = [] }: ObjectMeta): FieldError[] {
  const field = "metadata.finalizers";
  const errors = finalizers.flatMap((name) => qualifiedName(name).map((reason) => invalidValue(field, name, reason)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}
