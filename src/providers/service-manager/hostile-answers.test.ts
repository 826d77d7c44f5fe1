import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import type { Connection, CreateRequest, Marks } from "../contract.ts";
import { ProviderError } from "../provider-error.ts";
import { type ScriptedAnswer, ScriptedHttp } from "../rest/scripted-http.fixture.ts";
import { isRecord, parseRecord } from "../rest/wire.ts";
import { parseServiceManagerCredentials } from "./credentials.ts";
import { encodeMarks } from "./marks.ts";
import { connectServiceManager } from "./service-manager.ts";

const signal = new AbortController().signal;
const marks: Marks = { clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "n", sequence: 1 };
const request: CreateRequest = {
  name: "n",
  instanceId: "i1",
  parameters: new Redacted({ password: "parameter-canary" }),
  marks,
};
const binding = {
  id: "b1",
  name: "n",
  service_instance_id: "i1",
  ready: true,
  created_at: "2026-01-01T00:00:00Z",
  labels: encodeMarks(marks),
  credentials: { password: "credential-canary", nested: { list: [1, "canary"] } },
  last_operation: { type: "create", state: "succeeded" },
};
const bodies: Readonly<Record<string, unknown>> = {
  listMarked: { num_items: 1, items: [binding] },
  findByName: { num_items: 1, items: [binding] },
  observe: binding,
  create: binding,
  readCredentials: binding,
  observeInstance: { id: "i1", name: "x" },
  // One body for all three that are read: an instance, its plan, and its offering.
  describeInstance: { id: "i1", name: "x", service_plan_id: "i1", service_offering_id: "i1", tags: ["t"] },
};

const verbs: Readonly<Record<string, (connection: Connection) => Promise<unknown>>> = {
  listMarked: (connection) => connection.listMarked({ clusterId: "c" }, signal),
  findByName: (connection) => connection.findByName("i1", "n", signal),
  observe: (connection) => connection.observe("b1", signal),
  create: (connection) => connection.create(request, signal),
  readCredentials: (connection) => connection.readCredentials("b1", signal),
  delete: (connection) => connection.delete("b1", signal),
  mark: (connection) => connection.mark("b1", undefined, signal),
  observeInstance: (connection) => connection.observeInstance("i1", signal),
  describeInstance: (connection) => connection.describeInstance("i1", signal),
};

/** A service that answers everything in the same way. */
function connect(answer: ScriptedAnswer): Connection {
  const http = new ScriptedHttp(Array.from({ length: 5 }, () => answer));
  const secret = { clientid: "me", clientsecret: "canary", url: "https://auth.example", sm_url: "https://sm.example" };
  const credentials = parseServiceManagerCredentials(new Redacted(secret));
  return connectServiceManager({ credentials, http, clock: new ManualClock() });
}

type Outcome = { readonly kind: "answer"; readonly value: unknown } | { readonly kind: "error" };

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return { kind: "answer", value: await work };
  } catch (error) {
    assert.ok(error instanceof ProviderError, inspect(error));
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
    assert.ok(!error.message.includes("\n") && error.message.length < 300, error.message);
    return { kind: "error" };
  }
}

/** Valid bodies with something replaced or taken out, and anything at all. */
const hostileBody: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom(...Object.values(bodies)).chain((body) => {
    const keys = isRecord(body) ? Object.keys(body) : [];
    return fc
      .record({
        key: fc.constantFrom(...keys),
        value: fc.oneof(fc.jsonValue(), fc.constant("canary"), fc.constant(undefined)),
      })
      .map(({ key, value }) => JSON.stringify({ ...(isRecord(body) ? body : {}), [key]: value }));
  }),
  fc
    .record({
      error: fc.constantFrom("NotFound", "BrokerError", "Conflict", "canary"),
      description: fc.constant("canary"),
    })
    .map((problem) => JSON.stringify(problem)),
);
const hostileHeaders = fc.dictionary(
  fc.constantFrom("retry-after", "location", "x-cf-routererror", "date", "content-type"),
  fc.oneof(fc.string(), fc.constantFrom("canary", "/v1/service_bindings/b1/operations/o1", "unknown_route")),
);
const hostileStatus = fc.oneof(
  fc.constantFrom(200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 410, 412, 422, 429, 500, 502, 503),
  fc.integer({ min: 100, max: 999 }),
);

for (const [name, call] of Object.entries(verbs)) {
  test(`${name}: whatever is answered, there is an answer or one of our errors, and "not there" is only the service's word`, async () => {
    await fc.assert(
      fc.asyncProperty(hostileStatus, hostileHeaders, hostileBody, async (status, headers, body) => {
        const outcome = await outcomeOf(call(connect({ status, headers, body })));
        if (outcome.kind === "error") return;
        const { error } = parseRecord(body) ?? {};
        const isRouted = headers["x-cf-routererror"] !== undefined;
        const saysGone =
          !isRouted && ((status === 404 && error === "NotFound") || (status === 410 && parseRecord(body)));
        const isGone = outcome.value === undefined && (name === "observe" || name === "describeInstance");
        const isDeleted = outcome.value === "gone" && !(name === "delete" && status === 200 && parseRecord(body));
        if (isGone || isDeleted) assert.ok(saysGone, `${status} ${body}`);
      }),
      { numRuns: 300 },
    );
  });
}

for (const [name, body] of Object.entries(bodies)) {
  test(`${name}: an answer that breaks off anywhere is an error`, async () => {
    const text = JSON.stringify(body);
    const status = name === "create" ? 201 : 200;
    const call = verbs[name];
    assert.ok(call);
    assert.equal((await outcomeOf(call(connect({ status, body: text })))).kind, "answer");
    for (let length = 0; length < text.length; length += 1) {
      const outcome = await outcomeOf(call(connect({ status, body: text.slice(0, length) })));
      assert.equal(outcome.kind, "error", text.slice(0, length));
    }
  });
}
