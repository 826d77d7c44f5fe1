import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../../base/properties.fixture.ts";
import type { OutsideKey } from "../contract.ts";
import { isRecord } from "../rest/wire.ts";
import { decodeBinding, decodeOperation, decodePage, isBindingId, keyOf, parseOperationAddress } from "./binding.ts";

const now = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();
const wire = { id: "b1", name: "n", service_instance_id: "i", created_at: iso(now - 1000) };
const credentials = { user: "u", password: "canary" };

const states: readonly (readonly [fields: Record<string, unknown>, state: OutsideKey["state"], reason: string])[] = [
  [{ ready: true, credentials }, "ready", "ready, nothing else said"],
  [
    { ready: true, credentials, last_operation: { type: "create", state: "succeeded" } },
    "ready",
    "a create that is done",
  ],
  [
    { ready: true, credentials, last_operation: { type: "create", state: "in progress" } },
    "ready",
    "what works, works, whatever the operation says",
  ],
  [
    { ready: false, last_operation: { type: "create", state: "in progress", updated_at: iso(now) } },
    "creating",
    "a create under way",
  ],
  [
    { ready: false, last_operation: { type: "CREATE", state: "pending", updated_at: iso(now) } },
    "creating",
    "the case of the type varies",
  ],
  [{ ready: false, last_operation: { type: "create", state: "failed" } }, "failed", "a failed create"],
  [
    { ready: false, last_operation: { type: "create", state: "in progress", updated_at: iso(now - 2 * hour) } },
    "failed",
    "in progress for too long to be believed",
  ],
  [{ ready: false }, "creating", "not ready, and young"],
  [{ ready: false, created_at: iso(now - 2 * hour) }, "failed", "not ready, and nobody finishes it"],
  [
    { ready: true, credentials, last_operation: { type: "delete", state: "in progress", updated_at: iso(now) } },
    "deleting",
    "a delete under way",
  ],
  [
    {
      ready: true,
      credentials,
      last_operation: { type: "delete", state: "in progress", updated_at: iso(now - 2 * hour) },
    },
    "ready",
    "a delete that nobody finishes leaves a working key",
  ],
  [
    { ready: true, credentials, last_operation: { type: "delete", state: "succeeded", updated_at: iso(now) } },
    "deleting",
    "deleted and still listed",
  ],
  [
    { ready: true, credentials, last_operation: { type: "delete", state: "failed", updated_at: iso(now) } },
    "ready",
    "a failed delete leaves a working key",
  ],
  [
    { ready: false, last_operation: { type: "delete", state: "failed", updated_at: iso(now - 2 * hour) } },
    "failed",
    "a failed delete of a failed key",
  ],
  [
    { ready: true, credentials, last_operation: { type: "update", state: "in progress" } },
    "ready",
    "a rename under way",
  ],
  [{ credentials }, "ready", "readiness not told, credentials there"],
];

for (const [fields, state, reason] of states) {
  test(`a binding is ${state}: ${reason}`, () => {
    const binding = decodeBinding({ ...wire, ...fields });
    assert.ok(binding);
    assert.equal(keyOf(binding, { now, trustMs: hour }).state, state);
  });
}

test("a key has what the service tells, and no credentials", () => {
  const binding = decodeBinding({ ...wire, ready: true, credentials });
  assert.ok(binding);
  const key = keyOf(binding, { now, trustMs: hour });
  assert.deepEqual(key, { id: "b1", name: "n", instanceId: "i", createdAt: now - 1000, state: "ready" });
  assert.ok(!inspect(binding, { depth: 9 }).includes("canary"));
});

test("since when a binding is on its way out is told by what is done to it", () => {
  const begun = { created_at: iso(now - 5000), updated_at: iso(now) };
  const rows: readonly (readonly [operation: object, leavingSince: number | undefined])[] = [
    [{ type: "delete", state: "in progress", ...begun }, now - 5000],
    [{ type: "delete", state: "in progress", updated_at: iso(now) }, undefined],
    [{ type: "delete", state: "failed", ...begun }, undefined],
    [{ type: "create", state: "succeeded", ...begun }, undefined],
  ];
  for (const [last_operation, leavingSince] of rows) {
    const binding = decodeBinding({ ...wire, ready: true, credentials, last_operation });
    assert.equal(binding && keyOf(binding, { now, trustMs: hour }).leavingSince, leavingSince);
  }
});

test("credentials are a JSON object with something in it, or there are none", () => {
  for (const given of [undefined, null, {}, [], ["x"], "x", 5]) {
    assert.equal(decodeBinding({ ...wire, ready: true, credentials: given })?.credentials, undefined, inspect(given));
  }
  assert.deepEqual(decodeBinding({ ...wire, credentials })?.credentials?.reveal(), credentials);
});

test("what lacks an id, a name or an instance is no binding", () => {
  const misfits = [
    { id: undefined },
    { id: "" },
    { id: 5 },
    { id: "../x" },
    { name: "" },
    { service_instance_id: null },
  ];
  for (const misfit of misfits) assert.equal(decodeBinding({ ...wire, ...misfit }), undefined, inspect(misfit));
});

test("ids that would address something else are none", () => {
  for (const id of ["", ".", "..", "a/b", "a?b", "a#b", "a%2Fb", "a b", "x".repeat(256), "ä", "a\nb"]) {
    assert.equal(isBindingId(id), false, JSON.stringify(id));
  }
  for (const id of ["5c0f9a7e-1f4b-4d9e-8b5e-000000000000", "a.b_c~d"]) assert.equal(isBindingId(id), true, id);
});

test("the address of an operation is found in what Location says, or not at all", () => {
  const address = { bindingId: "b1", operationId: "o1" };
  assert.deepEqual(parseOperationAddress("/v1/service_bindings/b1/operations/o1"), address);
  assert.deepEqual(parseOperationAddress("https://sm.example.com/v1/service_bindings/b1/operations/o1?x=1"), address);
  const misfits = [
    undefined,
    "",
    "/v1/service_bindings/b1",
    "/v1/service_bindings//operations/o1",
    "/v1/service_bindings/../operations/o1",
    "/v1/service_instances/b1/operations/o1",
    "/v1/service_bindings/b1/operations/o%2F1",
    "https://[",
  ];
  for (const misfit of misfits) assert.equal(parseOperationAddress(misfit), undefined, misfit);
});

test("a page of a list is whole or none", () => {
  assert.deepEqual(decodePage({ num_items: 0, items: [] }), { items: [], total: 0 });
  assert.deepEqual(decodePage({ num_items: 0, items: null }), { items: [], total: 0 });
  assert.deepEqual(decodePage({ num_items: 3, items: [{}], token: "t" }), { items: [{}], total: 3, next: "t" });
  for (const misfit of [{}, { num_items: 1, items: null }, { items: "x" }, { items: [1] }, { items: [], token: 5 }]) {
    assert.equal(decodePage(misfit), undefined, inspect(misfit));
  }
});

test("anything at all is read without an error", () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (value, text) => {
      decodeOperation(value);
      parseOperationAddress(text);
      if (isRecord(value)) decodePage(value);
      const binding = decodeBinding(isRecord(value) ? { ...wire, ...value } : value);
      if (binding) keyOf(binding, { now, trustMs: hour });
    }),
  );
});
