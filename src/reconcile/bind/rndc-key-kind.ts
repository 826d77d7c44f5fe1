import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import type { Policy } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { KindLimits } from "../managed/crossplane-fields.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import { rotationPolicy } from "../managed/rotation-policy.ts";
import { rotationWindows } from "../managed/rotation-windows.ts";
import { stateFields } from "../managed/status-fields.ts";
import { readRndcKeySpec } from "./rndc-key-spec.ts";

const RNDC_KEY_FORCE = "rndckey.keyturn.dev/force-rotation";
const ROTATION = "spec.rotation";

/** An RndcKey's fields. */
export const createRndcKeyKind = (limits: Partial<KindLimits> = {}): ManagedKind => ({
  ...stateFields({ id: "id", createdAt: "createdAt", retiredAt: "retiredAt", retiredKeysIn: "status" }, RNDC_KEY_FORCE),
  type: rndcKey,
  // What lands in a ring after its RndcKey has gone is garbage by its owner reference: nobody has to wait for it.
  settleMs: 0,
  readSpec: (object) => readSpec(object, limits),
  readDeparture,
});

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const { published, keyName, strategy, delayMs } = readRndcKeySpec(object);
  const { rotation: block } = fieldsOf(object.spec);
  const rotation = block === undefined ? undefined : fieldsOf(block);
  const { annotations } = object.metadata;
  const isOneAtATime = strategy === "Restart";
  const stated = rotationPolicy(rotation, { field: ROTATION, publishes: true, isOneAtATime, limits, annotations });
  return {
    ...readDeparture(object),
    ...stated,
    baseName: keyName,
    policy: later(stated.policy, delayMs),
    windows: rotationWindows(rotation, ROTATION),
    secret: { ...published, field: "spec.secret.name", layout: { kind: "fields" } },
  };
}

/** So much later than due; the old key lives on beside the new one for as long as before. */
const later = (policy: Policy, delayMs: number): Policy => ({
  ...policy,
  frequencyMs: policy.frequencyMs + delayMs,
  ttlMs: policy.ttlMs === undefined ? undefined : policy.ttlMs + delayMs,
});

function readDeparture({ metadata, spec }: KubeObject): DepartureSpec {
  return {
    // What many of them share, and so what their starts are spread over.
    providerConfig: metadata.namespace ?? "",
    deletionPolicy: fieldsOf(spec).deletionPolicy === "Orphan" ? "orphan" : "delete",
    may: { create: true, delete: true },
  };
}
