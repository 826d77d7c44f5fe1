import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { withPast } from "./merged-keys.ts";

const key = (id: string, state: KeyBar["state"], deletedAt?: number): KeyBar => ({
  id,
  name: id,
  state,
  createdAt: 1,
  replacedAt: 2,
  ...(deletedAt !== undefined && { deletedAt }),
});

describe("keys that a page has seen go", () => {
  for (const [told, past, expected, reason] of [
    [[key("a", "active")], [], [key("a", "active")], "none has gone"],
    [
      [key("a", "active")],
      [key("b", "deleted", 3)],
      [key("a", "active"), key("b", "deleted", 3)],
      "they stay in sight",
    ],
    [[key("b", "retired", 9)], [key("b", "deleted", 3)], [key("b", "retired", 9)], "it was there all the same"],
    [[key("b", "deleted", 4)], [key("b", "deleted", 3)], [key("b", "deleted", 4)], "the server knows when"],
    [[key("b", "deleted")], [key("b", "deleted", 3)], [key("b", "deleted", 3)], "the server does not know when"],
    [
      [key("b", "deleted")],
      [key("c", "deleted", 3)],
      [key("b", "deleted"), key("c", "deleted", 3)],
      "nobody knows when",
    ],
  ] as const) {
    it(reason, () => assert.deepEqual(withPast(told, past), expected));
  }
});
