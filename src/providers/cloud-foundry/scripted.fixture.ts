import assert from "node:assert/strict";
import { inspect } from "node:util";
import { ManualClock } from "../../base/manual-clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { Connection, CreateRequest, Marks } from "../contract.ts";
import { ProviderError, type ProviderErrorCode } from "../provider-error.ts";
import { type ScriptedAnswer, ScriptedHttp, type ScriptedStep } from "../rest/scripted-http.fixture.ts";
import { type CloudFoundryOptions, connectCloudFoundry } from "./cloud-foundry.ts";
import { type CredentialsSource, parseCloudFoundryCredentials } from "./credentials.ts";
import { encodeMarks } from "./marks.ts";

export const signal: AbortSignal = new AbortController().signal;

export const marks: Marks = { clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "orders", sequence: 4 };

export const request: CreateRequest = {
  name: "orders-x1",
  instanceId: "i1",
  parameters: new Redacted({ password: "parameter-canary" }),
  marks,
};

/** A key as Cloud Foundry shows it. */
export const shown = {
  guid: "k1",
  name: "orders-x1",
  type: "key",
  created_at: "2026-01-01T00:00:00Z",
  last_operation: { type: "create", state: "succeeded" },
  metadata: encodeMarks(marks),
  relationships: { service_instance: { data: { guid: "i1" } } },
};
export const instance = {
  guid: "i1",
  name: "orders-db",
  type: "managed",
  relationships: { space: { data: { guid: "s1" } }, service_plan: { data: { guid: "p1" } } },
};

export const page = (resources: readonly unknown[], more: object = {}): ScriptedAnswer => ({
  status: 200,
  body: { pagination: { total_results: resources.length, total_pages: 1 }, resources, ...more },
});
export const ok = (body: unknown): ScriptedAnswer => ({ status: 200, body });
export const problem = (status: number, code: number, detail = "a detail-canary"): ScriptedAnswer => ({
  status,
  body: { errors: [{ code, title: "CF-Title", detail }] },
});
export const notFound: ScriptedAnswer = problem(404, 10010);
export const accepted: ScriptedAnswer = {
  status: 202,
  headers: { location: "https://api.example/v3/jobs/j1" },
  body: "",
};
export const job = (state: string, link = "k1"): ScriptedAnswer => ok({ guid: "j1", state, links: linkTo(link) });

const linkTo = (guid: string) => ({
  service_credential_binding: { href: `https://api.example/v3/service_credential_bindings/${guid}` },
});

export interface ScriptedWorld {
  readonly connection: Connection;
  readonly http: ScriptedHttp;
  readonly clock: ManualClock;
  /** What was asked for, without log-ins. */
  asked(): readonly string[];
}

export interface ScriptedOptions extends Partial<CloudFoundryOptions> {
  readonly secret?: Readonly<Record<string, string>>;
  readonly source?: CredentialsSource;
  readonly tokenSteps?: readonly ScriptedStep[];
  readonly discoverySteps?: readonly ScriptedStep[];
}

export function connect(steps: readonly ScriptedStep[], options: ScriptedOptions = {}): ScriptedWorld {
  const { secret = { username: "me", password: "password-canary" }, source, tokenSteps, discoverySteps } = options;
  const clock = new ManualClock();
  const http = new ScriptedHttp(steps, tokenSteps, discoverySteps);
  const credentials = parseCloudFoundryCredentials(new Redacted(secret), { apiUrl: "https://api.example", ...source });
  const connection = connectCloudFoundry({ credentials, http, clock, ...options });
  const asked = () => http.requests.map(({ method, url }) => `${method} ${url.pathname.replace("/v3/", "")}`);
  return { connection, http, clock, asked };
}

/** The error of a call, with nothing secret in any form it can be printed in. */
export async function failure(work: Promise<unknown>): Promise<ProviderError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ProviderError, `not a ProviderError: ${inspect(error)}`);
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
    assert.ok(!error.message.includes("\n") && error.message.length < 300, error.message);
    return error;
  }
  return assert.fail("it did not fail");
}

export const rejects = async (work: Promise<unknown>, code: ProviderErrorCode, reason?: string): Promise<void> =>
  assert.equal((await failure(work)).code, code, reason);

export const verbs: Readonly<Record<string, (connection: Connection, end?: AbortSignal) => Promise<unknown>>> = {
  listMarked: (connection, end = signal) => connection.listMarked({ clusterId: "c" }, end),
  findByName: (connection, end = signal) => connection.findByName("i1", "orders-x1", end),
  observe: (connection, end = signal) => connection.observe("k1", end),
  create: (connection, end = signal) => connection.create(request, end),
  readCredentials: (connection, end = signal) => connection.readCredentials("k1", end),
  delete: (connection, end = signal) => connection.delete("k1", end),
  mark: (connection, end = signal) => connection.mark("k1", marks, end),
  observeInstance: (connection, end = signal) => connection.observeInstance("i1", end),
  describeInstance: (connection, end = signal) => connection.describeInstance("i1", end),
};
