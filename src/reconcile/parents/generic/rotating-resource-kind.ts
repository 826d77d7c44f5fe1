import { rotatingResource } from "../../../api/keyturn/rotating-resource.ts";
import { wordedName } from "../../../base/own-names.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { KindLimits } from "../../managed/crossplane-fields.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "../../managed/managed-kind.ts";
import { fieldsOf, textOf } from "../../managed/read-fields.ts";
import { rotationPolicy } from "../../managed/rotation-policy.ts";
import { rotationWindows } from "../../managed/rotation-windows.ts";
import { stateFields } from "../../managed/status-fields.ts";
import { CHILD_NAMES, withChildren } from "../child-status.ts";
import { readRotatingSpec } from "./rotating-spec.ts";

const FORCE_ANNOTATION = wordedName("rotatingresource", "force-rotation");
const ROTATION = "spec.rotation";
/** With its suffix a name then still fits into a label, where many controllers put it. */
const MAX_BASE_LENGTH = 54;

/** A RotatingResource's fields. */
export function createRotatingResourceKind(limits: Partial<KindLimits> = {}): ManagedKind {
  const fields = stateFields(CHILD_NAMES, FORCE_ANNOTATION);
  return {
    ...fields,
    type: rotatingResource,
    // A child that lands after its parent has gone is garbage by its owner reference: nobody has to wait for it.
    settleMs: 0,
    readSpec: (object) => readSpec(object, limits),
    readDeparture,
    statusOf: (state, policy) => withChildren(fields.statusOf(state, policy), state),
  };
}

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const { account, stableSecret } = readRotatingSpec(object);
  const fields = fieldsOf(object.spec);
  const rotation = fields.rotation === undefined ? undefined : fieldsOf(fields.rotation);
  const { annotations } = object.metadata;
  const stated = rotationPolicy(rotation, { field: ROTATION, publishes: true, limits, annotations });
  return {
    ...readDeparture(object),
    baseName: baseNameOf(object.metadata.name),
    ...stated,
    windows: rotationWindows(rotation, ROTATION),
    secret: { namespace: account.namespace, name: stableSecret, layout: { kind: "copy" } },
  };
}

function readDeparture(object: KubeObject): DepartureSpec {
  const spec = fieldsOf(object.spec);
  return {
    // What many of them share, and so what their starts are spread over.
    providerConfig: textOf(spec.rotationClassName) ?? "",
    deletionPolicy: spec.deletionPolicy === "Orphan" ? "orphan" : "delete",
    may: { create: true, delete: true },
  };
}

const baseNameOf = (name: string): string => name.slice(0, MAX_BASE_LENGTH).replace(/[-.]+$/, "");
