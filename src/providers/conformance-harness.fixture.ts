import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { settle } from "../base/manual-clock.ts";
import { Redacted } from "../base/redacted.ts";
import type {
  Connection,
  Created,
  CreateRequest,
  Credentials,
  DescribedInstance,
  Marks,
  OutsideKey,
} from "./contract.ts";
import { ProviderError, type ProviderErrorCode } from "./provider-error.ts";

/** What can be made to go wrong outside. Every switch is off in the beginning. */
export type FaultName =
  /** Requests are answered, if at all, by a failure. */
  | "outage"
  /** Something in between answers that there is nothing here. */
  | "routerNotFound"
  /** Requests are never answered. */
  | "silence"
  /** Requests are refused with a pause asked for. */
  | "throttling"
  /** The credentials of the connection lose their rights. */
  | "forbidden"
  /** No key beyond those that exist may be made. */
  | "quota"
  /** Keys are made and removed in the background; both take less than a minute. */
  | "asynchronous"
  /** Making a key fails in the background. Implies `asynchronous`. */
  | "failingCreates"
  /** New keys are missing from lists, and removed ones still in them, for less than a minute. */
  | "eventualConsistency"
  /** Concurrent creates of one name all succeed. */
  | "nameCollision"
  /** The next create has its effect and its answer gets lost. */
  | "lostAnswer"
  /** Every token that was ever given out ends, once. */
  | "expiredTokens";

type Fault =
  | { readonly set: (isOn: boolean) => void | Promise<void> }
  /** Why this system cannot have the fault. */
  | { readonly impossible: string };

/** One connection to one external system, and the hands on that system which no provider has. */
export interface ProviderHarness {
  readonly connection: Connection;
  readonly instanceId: string;
  /** What is known of that instance; or why nothing can be. */
  readonly instance: Omit<DescribedInstance, "id"> | { readonly impossible: string };
  /** Verbs that know the answer without asking anybody: nothing can go wrong with them. */
  readonly asksNobody?: readonly (keyof Connection)[];
  /** The instance gets another name. */
  renameInstance(name: string): void | Promise<void>;
  /** Not the id of any instance, though it looks like one. */
  readonly missingInstanceId: string;
  /** Not the id of any key, though it looks like one. */
  readonly missingKeyId: string;
  /** A key of the instance that somebody else made, with a label or note of theirs on it. */
  readonly foreignKey: { readonly id: string; readonly name: string };
  /** How many keys it takes to need more than one page of a list. */
  readonly moreThanAPage: number;
  readonly faults: Readonly<Record<FaultName, Fault>>;
  /** Stands in every secret: of the connection, of the keys, of parameters. */
  readonly canary: string;
  /** What others put on the foreign key, as the system has it now. */
  foreignLabels(): Promise<unknown>;
  /** The truth: ids of the keys that exist. */
  keysOutside(): Promise<readonly string[]>;
  /** The truth: whether somebody could log in with these now. */
  canLogIn(credentials: Credentials): Promise<boolean>;
  /** Lets time pass, outside and for the provider. */
  advance(byMs: number): Promise<void>;
  stop(): Promise<void>;
}

export type Start = () => Promise<ProviderHarness>;

export const CLUSTER = "0d1f6e7a-0000-4000-8000-000000000001";
export const MINUTE_MS = 60_000;

export const signal: AbortSignal = new AbortController().signal;

export const marksOf = (changes: Partial<Marks> = {}): Marks => ({
  clusterId: CLUSTER,
  ownerUid: "5a4f1a52-0000-4000-8000-000000000001",
  ownerKind: "ServiceBinding",
  ownerName: "orders",
  sequence: 1,
  ...changes,
});

export const requestOf = (harness: ProviderHarness, changes: Partial<CreateRequest> = {}): CreateRequest => ({
  name: "orders-1",
  instanceId: harness.instanceId,
  parameters: new Redacted({ note: `${harness.canary}-parameter` }),
  marks: marksOf(),
  ...changes,
});

export interface MadeKey {
  readonly key: OutsideKey;
  readonly credentials: Credentials;
}

/** A key that is ready, however long the system takes for it. */
export async function makeKey(harness: ProviderHarness, changes: Partial<CreateRequest> = {}): Promise<MadeKey> {
  const created = await harness.connection.create(requestOf(harness, changes), signal);
  if (created.kind === "ready") return created;
  const key = await becomes(harness, created.id, "ready");
  return { key, credentials: await harness.connection.readCredentials(key.id, signal) };
}

export const idOf = (created: Created): string => (created.kind === "ready" ? created.key.id : created.id);

/** Waits, for a bounded time of the harness's, until a key is in a state. */
export async function becomes(harness: ProviderHarness, id: string, state: OutsideKey["state"]): Promise<OutsideKey> {
  let seen: OutsideKey | undefined;
  for (let waited = 0; waited <= 12; waited += 1) {
    seen = await harness.connection.observe(id, signal);
    if (seen?.state === state) return seen;
    await harness.advance(10_000);
  }
  return assert.fail(`the key is ${seen?.state ?? "not there"} after two minutes, not ${state}`);
}

export async function vanishes(harness: ProviderHarness, id: string): Promise<void> {
  for (let waited = 0; waited <= 12; waited += 1) {
    if ((await harness.connection.observe(id, signal)) === undefined) return;
    await harness.advance(10_000);
  }
  assert.fail("the key is still there after two minutes");
}

/** Runs a test in a world of its own, with these faults switched on; skips it where one of them is impossible. */
export function inWorld(
  start: Start,
  faults: readonly FaultName[],
  run: (
    harness: ProviderHarness,
    set: (fault: FaultName, isOn: boolean) => Promise<void>,
    context: TestContext,
  ) => Promise<void>,
): (context: TestContext) => Promise<void> {
  return async (context) => {
    const harness = await start();
    const set = async (name: FaultName, isOn: boolean): Promise<void> => {
      const fault = harness.faults[name];
      if ("set" in fault) await fault.set(isOn);
    };
    try {
      for (const name of faults) {
        const fault = harness.faults[name];
        if ("impossible" in fault) return context.skip(`${name}: ${fault.impossible}`);
      }
      await run(harness, set, context);
    } finally {
      await harness.stop();
    }
  };
}

/** The error of a call, which must be one of ours, without key material, in any form it can be printed in. */
export async function failureOf(harness: ProviderHarness, work: Promise<unknown>): Promise<ProviderError> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) return assert.fail(`it did not fail: ${inspect(outcome.value)}`);
  const { error } = outcome;
  assert.ok(error instanceof ProviderError, `not a ProviderError: ${inspect(error)}`);
  const forms = [
    error.message,
    String(error.stack),
    inspect(error, { depth: 9, showHidden: true }),
    JSON.stringify(error),
  ];
  for (const form of forms) assert.ok(!form.includes(harness.canary), "key material is in the error");
  assert.ok(!error.message.includes("\n") && error.message.length <= 500, "a message is one line");
  return error;
}

export async function failsWith(
  harness: ProviderHarness,
  work: Promise<unknown>,
  codes: readonly ProviderErrorCode[],
  reason?: string,
): Promise<ProviderError> {
  const error = await failureOf(harness, work);
  assert.ok(
    codes.includes(error.code),
    `${reason ?? ""} ${error.code} (${error.message}), expected ${codes.join(" or ")}`,
  );
  return error;
}

/** Every verb that has to ask somebody. */
export const asks = ({ asksNobody = [] }: ProviderHarness, verb: string): boolean =>
  !asksNobody.some((one) => one === verb);

/** Lets a call that is under way get as far as it can without time passing. */
export const underWay = settle;

type Verb = (harness: ProviderHarness, keyId: string, end: AbortSignal) => Promise<unknown>;

/** Every verb, called so that it needs the outside. */
export const VERBS: Readonly<Record<keyof Connection, Verb>> = {
  listMarked: ({ connection }, _keyId, end) => connection.listMarked({ clusterId: CLUSTER }, end),
  findByName: ({ connection, instanceId }, _keyId, end) => connection.findByName(instanceId, "orders-1", end),
  observe: ({ connection }, keyId, end) => connection.observe(keyId, end),
  create: (harness, _keyId, end) => harness.connection.create(requestOf(harness, { name: "orders-2" }), end),
  readCredentials: ({ connection }, keyId, end) => connection.readCredentials(keyId, end),
  delete: ({ connection }, keyId, end) => connection.delete(keyId, end),
  mark: ({ connection }, keyId, end) => connection.mark(keyId, marksOf({ sequence: 7 }), end),
  observeInstance: ({ connection, instanceId }, _keyId, end) => connection.observeInstance(instanceId, end),
  describeInstance: ({ connection, instanceId }, _keyId, end) => connection.describeInstance(instanceId, end),
};
