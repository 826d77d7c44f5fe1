import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import { wordedName } from "../../base/own-names.ts";
import { DEFAULT_OVERLAP_MS } from "../../bind/rndc-key-config.ts";
import type { Policy, State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { KindLimits } from "../managed/crossplane-fields.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import { rotationPolicy } from "../managed/rotation-policy.ts";
import { rotationWindows } from "../managed/rotation-windows.ts";
import { stateFields } from "../managed/status-fields.ts";
import { readRndcKeySpec } from "./rndc-key-spec.ts";

const RNDC_KEY_FORCE = wordedName("rndckey", "force-rotation");
const ROTATION = "spec.rotation";

const fields = stateFields(
  { id: "id", createdAt: "createdAt", retiredAt: "retiredAt", retiredKeysIn: "status" },
  RNDC_KEY_FORCE,
);

/** An RndcKey's fields. */
export const createRndcKeyKind = (limits: Partial<KindLimits> = {}): ManagedKind => ({
  ...fields,
  type: rndcKey,
  // What lands in a ring after its RndcKey has gone is garbage by its owner reference: nobody has to wait for it.
  settleMs: 0,
  readSpec: (object) => readSpec(object, limits),
  readDeparture,
});

function readSpec(object: KubeObject, limits: Partial<KindLimits>): ManagedSpec {
  const { published, keyName, strategy, leadMs } = readRndcKeySpec(object);
  const { rotation: block } = fieldsOf(object.spec);
  const rotation = block === undefined ? undefined : fieldsOf(block);
  const { annotations } = object.metadata;
  const isOneAtATime = strategy === "Restart";
  const stated = rotationPolicy(rotation, { field: ROTATION, publishes: true, isOneAtATime, limits, annotations });
  return {
    ...readDeparture(object),
    ...stated,
    baseName: keyName,
    policy: earlier(ofRing(stated.policy, isOneAtATime), isAhead(fields.readState(object)) ? leadMs : 0),
    windows: rotationWindows(rotation, ROTATION),
    secret: { ...published, field: "spec.secret.name", layout: { kind: "fields" } },
  };
}

/** The document knows no ttl of a key: one that was replaced goes when the overlap is over, whatever replaced it. */
const ofRing = (policy: Policy, isOneAtATime: boolean): Policy => ({
  ...policy,
  endsWithOverlap: true,
  forcedOverlapMs: isOneAtATime ? 0 : DEFAULT_OVERLAP_MS,
});

/** Never by more than half its life; the old key lives on beside the new one for as long as ever. */
function earlier(policy: Policy, leadMs: number): Policy {
  const { frequencyMs, ttlMs } = policy;
  if (ttlMs === undefined) return policy;
  const byMs = Math.min(leadMs, Math.floor(frequencyMs / 2));
  return { ...policy, frequencyMs: frequencyMs - byMs, ttlMs: ttlMs - byMs };
}

/** Those that were made together are due together, once: a key that was made because one was due is apart already. */
const isAhead = ({ active, history }: State): boolean =>
  active !== undefined && !history.some(({ keyId, reason }) => keyId === active.id && reason === "RotationDue");

function readDeparture({ metadata, spec }: KubeObject): DepartureSpec {
  return {
    // What many of them share, and so what their starts are spread over.
    providerConfig: metadata.namespace ?? "",
    deletionPolicy: fieldsOf(spec).deletionPolicy === "Orphan" ? "orphan" : "delete",
    may: { create: true, delete: true },
  };
}
