import type { KubeObject, ResourceType } from "../kube/objects.ts";

/**
 * What a Lease says, and what to write into it, in client-go's words: times as MicroTime, a released Lease has an empty
 * holder and a duration of one second, transitions count the changes of hands. Pure. Must not: decide who leads.
 */
export const leaseType: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  /** Fields of other versions and features are handed on as they are. */
  readonly [field: string]: unknown;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseRecord {
  readonly holder: string;
  readonly leaseDurationMs: number | undefined;
  readonly spec: LeaseSpec;
}

export function recordOf(lease: Lease): LeaseRecord {
  const spec = lease.spec ?? {};
  const seconds = spec.leaseDurationSeconds;
  return {
    holder: spec.holderIdentity ?? "",
    leaseDurationMs: typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined,
    spec,
  };
}

export interface RenewOptions {
  readonly previous: LeaseRecord | undefined;
  readonly identity: string;
  readonly durationMs: number;
  readonly nowAt: number;
}

export function renewedRecord(options: RenewOptions): LeaseSpec {
  const { previous, identity, nowAt } = options;
  const isHeld = previous?.holder === identity;
  const renewTime = microTime(isHeld ? unlikeLast(previous.spec.renewTime, nowAt) : nowAt);
  const transitions = previous?.spec.leaseTransitions ?? 0;
  return {
    ...previous?.spec,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(options.durationMs / 1000),
    acquireTime: (isHeld ? previous.spec.acquireTime : undefined) ?? renewTime,
    renewTime,
    leaseTransitions: !previous || isHeld ? transitions : transitions + 1,
  };
}

export function releasedRecord(previous: LeaseRecord, nowAt: number): LeaseSpec {
  const nowTime = microTime(nowAt);
  return {
    ...previous.spec,
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: nowTime,
    renewTime: nowTime,
    leaseTransitions: previous.spec.leaseTransitions ?? 0,
  };
}

/**
 * A renewal must look different from the one before, or the others take it for none: client-go compares to the second,
 * and the API server drops a write that changes nothing. A clock that was set back could repeat an instant.
 */
function unlikeLast(lastTime: string | undefined, nowAt: number): number {
  const lastAt = lastTime === undefined ? Number.NaN : Date.parse(lastTime);
  const isSameSecond = Math.floor(lastAt / 1000) === Math.floor(nowAt / 1000);
  return isSameSecond ? lastAt + 1000 : nowAt;
}

/** RFC 3339 with six digits, the only form the API server accepts for these fields. */
export const microTime = (at: number): string => new Date(at).toISOString().replace(/Z$/, "000Z");
