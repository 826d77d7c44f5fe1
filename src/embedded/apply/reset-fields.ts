import { FieldSet } from "./field-set.ts";

const STATUS = FieldSet.of(["f:status"]);
const SPEC = FieldSet.of(["f:spec"]);
const SPEC_AND_METADATA = FieldSet.of(["f:spec"], ["f:metadata"]);

/** Built-in kinds whose status endpoint puts back more than the spec. */
const STATUS_WRITES: ReadonlyMap<string, FieldSet> = new Map([
  ["Deployment", FieldSet.of(["f:spec"], ["f:metadata", "f:labels"])],
  ["Pod", FieldSet.of(["f:spec"], ["f:metadata", "f:deletionTimestamp"], ["f:metadata", "f:ownerReferences"])],
]);

interface Kind {
  readonly kind: string;
  readonly custom: boolean;
  readonly subresources: ReadonlySet<string>;
}

/** The fields that an endpoint of a kind puts back, whatever is written to them: nobody comes to own them that way. */
export function resetFieldsOf({ kind, custom, subresources }: Kind, subresource: string | undefined): FieldSet {
  if (!subresources.has("status")) return FieldSet.empty;
  if (subresource !== "status") return STATUS;
  return custom ? SPEC_AND_METADATA : (STATUS_WRITES.get(kind) ?? SPEC);
}
