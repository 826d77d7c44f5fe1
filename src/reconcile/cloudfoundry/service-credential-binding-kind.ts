import { serviceCredentialBinding } from "../../api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { KeyOperation, OutsideKey } from "../../providers/contract.ts";
import { type KindLimits, managedSpec, readDeparture, SETTLE_MS } from "../managed/crossplane-fields.ts";
import type { LayoutSpec, ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import { type Fields, fieldsOf, textOf } from "../managed/read-fields.ts";
import { SpecProblem } from "../managed/spec-problem.ts";
import { stateFields } from "../managed/status-fields.ts";

const FORCE_ANNOTATION = "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation";
const ROTATION = "spec.forProvider.rotation";

/** A ServiceCredentialBinding's fields, in the document's words. */
export const createServiceCredentialBindingKind = (limits: Partial<KindLimits> = {}): ManagedKind => ({
  type: serviceCredentialBinding,
  settleMs: limits.settleMs ?? SETTLE_MS,
  readSpec: (object) => readSpec(object, limits),
  readDeparture,
  keepsConfig: true,
  ...stateFields(
    {
      id: "guid",
      createdAt: "createdAt",
      retiredAt: "retiredAt",
      retiredKeysIn: "atProvider",
      beside: (seen, { lastOperation }) => ({ lastOperation: seen ? lastOperationOf(seen) : lastOperation }),
    },
    FORCE_ANNOTATION,
  ),
});

const CREATED: KeyOperation = { type: "create", state: "succeeded" };

/** Nothing becomes active before Cloud Foundry has made it: a list that shows it half made is behind. */
const lastOperationOf = ({ lastOperation }: OutsideKey): KeyOperation | undefined =>
  lastOperation?.type === "create" ? CREATED : lastOperation;

export const isOfApp = (forProvider: Fields): boolean => forProvider.type === "app";

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
  const rotation = forProvider.rotation === undefined ? undefined : fieldsOf(forProvider.rotation);
  const isApp = isOfApp(forProvider);
  if (isApp && rotation) throw new SpecProblem(ROTATION, "bindings of apps are not rotated");
  const baseName = textOf(forProvider.name) ?? (isApp ? object.metadata.name : undefined);
  if (baseName === undefined) throw new SpecProblem("spec.forProvider.name", "is required for a key");
  return managedSpec(object, { baseName, rotation, rotationField: ROTATION, layout: layoutOf(object), limits });
}

function layoutOf(object: KubeObject): LayoutSpec {
  const spec = fieldsOf(object.spec);
  const isJson = spec.connectionDetailsAsJSON === true || fieldsOf(spec.forProvider).connectionDetailsAsJSON === true;
  return isJson ? { kind: "bundle", key: "credentials" } : { kind: "recursive" };
}
