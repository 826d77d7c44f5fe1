import { serviceBinding } from "../../api/btp/service-binding.ts";
import { formatDuration } from "../../base/duration.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import { deletionInstant } from "../../engine/dates.ts";
import type { ActiveKey, Pending, Policy, RetiredCause, RetiredKey, State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import {
  ANNOTATIONS,
  type DepartureSpec,
  FINALIZER,
  type LayoutSpec,
  type ManagedKind,
  type ManagedSpec,
} from "../managed/managed-kind.ts";
import { countOf, type Fields, fieldsOf, itemsOf, savedDurationOf, textOf } from "../managed/read-fields.ts";
import { type PolicyLimits, rotationPolicy } from "../managed/rotation-policy.ts";
import { rotationWindows } from "../managed/rotation-windows.ts";
import { SpecProblem } from "../managed/spec-problem.ts";

const FORCE_ANNOTATION = "servicebinding.account.btp.crossplane.io/force-rotation";
/** Brokers that take longer than this to answer a create have given up on it. */
const SETTLE_MS = 300_000;
const CAUSES: ReadonlySet<string> = new Set<RetiredCause>([
  "rotated",
  "forced",
  "compromised",
  "duplicate",
  "abandoned",
  "found",
]);

export interface ServiceBindingLimits extends PolicyLimits {
  readonly settleMs: number;
}

/** A ServiceBinding's fields, in the document's words. */
export const createServiceBindingKind = (limits: Partial<ServiceBindingLimits> = {}): ManagedKind => ({
  type: serviceBinding,
  forceAnnotation: FORCE_ANNOTATION,
  settleMs: limits.settleMs ?? SETTLE_MS,
  readSpec: (object) => readSpec(object, limits),
  readDeparture,
  readState,
  statusOf,
});

/** With the limits that hold where nobody has set others. */
export const serviceBindingKind = createServiceBindingKind();

function readSpec(object: KubeObject, limits: Partial<PolicyLimits>): ManagedSpec {
  const spec = fieldsOf(object.spec);
  const target = fieldsOf(spec.writeConnectionSecretToRef);
  const [namespace, name] = [textOf(target.namespace), textOf(target.name)];
  const secret = namespace && name ? { namespace, name, layout: layoutOf(spec) } : undefined;
  const rotation = spec.rotation === undefined ? undefined : fieldsOf(spec.rotation);
  const { policy, warnings } = rotationPolicy(rotation, {
    field: "spec.rotation",
    publishes: secret !== undefined,
    limits,
  });
  const baseName = textOf(fieldsOf(spec.forProvider).name);
  if (baseName === undefined) throw new SpecProblem("spec.forProvider.name", "is required");
  const windows = rotationWindows(rotation, "spec.rotation");
  return { ...readDeparture(object), baseName, policy, windows, secret, warnings };
}

function readDeparture(object: KubeObject): DepartureSpec {
  const spec = fieldsOf(object.spec);
  const policies = Array.isArray(spec.managementPolicies) ? spec.managementPolicies : ["*"];
  const allows = (action: string): boolean => policies.includes("*") || policies.includes(action);
  return {
    providerConfig: textOf(fieldsOf(spec.providerConfigRef).name) ?? "default",
    deletionPolicy: spec.deletionPolicy === "Orphan" ? "orphan" : "delete",
    may: { create: allows("Create"), delete: allows("Delete") },
  };
}

function layoutOf(spec: Fields): LayoutSpec {
  const key = textOf(spec.secretKey);
  const format = textOf(spec.secretFormat);
  if (format === "sap-kubernetes") return { kind: "sap-kubernetes", ...(key !== undefined && { key }) };
  if (format !== undefined)
    throw new SpecProblem("spec.secretFormat", `must be sap-kubernetes or absent, not "${format}"`);
  return key === undefined ? { kind: "flat" } : { kind: "bundle", key };
}

function readState(object: KubeObject): State {
  const { metadata } = object;
  const status = fieldsOf(object.status);
  const annotations = metadata.annotations ?? {};
  const compromised = annotations[ANNOTATIONS.compromised];
  const force = annotations[FORCE_ANNOTATION];
  return {
    isDeleting: metadata.deletionTimestamp !== undefined,
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    externalName: textOf(annotations[ANNOTATIONS.externalName]),
    active: readActive(fieldsOf(status.atProvider)),
    sequence: countOf(status.sequence) ?? 0,
    pending: readPending(fieldsOf(status.pending)),
    retired: itemsOf(status.retiredKeys).flatMap(readRetired),
    request:
      compromised !== undefined
        ? { value: `compromised ${compromised}`, isCompromised: true }
        : force !== undefined
          ? { value: force, isCompromised: false }
          : undefined,
    fulfilled: typeof status.lastForced === "string" ? status.lastForced : undefined,
    postponedUntil: parseInstant(status.postponedUntil),
  };
}

function readActive(at: Fields): ActiveKey | undefined {
  const [id, name, createdAt] = [textOf(at.id), textOf(at.name), parseInstant(at.createdDate)];
  if (id === undefined || name === undefined || createdAt === undefined) return undefined;
  return { id, name, createdAt, sequence: countOf(at.sequence) ?? 0, madeFrom: textOf(at.madeFrom) ?? "" };
}

function readPending(fields: Fields): Pending | undefined {
  const [name, sequence] = [textOf(fields.name), countOf(fields.sequence)];
  if (name === undefined || sequence === undefined) return undefined;
  return {
    name,
    sequence,
    since: parseInstant(fields.since) ?? 0,
    id: textOf(fields.id),
    madeFrom: textOf(fields.madeFrom) ?? "",
    fulfils: typeof fields.fulfils === "string" ? fields.fulfils : undefined,
  };
}

/** A damaged entry is not dropped for a missing date: the key is there, and it is better kept too long than too short. */
function readRetired(fields: Fields): readonly RetiredKey[] {
  const id = textOf(fields.id);
  if (id === undefined) return [];
  const createdAt = parseInstant(fields.createdDate) ?? 0;
  const retiredAt = parseInstant(fields.retiredDate) ?? createdAt;
  const cause = textOf(fields.cause) ?? "";
  return [
    {
      id,
      name: textOf(fields.name) ?? "",
      createdAt,
      retiredAt,
      replacedAt: parseInstant(fields.replacedDate),
      overlapMs: savedDurationOf(fields.overlap) ?? 0,
      deletionAt: parseInstant(fields.deletionDate) ?? retiredAt,
      cause: CAUSES.has(cause) ? (cause as RetiredCause) : "rotated",
    },
  ];
}

function statusOf(state: State, policy: Policy): Fields {
  const { active, pending } = state;
  return {
    atProvider: active && {
      id: active.id,
      name: active.name,
      createdDate: formatInstant(active.createdAt),
      sequence: active.sequence,
      madeFrom: active.madeFrom,
    },
    sequence: state.sequence,
    pending: pending && {
      name: pending.name,
      sequence: pending.sequence,
      since: formatInstant(pending.since),
      id: pending.id,
      madeFrom: pending.madeFrom,
      fulfils: pending.fulfils,
    },
    retiredKeys: state.retired.length === 0 ? undefined : state.retired.map((key) => retiredEntry(key, policy)),
    lastForced: state.fulfilled,
    postponedUntil: state.postponedUntil === undefined ? undefined : formatInstant(state.postponedUntil),
  };
}

function retiredEntry(key: RetiredKey, policy: Policy): Fields {
  const dueAt = deletionInstant(policy, key);
  return {
    id: key.id,
    name: key.name,
    createdDate: formatInstant(key.createdAt),
    retiredDate: formatInstant(key.retiredAt),
    replacedDate: key.replacedAt === undefined ? undefined : formatInstant(key.replacedAt),
    deletionDate: formatInstant(Number.isFinite(dueAt) ? dueAt : key.deletionAt),
    overlap: formatDuration(key.overlapMs),
    cause: key.cause,
  };
}
