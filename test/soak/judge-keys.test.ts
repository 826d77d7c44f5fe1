import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judgeKeys, type KnownKeys } from "./judge-keys.ts";

const db: KnownKeys = { activeId: "new", keyIds: ["new", "old"], pendingName: undefined };
const [active, retired, next] = [{ id: "new" }, { id: "old" }, { id: "next", name: "db-next" }];

const cases: readonly {
  readonly reason: string;
  readonly known?: KnownKeys;
  readonly outside: readonly { readonly id: string; readonly name?: string }[];
  readonly removed?: string;
  readonly problem?: RegExp;
}[] = [
  { reason: "all is known and there", outside: [active, retired] },
  { reason: "a retired one is gone already", outside: [active] },
  { reason: "one that nobody knows", outside: [active, retired, next], problem: /nobody knows the key db-next/ },
  { reason: "one that is being made", known: { ...db, pendingName: "db-next" }, outside: [active, next] },
  { reason: "the one in use is missing", outside: [retired], problem: /ServiceBinding\/db has in use is not there/ },
  { reason: "the one in use was removed by somebody", outside: [retired], removed: "new" },
  {
    reason: "another one was removed before",
    outside: [retired],
    removed: "older",
    problem: /has in use is not there/,
  },
  {
    reason: "nothing to judge",
    known: { ...db, activeId: undefined },
    outside: [],
    problem: /there is no key outside/,
  },
];

describe("keys outside", () => {
  for (const { reason, known = db, outside, removed, problem } of cases) {
    test(reason, () => {
      const resources = new Map([["ServiceBinding/db", known]]);
      const found = judgeKeys(
        resources,
        outside,
        new Map(removed === undefined ? [] : [["ServiceBinding/db", removed]]),
      );
      assert.equal(found.length, problem ? 1 : 0, found.join());
      if (problem) assert.match(found[0] ?? "", problem);
    });
  }
});
