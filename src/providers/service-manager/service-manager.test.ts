import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { Connection, CreateRequest, Marks } from "../contract.ts";
import { ProviderError, type ProviderErrorCode } from "../provider-error.ts";
import { ScriptedHttp, type ScriptedStep } from "../rest/scripted-http.fixture.ts";
import { parseServiceManagerCredentials } from "./credentials.ts";
import { encodeMarks } from "./marks.ts";
import { connectServiceManager } from "./service-manager.ts";

const signal = new AbortController().signal;
const marks: Marks = { clusterId: "c", ownerUid: "u", ownerKind: "ServiceBinding", ownerName: "orders", sequence: 4 };
const request: CreateRequest = {
  name: "orders-x1",
  instanceId: "i1",
  parameters: new Redacted({ password: "parameter-canary" }),
  marks,
};
const binding = {
  id: "b1",
  name: "orders-x1",
  service_instance_id: "i1",
  ready: true,
  created_at: "2026-01-01T00:00:00Z",
  labels: encodeMarks(marks),
  credentials: { user: "u", password: "credential-canary" },
};
const problem = (error: string) => ({ error, description: "what the service says, with a description-canary" });
const notFound = { status: 404, body: problem("NotFound") };
const location = { location: "/v1/service_bindings/b1/operations/o1" };

interface World {
  readonly connection: Connection;
  readonly http: ScriptedHttp;
  readonly clock: ManualClock;
}

function connect(steps: readonly ScriptedStep[], tokenSteps: readonly ScriptedStep[] = []): World {
  const clock = new ManualClock();
  const http = new ScriptedHttp(steps, tokenSteps);
  const secret = {
    clientid: "me",
    clientsecret: "secret-canary",
    url: "https://auth.example",
    sm_url: "https://sm.example",
  };
  const credentials = parseServiceManagerCredentials(new Redacted(secret));
  return { connection: connectServiceManager({ credentials, http, clock }), http, clock };
}

async function failure(work: Promise<unknown>): Promise<ProviderError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ProviderError, `not a ProviderError: ${inspect(error)}`);
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
    return error;
  }
  return assert.fail("it did not fail");
}

const rejects = async (work: Promise<unknown>, code: ProviderErrorCode, reason?: string): Promise<void> =>
  assert.equal((await failure(work)).code, code, reason);

const verbs: Readonly<Record<string, (connection: Connection, signal: AbortSignal) => Promise<unknown>>> = {
  listMarked: (connection, end) => connection.listMarked({ clusterId: "c" }, end),
  findByName: (connection, end) => connection.findByName("i1", "n", end),
  observe: (connection, end) => connection.observe("b1", end),
  create: (connection, end) => connection.create(request, end),
  readCredentials: (connection, end) => connection.readCredentials("b1", end),
  delete: (connection, end) => connection.delete("b1", end),
  mark: (connection, end) => connection.mark("b1", marks, end),
  observeInstance: (connection, end) => connection.observeInstance("i1", end),
  describeInstance: (connection, end) => connection.describeInstance("i1", end),
};

test("a create is one request that carries name, instance, parameters and marks, and gives the credentials", async () => {
  const { connection, http } = connect([{ status: 201, body: binding }]);
  const created = await connection.create(request, signal);
  assert.equal(created.kind, "ready");
  assert.deepEqual(created.kind === "ready" && created.credentials.reveal(), binding.credentials);
  assert.deepEqual(created.kind === "ready" && created.key, {
    id: "b1",
    name: "orders-x1",
    instanceId: "i1",
    createdAt: Date.UTC(2026, 0, 1),
    state: "ready",
    marks,
  });
  const [sent] = http.requests;
  assert.equal(http.requests.length, 1);
  assert.equal(`${sent?.method} ${sent?.path}`, "POST /v1/service_bindings");
  assert.equal(sent?.headers.authorization, "Bearer token-canary-1");
  assert.deepEqual(JSON.parse(sent?.body ?? ""), {
    name: "orders-x1",
    service_instance_id: "i1",
    parameters: { password: "parameter-canary" },
    labels: encodeMarks(marks),
  });
});

test("a created binding that cannot be used yet is accepted, never published half", async () => {
  for (const misfit of [{ ready: false }, { credentials: {} }, { credentials: undefined }, { credentials: ["x"] }]) {
    const { connection } = connect([{ status: 201, body: { ...binding, ...misfit } }]);
    assert.deepEqual(await connection.create(request, signal), { kind: "accepted", id: "b1" }, inspect(misfit));
  }
});

test("an accepted create tells the id at once, and the operation is trusted while the binding is a 404", async () => {
  const operation = (state: string) => ({
    status: 200,
    body: { type: "create", state, updated_at: "2026-01-01T00:00:00Z" },
  });
  const { connection, http } = connect([
    { status: 202, headers: location, body: {} },
    notFound,
    operation("in progress"),
    notFound,
    operation("succeeded"),
    { status: 200, body: binding },
  ]);
  assert.deepEqual(await connection.create(request, signal), { kind: "accepted", id: "b1" });
  const key = { id: "b1", name: "orders-x1", instanceId: "i1", marks };
  assert.deepEqual(await connection.observe("b1", signal), { ...key, state: "creating" });
  assert.deepEqual(await connection.observe("b1", signal), { ...key, state: "creating" }, "done, not visible yet");
  assert.equal((await connection.observe("b1", signal))?.state, "ready");
  assert.equal(http.requests[2]?.path, "/v1/service_bindings/b1/operations/o1");
});

test("an operation is not trusted for ever", async () => {
  const { connection, clock } = connect([{ status: 202, headers: location, body: {} }, notFound, notFound]);
  await connection.create(request, signal);
  await clock.advance(3_600_000);
  assert.equal(await connection.observe("b1", signal), undefined);
  assert.equal(await connection.delete("b1", signal), "gone");
});

test("an operation that is done long since does not hide that its binding is gone", async () => {
  const done = { status: 200, body: { type: "create", state: "succeeded", updated_at: "2026-01-01T00:00:00Z" } };
  const { connection, clock } = connect([{ status: 202, headers: location, body: {} }, notFound, done]);
  await connection.create(request, signal);
  await clock.advance(120_000);
  assert.equal(await connection.observe("b1", signal), undefined);
});

test("a failed create is a failed key, with and without a binding left behind", async () => {
  const failed = { status: 200, body: { type: "create", state: "failed", errors: [{ error: "Conflict" }] } };
  for (const left of [notFound, { status: 200, body: { ...binding, ready: false, credentials: undefined } }]) {
    const { connection } = connect([{ status: 202, headers: location, body: {} }, left, failed, left, failed]);
    await connection.create(request, signal);
    for (const _ of [1, 2]) assert.equal((await connection.observe("b1", signal))?.state, "failed");
  }
});

test("a key whose create is under way is not called gone", async () => {
  const underWay = { status: 200, body: { type: "create", state: "in progress" } };
  const failed = { status: 200, body: { type: "create", state: "failed" } };
  const { connection } = connect([{ status: 202, headers: location, body: {} }, notFound, underWay, notFound, failed]);
  await connection.create(request, signal);
  await rejects(connection.delete("b1", signal), "ProviderBusy");
  assert.equal(await connection.delete("b1", signal), "gone", "a failed one is");
});

test("a delete is one request; gone and accepted are told apart", async () => {
  const table = [
    [{ status: 200, body: {} }, "gone", "done"],
    [{ status: 202, headers: location, body: {} }, "accepted", "under way"],
    [notFound, "gone", "was not there"],
    [{ status: 410, body: {} }, "gone", "had been there"],
  ] as const;
  for (const [answer, expected, reason] of table) {
    const { connection, http } = connect([answer]);
    assert.equal(await connection.delete("b1", signal), expected, reason);
    assert.equal(http.requests.length, 1);
    assert.equal(`${http.requests[0]?.method} ${http.requests[0]?.path}`, "DELETE /v1/service_bindings/b1");
  }
});

test("a delete under way is observed until the binding is gone; a failed one leaves the key", async () => {
  const { labels: _, ...seen } = binding;
  const operation = (state: string) => ({ status: 200, body: { type: "delete", state } });
  const { connection } = connect([
    { status: 202, headers: location, body: {} },
    { status: 200, body: seen },
    operation("in progress"),
    { status: 200, body: seen },
    notFound,
    { status: 200, body: seen },
    operation("failed"),
    notFound,
  ]);
  await connection.delete("b1", signal);
  assert.equal((await connection.observe("b1", signal))?.state, "deleting");
  assert.equal((await connection.observe("b1", signal))?.state, "deleting", "operation forgotten, binding still shown");
  assert.equal((await connection.observe("b1", signal))?.state, "ready", "the delete failed");
  assert.equal(await connection.observe("b1", signal), undefined);
});

test("lists are read to their end, 200 a page, and the token is encoded", async () => {
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...binding, id: `b${from + index}` }));
  const { connection, http } = connect([
    { status: 200, body: { num_items: 250, items: page(0, 200), token: "a+b/c=&d" } },
    { status: 200, body: { num_items: 250, items: [...page(199, 1), ...page(200, 50)] } },
  ]);
  const keys = await connection.listMarked({ clusterId: "c" }, signal);
  assert.equal(keys.length, 250);
  assert.equal(new Set(keys.map(({ id }) => id)).size, 250);
  const [first, second] = http.requests;
  assert.equal(
    first?.path,
    "/v1/service_bindings?labelQuery=keyturn_cluster%20eq%20'c'&max_items=200&attach_last_operations=true",
  );
  assert.ok(second?.path.endsWith("&token=a%2Bb%2Fc%3D%26d"), second?.path);
});

test("a list that is not whole is an error, never a short list", async () => {
  const bodies: readonly (readonly [body: unknown, reason: string])[] = [
    [{ num_items: 2, items: [binding] }, "fewer items than announced"],
    [{ num_items: 1, items: [{ ...binding, id: undefined }] }, "an item without an id"],
    [{ num_items: 1 }, "no items"],
    [{}, "an empty object"],
    [[], "a list"],
    ["", "an empty body"],
    [JSON.stringify({ num_items: 1, items: [binding] }).slice(0, -9), "a body that breaks off"],
    ["<html>canary</html>", "a page of a proxy"],
  ];
  for (const [body, reason] of bodies) {
    const { connection } = connect([
      { status: 200, body },
      { status: 200, body },
    ]);
    await rejects(connection.listMarked({ clusterId: "c" }, signal), "ProviderUnavailable", reason);
  }
});

test("a list whose tokens lead in a circle is given up", async () => {
  const step = { status: 200, body: { num_items: 1, items: [binding], token: "same" } };
  const { connection, http } = connect(Array.from({ length: 10 }, () => step));
  await rejects(connection.listMarked({ clusterId: "c" }, signal), "ProviderUnavailable");
  assert.equal(http.requests.length, 2);
});

test("a name is looked for exactly; every binding under it counts, nobody else's does", async () => {
  const named = (id: string, fields = {}) => ({ ...binding, id, name: "it's", ...fields });
  const items = [named("b1"), named("b2"), named("b3", { name: "its" }), named("b4", { service_instance_id: "i2" })];
  const { connection, http } = connect([{ status: 200, body: { num_items: 4, items } }]);
  const keys = await connection.findByName("i1", "it's", signal);
  assert.deepEqual(
    keys.map(({ id }) => id),
    ["b1", "b2"],
  );
  assert.equal(http.requests[0]?.url.searchParams.get("fieldQuery"), "name eq 'it''s' and service_instance_id eq 'i1'");
});

test("a name that cannot be asked for is looked for among all of the instance", async () => {
  const items = [
    { ...binding, name: "back\\slash" },
    { ...binding, id: "b2" },
  ];
  const { connection, http } = connect([{ status: 200, body: { num_items: 2, items } }]);
  assert.equal((await connection.findByName("i1", "back\\slash", signal)).length, 1);
  assert.equal(http.requests[0]?.url.searchParams.get("fieldQuery"), "service_instance_id eq 'i1'");
});

test("credentials are given again, whole or not at all", async () => {
  const { connection } = connect([{ status: 200, body: binding }]);
  assert.deepEqual((await connection.readCredentials("b1", signal)).reveal(), binding.credentials);
  const table: readonly (readonly [step: ScriptedStep, code: ProviderErrorCode, reason: string])[] = [
    [{ status: 200, body: { ...binding, credentials: {} } }, "CredentialsUnavailable", "empty"],
    [{ status: 200, body: { ...binding, credentials: "text" } }, "CredentialsUnavailable", "not an object"],
    [{ status: 200, body: { ...binding, ready: false } }, "ProviderBusy", "still being made"],
    [notFound, "ProviderUnavailable", "not there"],
  ];
  for (const [step, code, reason] of table) {
    await rejects(connect([step]).connection.readCredentials("b1", signal), code, reason);
  }
});

test("marks are put on in one call, changed in two, left alone when they are there, and others' labels stay", async () => {
  const bare = { ...binding, labels: { theirs: ["x"] } };
  const other = { ...binding, labels: encodeMarks({ ...marks, ownerUid: "old", sequence: 2 }) };
  const table = [
    [bare, marks, ["add"], "unmarked"],
    [other, marks, ["add", "remove"], "another owner's marks"],
    [binding, marks, [], "already there"],
    [binding, undefined, ["remove"], "taken off"],
    [bare, undefined, [], "nothing to take off"],
  ] as const;
  for (const [before, wanted, expected, reason] of table) {
    const { connection, http } = connect([
      { status: 200, body: before },
      ...expected.map(() => ({ status: 200, body: before })),
    ]);
    await connection.mark("b1", wanted, signal);
    const changes = http.requests.slice(1).map(({ method, body }) => {
      assert.equal(method, "PATCH");
      const { labels } = JSON.parse(body ?? "") as { labels: { op: string; key: string }[] };
      assert.ok(
        labels.every(({ key }) => key.startsWith("keyturn_")),
        reason,
      );
      return [...new Set(labels.map(({ op }) => op))].join();
    });
    assert.deepEqual(changes, expected, reason);
  }
  await connect([notFound]).connection.mark("b1", undefined, signal);
  await rejects(connect([notFound]).connection.mark("b1", marks, signal), "ProviderRefused");
});

test("an instance is gone only when the service says so and something beside it can be read", async () => {
  const list = { status: 200, body: { num_items: 700, items: [binding], token: "more" } };
  const table: readonly (readonly [steps: readonly ScriptedStep[], expected: string, reason: string])[] = [
    [[{ status: 200, body: { id: "i1" } }], "present", "there"],
    [[notFound, list], "gone", "not there, and a list can be read"],
  ];
  for (const [steps, expected, reason] of table) {
    const { connection, http } = connect(steps);
    assert.equal(await connection.observeInstance("i1", signal), expected, reason);
    assert.equal(http.stepsLeft, 0);
  }
  await rejects(
    connect([notFound, { status: 403, body: problem("Forbidden") }]).connection.observeInstance("i1", signal),
    "ProviderForbidden",
  );
  await rejects(
    connect([{ status: 200, body: { id: "i2" } }]).connection.observeInstance("i1", signal),
    "ProviderUnavailable",
  );
  await rejects(connect([]).connection.observeInstance("../service_bindings", signal), "ProviderRefused");
});

const catalog = {
  instance: { status: 200, body: { id: "i1", name: "orders-db", service_plan_id: "p1" } },
  plan: { status: 200, body: { id: "p1", name: "small-2", catalog_name: "small", service_offering_id: "o1" } },
  offering: { status: 200, body: { id: "o1", name: "postgresql-db", catalog_name: "postgresql", tags: ["sql", 7] } },
} as const;

test("an instance is described in the broker's words; its plan and offering are read once, its name every time", async () => {
  const renamed = { status: 200, body: { ...catalog.instance.body, name: "orders" } };
  const { connection, http } = connect([catalog.instance, catalog.plan, catalog.offering, renamed]);
  const described = { id: "i1", name: "orders-db", offering: "postgresql", plan: "small", tags: ["sql"] };
  assert.deepEqual(await connection.describeInstance("i1", signal), described);
  assert.deepEqual(await connection.describeInstance("i1", signal), { ...described, name: "orders" });
  const paths = http.requests.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(paths, [
    "GET /v1/service_instances/i1",
    "GET /v1/service_plans/p1",
    "GET /v1/service_offerings/o1",
    "GET /v1/service_instances/i1",
  ]);
});

test("an instance that is not there is undefined; a description that is not whole is an error, and is not kept", async () => {
  assert.equal(await connect([notFound]).connection.describeInstance("i1", signal), undefined);
  const { instance, plan, offering } = catalog;
  const without = (answer: { readonly body: object }, key: string) => ({
    status: 200,
    body: { ...answer.body, [key]: undefined },
  });
  const table: readonly (readonly [steps: readonly ScriptedStep[], reason: string])[] = [
    [[without(instance, "name")], "an instance without a name"],
    [[without(instance, "service_plan_id")], "an instance without a plan"],
    [[instance, notFound], "a plan that is not there"],
    [[instance, { status: 200, body: { ...plan.body, id: "p2" } }], "another plan"],
    [[instance, without(plan, "service_offering_id")], "a plan of nothing"],
    [[instance, plan, without(offering, "id")], "something without an id"],
    [[instance, plan, { status: 200, body: { id: "o1" } }], "an offering without a name"],
  ];
  for (const [steps, reason] of table) {
    const { connection, http } = connect([...steps, instance, plan, offering]);
    await failure(connection.describeInstance("i1", signal));
    assert.equal((await connection.describeInstance("i1", signal))?.offering, "postgresql", reason);
    assert.equal(http.stepsLeft, 0, reason);
  }
  await rejects(connect([]).connection.describeInstance("../service_bindings", signal), "ProviderRefused");
});

test("what cannot be an id is not there, and no request is made for it", async () => {
  for (const id of ["", "..", "a/b", "a?async=true"]) {
    const { connection, http } = connect([]);
    assert.equal(await connection.observe(id, signal), undefined, id);
    assert.equal(await connection.delete(id, signal), "gone", id);
    assert.equal(http.requests.length, 0);
  }
});

test("an answer about another binding is not believed", async () => {
  const { connection } = connect([{ status: 200, body: { ...binding, id: "b2" } }]);
  await rejects(connection.observe("b1", signal), "ProviderUnavailable");
});

const hopeless: readonly (readonly [step: ScriptedStep, code: ProviderErrorCode, reason: string])[] = [
  [new Error("connect ECONNREFUSED"), "ProviderUnavailable", "no connection"],
  [
    { status: 404, headers: { "x-cf-routererror": "unknown_route" }, body: "404 Not Found: canary" },
    "ProviderUnavailable",
    "the router's 404",
  ],
  [{ status: 404, body: "" }, "ProviderUnavailable", "an empty 404"],
  [{ status: 404, body: { error: "Not Found" } }, "ProviderUnavailable", "a gateway's 404"],
  [{ status: 200, body: "" }, "ProviderUnavailable", "an empty 200"],
  [{ status: 201, body: "" }, "ProviderUnavailable", "an empty 201"],
  [{ status: 202, body: {} }, "ProviderUnavailable", "a 202 without an address"],
  [{ status: 204, body: "" }, "ProviderUnavailable", "a 204"],
  [{ status: 200, body: '{"canary": "credential-canary' }, "ProviderUnavailable", "half of a body"],
  [{ status: 201, body: '{"canary": "credential-canary' }, "ProviderUnavailable", "half of a body"],
  [{ status: 200, body: `"${"x".repeat(1000)}"` }, "ProviderUnavailable", "a text"],
  [{ status: 200, body: `{"x":"${"x".repeat(17 * 1024 * 1024)}"}` }, "ProviderUnavailable", "a body without measure"],
  [{ status: 302, headers: { location: "https://canary.example" } }, "ProviderUnavailable", "a redirect"],
  [{ status: 500, body: { error: "InternalError", description: "canary" } }, "ProviderUnavailable", "a 500"],
  [{ status: 502, body: "<html>canary</html>" }, "ProviderUnavailable", "a 502"],
  [{ status: 503, body: "canary" }, "ProviderUnavailable", "a 503"],
  [
    { status: 502, body: { error: "BrokerError", description: "canary 1", broker_error: { Description: "canary" } } },
    "ProviderRefused",
    "a broker's error",
  ],
  [{ status: 403, body: { error: "Forbidden", description: "canary" } }, "ProviderForbidden", "a missing right"],
  [{ status: 429, body: { error: "BadRequest", description: "canary" } }, "ProviderThrottled", "a rate limit"],
];

for (const [name, call] of Object.entries(verbs)) {
  test(`${name}: nothing the service or a proxy answers in place of an answer is taken for one, nor quoted`, async () => {
    for (const [step, code, reason] of hopeless) {
      if (name === "delete" && reason === "a 202 without an address") continue;
      const once = await failure(call(connect([step]).connection, signal));
      assert.equal(once.code, code, reason);
      const again = await failure(call(connect([step]).connection, signal));
      assert.equal(once.message, again.message, "the message is stable");
    }
  });

  test(`${name}: a service that never answers, and a caller that leaves, end the call`, async () => {
    const silent = connect(["silence"]);
    const late = failure(call(silent.connection, signal));
    await silent.clock.advance(75_000);
    assert.equal((await late).code, "ProviderUnavailable");
    assert.equal(silent.clock.timerCount, 0);

    const left = connect(["silence"]);
    const controller = new AbortController();
    const ended = failure(call(left.connection, controller.signal));
    await settle();
    controller.abort(new Error("canary"));
    assert.equal((await ended).code, "ProviderUnavailable");
    assert.equal(left.clock.timerCount, 0);
    assert.equal(
      (await failure(call(connect(["silence"]).connection, AbortSignal.abort()))).code,
      "ProviderUnavailable",
    );
  });
}

test("refusals of a create are told apart", async () => {
  const table: readonly (readonly [step: ScriptedStep, code: ProviderErrorCode])[] = [
    [{ status: 409, body: problem("Conflict") }, "NameTaken"],
    [notFound, "InstanceNotFound"],
    [{ status: 400, body: { error: "BadRequest", description: "plan x is not bindable" } }, "ProviderRefused"],
    [{ status: 422, body: problem("ConcurrentOperationInProgress") }, "ProviderBusy"],
  ];
  for (const [step, code] of table) await rejects(connect([step]).connection.create(request, signal), code);
});
