import { rotatingCredentialBinding } from "../../api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type KindLimits, managedSpec, readDeparture } from "../managed/crossplane-fields.ts";
import type { ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import { SpecProblem } from "../managed/spec-problem.ts";
import { stateFields } from "../managed/status-fields.ts";
import { CHILD_NAMES, withChildren } from "../parents/child-status.ts";

const FORCE_ANNOTATION = "rotatingcredentialbinding.cloudfoundry.crossplane.io/force-rotation";
const ROTATION = "spec.rotation";
/** What is left of the longest name of an object for what comes before a dash and the suffix. */
const MAX_BASE_LENGTH = 253 - 9;

/** A RotatingCredentialBinding's fields, in the document's words. */
export function createRotatingCredentialBindingKind(limits: Partial<KindLimits> = {}): ManagedKind {
  const fields = stateFields(CHILD_NAMES, FORCE_ANNOTATION);
  return {
    ...fields,
    type: rotatingCredentialBinding,
    // A child that lands after its parent has gone is garbage by its owner reference: nobody has to wait for it.
    settleMs: 0,
    childKindOf: () => serviceCredentialBinding.kind,
    readSpec: (object) => readSpec(object, limits),
    readDeparture,
    statusOf: (state, policy) => withChildren(fields.statusOf(state, policy), state),
  };
}

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const spec = fieldsOf(object.spec);
  if (fieldsOf(spec.forProvider).rotation !== undefined) {
    throw new SpecProblem("spec.forProvider.rotation", `belongs to ${ROTATION}: a child is one key`);
  }
  const rotation = spec.rotation === undefined ? undefined : fieldsOf(spec.rotation);
  const baseName = childBaseName(object.metadata.name);
  return managedSpec(object, { baseName, rotation, rotationField: ROTATION, layout: { kind: "copy" }, limits });
}

/** Cut so that a suffix fits, and no dot or dash stands before it. */
const childBaseName = (name: string): string => name.slice(0, MAX_BASE_LENGTH).replace(/[.-]+$/, "");
