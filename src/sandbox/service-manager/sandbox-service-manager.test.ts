import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { seededRandom } from "../../base/random.ts";
import { anyCount, anyMs, defineSandboxBehaviour, passTime } from "../http/behaviour.fixture.ts";
import { AnswerLost } from "../http/exchange.ts";
import { CANARY, type SandboxFixture, sandboxFixture } from "./sandbox.fixture.ts";
import { SandboxServiceManager } from "./sandbox-service-manager.ts";
import type { InstanceSettings, Switches } from "./switches.ts";

const BINDINGS = "/v1/service_bindings";

const anySwitches: fc.Arbitrary<Partial<Switches>> = fc.record(
  {
    outage: fc.constantFrom("none", "unavailable", "unknown-route", "throttled"),
    outageRequests: anyCount,
    outageScope: fc.constantFrom("all", "api", "token"),
    retryAfter: fc.constantFrom("seconds", "http-date", "go-time", "none"),
    createdHiddenMs: anyMs,
    deletedListedMs: anyMs,
    nameRaceMs: anyMs,
    deletedStatus: fc.constantFrom(404, 410),
    operationErrors: fc.constantFrom("object", "array"),
    operationTypeCase: fc.constantFrom("lower", "upper"),
    deleteOperations: fc.constantFrom("kept", "forgotten"),
    operationPollFailures: anyCount,
    patchConflicts: anyCount,
    operationTimeoutMs: anyMs,
  },
  { requiredKeys: [] },
);

const anyInstance: fc.Arbitrary<Partial<InstanceSettings>> = fc.record(
  {
    bindable: fc.boolean(),
    bindingQuota: fc.constantFrom(null, 0, 1, 3),
    broker: fc.constantFrom("synchronous", "asynchronous"),
    brokerLatencyMs: anyMs,
    brokerWorkMs: anyMs,
    brokerFailures: anyCount,
    brokerFailsOn: fc.constantFrom("bind", "unbind", "both"),
    sameCredentials: fc.boolean(),
    parametersRetrievable: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** One step of a client, with references to what earlier steps made. */
type Step =
  | { readonly kind: "create"; readonly name: string; readonly async: string }
  | { readonly kind: "delete"; readonly index: number; readonly async: string }
  | { readonly kind: "rename"; readonly index: number; readonly name: string }
  | { readonly kind: "get" | "poll"; readonly index: number }
  | { readonly kind: "list" }
  | { readonly kind: "leave"; readonly name: string }
  | { readonly kind: "pass"; readonly ms: number };

const name = fc.constantFrom("a", "b");
const index = fc.nat(5);
const async = fc.constantFrom("", "?async=true", "?async=false");
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), name, async }),
  fc.record({ kind: fc.constant("delete" as const), index, async }),
  fc.record({ kind: fc.constant("rename" as const), index, name }),
  fc.record({ kind: fc.constantFrom("get" as const, "poll" as const), index }),
  fc.record({ kind: fc.constant("list" as const) }),
  fc.record({ kind: fc.constant("leave" as const), name }),
  fc.record({ kind: fc.constant("pass" as const), ms: anyMs }),
);

/** Runs the steps without waiting for answers in between, and returns all that could be seen. */
async function run(world: SandboxFixture, steps: readonly Step[], isWatched = false): Promise<unknown> {
  const seen: Promise<unknown>[] = [];
  const locations: string[] = [];
  const ids = (): string[] => world.sandbox.liveBindings().map(({ id }) => id);
  const path = (at: number): string => `/v1/service_bindings/${ids()[at] ?? locations[at]?.split("/")[3] ?? "none"}`;
  const note = (answer: Promise<{ headers: Readonly<Record<string, string>> }>): void => {
    const noted = answer.then(
      (reply) => {
        if (reply.headers.location) locations.push(reply.headers.location);
        return reply;
      },
      (error) => assert.ok(error instanceof AnswerLost),
    );
    seen.push(noted);
  };
  for (const step of steps) {
    if (step.kind === "create") note(world.create(step.name, { query: step.async, labels: { n: [step.name] } }));
    if (step.kind === "delete") note(world.call("DELETE", path(step.index) + step.async));
    if (step.kind === "rename") note(world.call("PATCH", path(step.index), { json: { name: step.name } }));
    if (step.kind === "get") note(world.call("GET", path(step.index)));
    if (step.kind === "poll") note(world.call("GET", locations[step.index] ?? path(step.index)));
    if (step.kind === "list") note(world.list({ attach_last_operations: "true" }));
    if (step.kind === "leave") {
      const leaving = new AbortController();
      note(world.create(step.name, { signal: leaving.signal }));
      leaving.abort();
    }
    if (step.kind === "pass") await passTime(world.clock, step.ms, () => isWatched && ids());
  }
  await world.clock.advance(10_000);
  return { answers: await Promise.all(seen), live: world.sandbox.liveBindings(), log: world.sandbox.requestLog() };
}

const script = fc.record({
  seed: fc.integer(),
  switches: anySwitches,
  instance: anyInstance,
  steps: fc.array(anyStep, { maxLength: 15 }),
});

defineSandboxBehaviour<SandboxFixture, Step>({
  canary: CANARY,
  script,
  create: sandboxFixture,
  run,
  provoke: async (world) => {
    await world.call("GET", `${BINDINGS}/${world.token}`);
    return [
      await world.create("x", { query: `?async=${world.token}`, instanceId: world.token }),
      await world.list({ token: world.token }),
      await world.call("POST", BINDINGS, { json: [world.token], token: world.token }),
    ];
  },
  paths: [
    "/oauth/token",
    BINDINGS,
    `${BINDINGS}/x`,
    `${BINDINGS}/x/parameters`,
    `${BINDINGS}/x/operations/y`,
    "/v1/service_instances",
    "/v1/service_instances/x",
  ],
  queries: {
    names: ["fieldQuery", "labelQuery", "max_items", "token", "async"],
    values: ["name eq 'x'", "true", "1", "ready eq 'x'"],
  },
  headers: { "content-type": ["application/json", "text/plain"] },
  bodies: [
    fc.constant('{"name":"a","service_instance_id":"x"}'),
    fc
      .record({ name: fc.jsonValue(), labels: fc.jsonValue(), parameters: fc.jsonValue() })
      .map((each) => JSON.stringify(each)),
  ],
  statuses: [200, 201, 202, 400, 401, 403, 404, 405, 409, 415, 422, 502],
  assertError: ({ error, description, error_description }) => {
    assert.deepEqual([typeof error, typeof (description ?? error_description)], ["string", "string"]);
  },
});

test("whatever happens: no timer is left, and a ready binding's credentials work", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ steps, ...options }) => {
      const world = await sandboxFixture(options);
      await run(world, steps);
      assert.equal(world.clock.timerCount, 0);
      for (const { isReady, credentialsWork } of world.sandbox.liveBindings()) {
        if (isReady) assert.ok(credentialsWork);
      }
      world.sandbox.controls.resetSwitches();
      const { body } = await world.list({ fieldQuery: "ready eq true", max_items: "200" });
      for (const { credentials } of body.items) assert.ok(world.sandbox.authenticate(credentials));
    }),
    { numRuns: 60 },
  );
});

test("a snapshot goes on where it was, and time has passed meanwhile", async () => {
  const before = await sandboxFixture({
    instance: { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 },
    switches: { deletedListedMs: 60_000 },
  });
  const { headers } = await before.create("a", { query: "?async=true" });
  await before.clock.advance(1100);
  const path = `/v1/service_bindings/${before.sandbox.liveBindings()[0]?.id}`;
  const made = await before.call("GET", path);
  await before.create("b", { query: "?async=true" });
  const waiting = before.create("c", { query: "?async=false" });

  const snapshot = JSON.parse(JSON.stringify(before.sandbox.snapshot()));
  const clock = new ManualClock(before.clock.now() + 50);
  const sandbox = new SandboxServiceManager({ clock, random: seededRandom(2), canary: CANARY, snapshot });
  const call = async (target: string) => {
    const [path = "", query = ""] = target.split("?");
    const headers = { authorization: `Bearer ${before.token}` };
    const { body } = await sandbox.handle({ method: "GET", path, query: new URLSearchParams(query), headers });
    return JSON.parse(body);
  };

  assert.deepEqual(await call(path), made.body);
  assert.ok(sandbox.authenticate(made.body.credentials));
  assert.equal((await call(headers.location ?? "")).state, "succeeded");
  assert.deepEqual(
    sandbox.pendingCreates().map(({ name }) => name),
    ["b", "c"],
  );
  await clock.advance(50);
  assert.equal(sandbox.pendingCreates().length, 0);
  await clock.advance(1000);
  assert.deepEqual(
    sandbox.liveBindings().map(({ name, isReady, credentialsWork }) => ({ name, isReady, credentialsWork })),
    [
      { name: "a", isReady: true, credentialsWork: true },
      { name: "b", isReady: true, credentialsWork: true },
      { name: "c", isReady: false, credentialsWork: true },
    ],
    "whoever waited across the restart has been forsaken",
  );
  await before.clock.advance(1100);
  assert.equal((await waiting).status, 201, "the first world is its own");
});

test("the request log counts by method, pattern, caller and outcome", async () => {
  const world = await sandboxFixture();
  await world.create("a");
  await world.create("a");
  await world.call("GET", "/v1/service_bindings/none");
  await world.call("GET", "/v1/service_bindings/none2");
  await world.call("GET", "/elsewhere", { token: "bad" });
  const [client] = world.sandbox.requestLog();
  const caller = client?.caller ?? "";
  assert.match(caller, /^sb-sandbox-/);
  const pattern = "/v1/service_bindings";
  assert.deepEqual(world.sandbox.requestLog(), [
    { method: "POST", pattern: "/oauth/token", caller, outcome: 200, count: 1 },
    { method: "POST", pattern, caller, outcome: 201, count: 1 },
    { method: "POST", pattern, caller, outcome: 409, count: 1 },
    { method: "GET", pattern: `${pattern}/{id}`, caller, outcome: 404, count: 2 },
    { method: "GET", pattern: "other", caller: "anonymous", outcome: 401, count: 1 },
  ]);
  world.sandbox.clearRequestLog();
  assert.deepEqual(world.sandbox.requestLog(), []);
});
