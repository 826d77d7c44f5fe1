import { serviceBinding } from "../../api/btp/service-binding.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type KindLimits, managedSpec, readDeparture, SETTLE_MS } from "../managed/crossplane-fields.ts";
import type { LayoutSpec, ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import { type Fields, fieldsOf, textOf } from "../managed/read-fields.ts";
import { SpecProblem } from "../managed/spec-problem.ts";
import { stateFields } from "../managed/status-fields.ts";

const FORCE_ANNOTATION = "servicebinding.account.btp.crossplane.io/force-rotation";

/** A ServiceBinding's fields, in the document's words. */
export const createServiceBindingKind = (limits: Partial<KindLimits> = {}): ManagedKind => ({
  type: serviceBinding,
  settleMs: limits.settleMs ?? SETTLE_MS,
  readSpec: (object) => readSpec(object, limits),
  readDeparture,
  keepsConfig: true,
  ...stateFields(
    { id: "id", createdAt: "createdDate", retiredAt: "retiredDate", retiredKeysIn: "status" },
    FORCE_ANNOTATION,
  ),
});

/** With the limits that hold where nobody has set others. */
export const serviceBindingKind = createServiceBindingKind();

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const spec = fieldsOf(object.spec);
  const baseName = textOf(fieldsOf(spec.forProvider).name);
  if (baseName === undefined) throw new SpecProblem("spec.forProvider.name", "is required");
  const rotation = spec.rotation === undefined ? undefined : fieldsOf(spec.rotation);
  return managedSpec(object, { baseName, rotation, rotationField: "spec.rotation", layout: layoutOf(spec), limits });
}

function layoutOf(spec: Fields): LayoutSpec {
  const key = textOf(spec.secretKey);
  const format = textOf(spec.secretFormat);
  if (key !== undefined && (key === "." || key.startsWith("..")))
    throw new SpecProblem("spec.secretKey", `"${key}" cannot be a key of a Secret`);
  if (key === ".metadata" && format === "sap-kubernetes")
    throw new SpecProblem("spec.secretKey", `"${key}" is where sap-kubernetes puts its metadata: choose another one`);
  if (format === "sap-kubernetes") return { kind: "sap-kubernetes", ...(key !== undefined && { key }) };
  if (format !== undefined)
    throw new SpecProblem("spec.secretFormat", `must be sap-kubernetes or absent, not "${format}"`);
  return key === undefined ? { kind: "flat" } : { kind: "bundle", key };
}
