import type { AccountCredentials, AccountRecord } from "../ground/account-store.ts";
import type { GroundSnapshot } from "../ground/ground.ts";
import type { Tombstone } from "../ground/record-store.ts";
import type { JsonObject } from "../http/exchange.ts";
import type { Problem } from "./exchange.ts";
import type { InstanceSettings, Switches } from "./switches.ts";

/**
 * What the sandbox remembers, as plain data that survives a trip through JSON. Instants that end in `Tick` are on the
 * sandbox's own clock, which never jumps; those that end in `At` are wall-clock times that answers show.
 */
export type Labels = Readonly<Record<string, readonly string[]>>;

export interface OperationRecord {
  readonly id: string;
  readonly type: "create" | "update" | "delete";
  readonly resourceId: string;
  readonly correlationId: string;
  readonly startedAt: number;
  readonly startedTick: number;
  state: "pending" | "in progress" | "succeeded" | "failed";
  updatedAt: number;
  problem?: Problem;
  /** Nobody works on it any more, and nobody has noticed: it reads as it stands until then, then as failed. */
  abandonedUntilTick?: number;
}

export interface BindingRecord {
  readonly id: string;
  /** Its place in lists. */
  readonly sequence: number;
  readonly instanceId: string;
  readonly parameters: JsonObject;
  readonly context: JsonObject;
  readonly createdAt: number;
  /** When its create began. */
  readonly startedTick: number;
  readonly listedFromTick: number;
  name: string;
  labels: Labels;
  updatedAt: number;
  ready: boolean;
  credentials?: AccountCredentials;
  lastOperation: OperationRecord;
}

export interface InstanceRecord extends InstanceSettings {
  readonly id: string;
  readonly sequence: number;
  readonly createdAt: number;
}

/** `wait`: answers when all is done. `follow`: when the broker has answered. `background`: has answered already. */
export type Mode = "wait" | "follow" | "background";

interface AttemptBase {
  readonly operationId: string;
  readonly bindingId: string;
  readonly instanceId: string;
  readonly mode: Mode;
  /** `broker`: its answer is awaited. `work`: it said 202 and is at it. */
  stage: "broker" | "work";
  /** When the stage ends. */
  dueTick: number;
  outcome?: { readonly kind: "succeeded" } | { readonly kind: "failed"; readonly problem: Problem };
}

export interface CreateAttempt extends AttemptBase {
  readonly kind: "create";
  readonly name: string;
  readonly labels: Labels;
  readonly parameters: JsonObject;
  readonly startedTick: number;
  /** The client that waited for it is gone. */
  isForsaken: boolean;
}

export interface DeleteAttempt extends AttemptBase {
  readonly kind: "delete";
}

/** A create or delete on its way through the broker. */
export type Attempt = CreateAttempt | DeleteAttempt;

export type ClientPlan = "subaccount-admin" | "service-operator-access";

export interface ClientRecord {
  readonly id: string;
  readonly xsappname: string;
  plan: ClientPlan;
  /** The secret, or the certificate that takes its place. */
  readonly proof: { readonly secret: string } | { readonly certificate: string };
}

export interface TokenRecord {
  readonly token: string;
  readonly clientId: string;
  readonly expiresTick: number;
}

/** Everything, key material included: whoever keeps it keeps it as privately as the credentials themselves. */
export interface SandboxSnapshot extends GroundSnapshot {
  readonly version: 1;
  readonly switches: Switches;
  readonly clients: readonly ClientRecord[];
  readonly tokens: readonly TokenRecord[];
  readonly instances: readonly InstanceRecord[];
  readonly accounts: readonly AccountRecord[];
  readonly bindings: readonly BindingRecord[];
  readonly tombstones: readonly Tombstone<BindingRecord>[];
  readonly operations: readonly OperationRecord[];
  readonly deleted: readonly (readonly [id: string, tick: number])[];
  readonly attempts: readonly Attempt[];
}
