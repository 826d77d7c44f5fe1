import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { seededRandom } from "../../base/random.ts";
import { anyCount, anyMs, defineSandboxBehaviour, passTime } from "../http/behaviour.fixture.ts";
import { AnswerLost, type SandboxRequest } from "../http/exchange.ts";
import { CANARY, type Foundation, foundation } from "./foundation.fixture.ts";
import { SandboxCloudFoundry } from "./sandbox-cloud-foundry.ts";
import type { InstanceSettings, Switches } from "./switches.ts";

const BINDINGS = "/v3/service_credential_bindings";

const anySwitches: fc.Arbitrary<Partial<Switches>> = fc.record(
  {
    outage: fc.constantFrom("none", "unavailable", "server-error", "bad-gateway", "unknown-route", "throttled"),
    outageRequests: anyCount,
    outageScope: fc.constantFrom("all", "api", "token"),
    retryAfter: fc.constantFrom("seconds", "epoch", "none"),
    rateLimit: fc.constantFrom(null, 1, 5),
    createdHiddenMs: anyMs,
    deletedListedMs: anyMs,
    jobQueueMs: anyMs,
    jobMemoryMs: anyMs,
    jobLookFailures: anyCount,
    missingCode: fc.constantFrom(10010, 90004),
    metadataInCreate: fc.constantFrom("accepted", "refused"),
  },
  { requiredKeys: [] },
);

const anyInstance: fc.Arbitrary<Partial<InstanceSettings>> = fc.record(
  {
    bindable: fc.boolean(),
    isBusy: fc.boolean(),
    broker: fc.constantFrom("synchronous", "asynchronous"),
    brokerLatencyMs: anyMs,
    brokerWorkMs: anyMs,
    brokerFailures: anyCount,
    brokerFailsOn: fc.constantFrom("bind", "unbind", "both"),
    sameCredentials: fc.boolean(),
    credentials: fc.constantFrom("flat", "nested"),
  },
  { requiredKeys: [] },
);

/** One step of a client, with references to what earlier steps made. */
type Step =
  | { readonly kind: "create"; readonly name: string }
  | { readonly kind: "patch" | "get" | "details" | "delete" | "job"; readonly index: number }
  | { readonly kind: "list" }
  | { readonly kind: "pass"; readonly ms: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), name: fc.constantFrom("a", "b") }),
  fc.record({
    kind: fc.constantFrom("patch" as const, "get" as const, "details" as const, "delete" as const, "job" as const),
    index: fc.nat(3),
  }),
  fc.record({ kind: fc.constant("list" as const) }),
  fc.record({ kind: fc.constant("pass" as const), ms: anyMs }),
);

/** Runs the steps and returns all that could be seen. */
async function run(world: Foundation, steps: readonly Step[], isWatched = false): Promise<unknown> {
  const seen: unknown[] = [];
  const jobs: string[] = [];
  const ids = (): string[] => world.sandbox.liveKeys().map(({ id }) => id);
  const note = async (answer: ReturnType<Foundation["call"]>): Promise<void> => {
    const reply = await answer;
    seen.push(reply);
    if (reply.headers.location) jobs.push(reply.headers.location);
  };
  for (const step of steps) {
    const path = "index" in step ? `${BINDINGS}/${ids()[step.index] ?? "none"}` : "";
    if (step.kind === "create") await note(world.create(step.name, { metadata: { labels: { n: step.name } } }));
    if (step.kind === "patch") {
      await note(world.call("PATCH", path, { json: { metadata: { labels: { n: "z" } } } }));
    }
    if (step.kind === "get") await note(world.call("GET", path));
    if (step.kind === "details") await note(world.call("GET", `${path}/details`));
    if (step.kind === "delete") await note(world.call("DELETE", path));
    if (step.kind === "job") await note(world.call("GET", jobs[step.index] ?? "/v3/jobs/none"));
    if (step.kind === "list") await note(world.list({ label_selector: "n" }));
    if (step.kind === "pass") await passTime(world.clock, step.ms, () => isWatched && ids());
  }
  await world.clock.advance(10_000);
  return { seen, live: world.sandbox.liveKeys(), log: world.sandbox.requestLog() };
}

const script = fc.record({
  seed: fc.integer(),
  switches: anySwitches,
  instance: anyInstance,
  steps: fc.array(anyStep, { maxLength: 15 }),
});

defineSandboxBehaviour<Foundation, Step>({
  canary: CANARY,
  script,
  create: foundation,
  run,
  provoke: async (world) => {
    await world.call("GET", `${BINDINGS}/${world.token}`);
    await world.logIn({ grant_type: "password", username: world.token, password: world.token });
    return [
      await world.call("POST", BINDINGS, { json: [world.token] }),
      await world.create(world.token, { parameters: world.token }),
    ];
  },
  paths: [
    "/",
    "/uaa/oauth/token",
    BINDINGS,
    `${BINDINGS}/x`,
    `${BINDINGS}/x/details`,
    `${BINDINGS}/x/parameters`,
    "/v3/jobs/x",
    "/v3/service_instances",
    "/v3/service_instances/x",
    "/v3/spaces",
    "/v3/apps/x",
    "/sandbox/logins",
  ],
  queries: {
    names: ["names", "guids", "label_selector", "page", "per_page", "order_by"],
    values: ["a,b", "a in (b,c)", "1", "-name", "%"],
  },
  headers: {},
  bodies: [
    fc.constant("grant_type=password&username=a&password=b"),
    fc
      .record({ name: fc.jsonValue(), metadata: fc.jsonValue(), parameters: fc.jsonValue() })
      .map((each) =>
        JSON.stringify({ ...each, type: "key", relationships: { service_instance: { data: { guid: "x" } } } }),
      ),
    fc.record({ labels: fc.jsonValue(), annotations: fc.jsonValue() }).map((metadata) => JSON.stringify({ metadata })),
  ],
  statuses: [200, 202, 400, 401, 404, 422, 502],
  assertError: ({ error, errors }) => {
    assert.ok(typeof error === "string" || (Array.isArray(errors) && typeof errors[0].code === "number"));
  },
});

test("whatever happens: no timer is left, every job has ended, and a key that was made works until it is gone", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ steps, ...options }) => {
      const world = await foundation(options);
      await run(world, steps);
      assert.equal(world.clock.timerCount, 0);
      assert.ok(world.sandbox.isAtRest);
      for (const { state } of world.sandbox.snapshot().jobs) assert.match(state, /^(COMPLETE|FAILED)$/);
      world.sandbox.controls.resetSwitches();
      for (const { id, lastOperation, credentialsWork } of world.sandbox.liveKeys()) {
        assert.match(lastOperation.state, /^(succeeded|failed)$/);
        if (lastOperation.type !== "create" || lastOperation.state === "failed") continue;
        assert.ok(credentialsWork);
        assert.ok(world.sandbox.authenticate((await world.get(id, "/details")).body.credentials));
      }
    }),
    { numRuns: 60 },
  );
});

test("a snapshot goes on where it was, and time has passed meanwhile", async () => {
  const before = await foundation({
    instance: { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 },
    switches: { deletedListedMs: 60_000 },
  });
  await before.create("a", { metadata: { labels: { n: "1" } } });
  await before.clock.advance(1100);
  const id = before.sandbox.liveKeys()[0]?.id ?? "";
  const { credentials } = (await before.get(id, "/details")).body;
  const { headers } = await before.create("b");
  const snapshot = JSON.parse(JSON.stringify(before.sandbox.snapshot()));
  const clock = new ManualClock(before.clock.now() + 50);
  const sandbox = new SandboxCloudFoundry({ clock, random: seededRandom(2), canary: CANARY, snapshot });
  const call = async (target: string) => {
    const [path = "", query = ""] = target.replace(/^http:\/\/[^/]+/, "").split("?");
    const authorization = { authorization: `Bearer ${before.token}` };
    return JSON.parse(
      (await sandbox.handle({ method: "GET", path, query: new URLSearchParams(query), headers: authorization })).body,
    );
  };
  assert.ok(sandbox.authenticate(credentials));
  assert.equal((await call(`${BINDINGS}?label_selector=n%3D1`)).resources[0].guid, id);
  assert.deepEqual(sandbox.auditEvents(), [{ type: "audit.service_key.show", count: 1 }]);
  assert.equal((await call(headers.location ?? "")).state, "PROCESSING");
  await clock.advance(50);
  assert.equal((await call(headers.location ?? "")).state, "POLLING");
  await clock.advance(1000);
  assert.equal((await call(headers.location ?? "")).state, "COMPLETE");
  assert.equal(sandbox.controls.spaces().length, 1);
  assert.equal(before.sandbox.liveKeys()[1]?.lastOperation.state, "initial", "the first world is its own");
});

test("the request log counts by method, pattern, login and outcome; a token request is that of the login it names", async () => {
  const world = await foundation();
  await world.create("a");
  await world.create("a");
  await world.get("none");
  await world.get("none2");
  await world.call("GET", "/elsewhere", { token: "bad" });
  const caller = world.user.username;
  assert.deepEqual(world.sandbox.requestLog(), [
    { method: "POST", pattern: "/uaa/oauth/token", caller, outcome: 200, count: 1 },
    { method: "POST", pattern: BINDINGS, caller, outcome: 202, count: 1 },
    { method: "POST", pattern: BINDINGS, caller, outcome: 422, count: 1 },
    { method: "GET", pattern: `${BINDINGS}/{guid}`, caller, outcome: 404, count: 2 },
    { method: "GET", pattern: "other", caller: "anonymous", outcome: 401, count: 1 },
  ]);
  world.sandbox.clearRequestLog();
  assert.deepEqual(world.sandbox.requestLog(), []);
});

test("a request whose client has gone already is not answered, and has no effect", async () => {
  const world = await foundation();
  const signal = AbortSignal.abort();
  await assert.rejects(world.call("DELETE", `${BINDINGS}/x`, { signal }), AnswerLost);
  assert.equal(world.sandbox.requestLog().length, 1, "only the log-in");
});

test("links name the address that a request was sent to, and TLS where it came over TLS", async () => {
  const { sandbox } = await foundation();
  const uaaFor = async (changes: Partial<SandboxRequest>): Promise<string> => {
    const { body } = await sandbox.handle({
      method: "GET",
      path: "/",
      query: new URLSearchParams(),
      headers: {},
      ...changes,
    });
    return JSON.parse(body).links.uaa.href;
  };
  assert.equal(await uaaFor({ headers: { host: "127.0.0.1:7" } }), "http://127.0.0.1:7/uaa");
  assert.equal(await uaaFor({ headers: { host: "127.0.0.1:7" }, isSecure: true }), "https://127.0.0.1:7/uaa");
  assert.equal(await uaaFor({}), "http://api.sandbox.internal/uaa");
});
