import type { AccountRecord } from "../ground/account-store.ts";
import type { GroundSnapshot } from "../ground/ground.ts";
import type { Tombstone } from "../ground/record-store.ts";
import type { JsonObject } from "../http/exchange.ts";
import type { Problem } from "./problems.ts";
import type { AppSettings, InstanceSettings, OrganizationSettings, SpaceSettings, Switches } from "./switches.ts";

/**
 * What the sandbox remembers, as plain data that survives a trip through JSON. An `id` is what clients know as a GUID.
 * Instants that end in `Tick` are on the sandbox's own clock, which never jumps; those that end in `At` are wall-clock
 * times that answers show.
 */
export interface RecordBase {
  readonly id: string;
  /** Its place in lists. */
  readonly sequence: number;
  readonly createdAt: number;
}

export type OrganizationRecord = RecordBase & OrganizationSettings;
export type SpaceRecord = RecordBase & SpaceSettings;
export type AppRecord = RecordBase & AppSettings;
export type InstanceRecord = RecordBase & InstanceSettings;

export interface Metadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface LastOperation {
  readonly type: "create" | "delete";
  readonly state: "initial" | "in progress" | "succeeded" | "failed";
  readonly description: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type BindingType = "key" | "app";

export interface BindingRecord extends RecordBase {
  readonly type: BindingType;
  /** Bindings of apps need none. */
  readonly name: string | null;
  readonly instanceId: string;
  readonly appId?: string;
  readonly parameters: JsonObject;
  readonly listedFromTick: number;
  updatedAt: number;
  metadata: Metadata;
  lastOperation: LastOperation;
  /** How often its credentials were read. */
  detailReads: number;
}

export interface JobRecord {
  readonly id: string;
  readonly operation: string;
  readonly bindingId: string;
  readonly createdAt: number;
  state: "PROCESSING" | "POLLING" | "COMPLETE" | "FAILED";
  updatedAt: number;
  finishedTick?: number;
  problem?: Problem;
}

/** A create or delete on its way through a worker and the broker. */
export interface Attempt {
  readonly jobId: string;
  readonly kind: "create" | "delete";
  readonly bindingId: string;
  readonly instanceId: string;
  /** `broker`: its answer is awaited. `work`: it said 202 and is at it. */
  stage: "broker" | "work";
  /** When the stage ends. */
  dueTick: number;
}

/** `none`: sees nothing, as somebody does who has lost the last role. */
export type Role = "space-developer" | "space-auditor" | "none";

/** A user of an identity provider, or a client of the UAA. */
export interface LoginRecord {
  readonly id: string;
  readonly kind: "user" | "client";
  /** A client has none. */
  readonly origin: string;
  readonly secret: string;
  role: Role;
}

export interface TokenRecord {
  readonly token: string;
  readonly use: "access" | "refresh";
  readonly loginKey: string;
  readonly expiresTick: number;
}

/** Everything, key material included: whoever keeps it keeps it as privately as the credentials themselves. */
export interface CloudFoundrySnapshot extends GroundSnapshot {
  readonly version: 1;
  readonly switches: Switches;
  readonly organizations: readonly OrganizationRecord[];
  readonly spaces: readonly SpaceRecord[];
  readonly apps: readonly AppRecord[];
  readonly instances: readonly InstanceRecord[];
  readonly logins: readonly LoginRecord[];
  readonly tokens: readonly TokenRecord[];
  readonly accounts: readonly AccountRecord[];
  readonly bindings: readonly BindingRecord[];
  readonly tombstones: readonly Tombstone<BindingRecord>[];
  readonly jobs: readonly JobRecord[];
  readonly attempts: readonly Attempt[];
  readonly auditEvents: readonly (readonly [type: string, count: number])[];
}
