import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBinding, isGuid, keyOf } from "./binding.ts";
import { marks, shown } from "./scripted.fixture.ts";

const stateOf = (last_operation: unknown) => decodeBinding({ ...shown, last_operation })?.state;

test("the last operation tells how a key is", () => {
  const rows: readonly (readonly [type: string, state: string, expected: string, reason: string])[] = [
    ["create", "initial", "creating", "nobody has asked the broker yet"],
    ["create", "in progress", "creating", "the broker is at it"],
    ["create", "succeeded", "ready", "it works"],
    ["create", "failed", "failed", "it never will"],
    ["create", "thinking", "creating", "a state that is not known yet is looked at again"],
    ["delete", "initial", "deleting", "it is on its way out"],
    ["delete", "in progress", "deleting", "the broker is at it"],
    ["delete", "succeeded", "deleting", "only lists still have it"],
    ["delete", "failed", "ready", "it is still there, to be deleted again"],
  ];
  for (const [type, state, expected, reason] of rows) assert.equal(stateOf({ type, state }), expected, reason);
  assert.equal(stateOf(null), "ready", "bindings of old foundations have none");
  const half = decodeBinding({ ...shown, last_operation: { type: "delete", state: "failed" } });
  assert.equal(half?.isHalfDeleted, true);
  assert.equal(half && keyOf(half).isHalfDeleted, true);
});

test("a key is told with all that is known of it", () => {
  const binding = decodeBinding(shown);
  assert.ok(binding);
  assert.deepEqual(keyOf(binding), {
    id: "k1",
    name: "orders-x1",
    instanceId: "i1",
    createdAt: Date.UTC(2026, 0, 1),
    state: "ready",
    lastOperation: { type: "create", state: "succeeded" },
    marks,
    metadata: { labels: {}, annotations: {} },
  });
  assert.equal(decodeBinding({ ...shown, name: null })?.name, "", "bindings of apps may have no name");
});

test("what was done to a key last is told in the words of Cloud Foundry, and in no others", () => {
  const rows: readonly (readonly [operation: unknown, expected: unknown])[] = [
    [
      { type: "delete", state: "failed", description: "canary" },
      { type: "delete", state: "failed" },
    ],
    [
      { type: "delete", state: "in progress" },
      { type: "delete", state: "in progress" },
    ],
    [{ type: "canary", state: "failed" }, undefined],
    [{ type: "delete", state: "canary" }, undefined],
    [{ type: ["delete"], state: "failed" }, undefined],
    [null, undefined],
  ];
  for (const [last_operation, expected] of rows) {
    const binding = decodeBinding({ ...shown, last_operation });
    assert.deepEqual(binding && keyOf(binding).lastOperation, expected, JSON.stringify(last_operation));
  }
});

test("since when a key is on its way out is told by what is done to it", () => {
  const created_at = "2026-02-01T00:00:00Z";
  const rows: readonly (readonly [operation: object, leavingSince: number | undefined])[] = [
    [{ type: "delete", state: "in progress", created_at }, Date.UTC(2026, 1, 1)],
    [{ type: "delete", state: "in progress" }, undefined],
    [{ type: "delete", state: "failed", created_at }, undefined],
    [{ type: "create", state: "succeeded", created_at }, undefined],
  ];
  for (const [last_operation, leavingSince] of rows) {
    const binding = decodeBinding({ ...shown, last_operation });
    assert.equal(binding && keyOf(binding).leavingSince, leavingSince, JSON.stringify(last_operation));
  }
});

test("what lacks an id or an instance is no key", () => {
  for (const misfit of [{ guid: "" }, { guid: "a/b" }, { guid: 1 }, { relationships: {} }, { name: undefined }]) {
    assert.equal(decodeBinding({ ...shown, ...misfit }), undefined, JSON.stringify(misfit));
  }
  for (const id of ["", ".", "..", "a/b", "a?b", "ü", "x".repeat(256)]) assert.equal(isGuid(id), false, id);
  assert.equal(isGuid("managed_service_binding.create~1-2"), true);
});
