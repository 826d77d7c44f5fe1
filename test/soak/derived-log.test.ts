import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DerivedLog } from "./derived-log.ts";

type Happening = readonly ["published" | "derived", string, string, number];

const cases: readonly {
  readonly reason: string;
  readonly happenings: readonly Happening[];
  readonly rotations: readonly (readonly number[])[];
  readonly unfinished: readonly (readonly number[])[];
}[] = [
  {
    reason: "the first key is no rotation",
    happenings: [
      ["published", "db", "k1", 1],
      ["derived", "app", "db@k1", 2],
    ],
    rotations: [],
    unfinished: [],
  },
  {
    reason: "a rotation that arrives",
    happenings: [
      ["published", "db", "k1", 1],
      ["derived", "app", "db@k1", 2],
      ["published", "db", "k2", 10],
      ["derived", "app", "db@k2,other@x", 12],
    ],
    rotations: [[10, 12]],
    unfinished: [],
  },
  {
    reason: "the same key again is nothing new",
    happenings: [
      ["published", "db", "k1", 1],
      ["derived", "app", "db@k1", 2],
      ["published", "db", "k1", 10],
    ],
    rotations: [],
    unfinished: [],
  },
  {
    reason: "one that does not arrive",
    happenings: [
      ["published", "db", "k1", 1],
      ["derived", "app", "db@k1", 2],
      ["published", "db", "k2", 10],
      ["derived", "app", "db@k1", 12],
    ],
    rotations: [],
    unfinished: [[10, 99]],
  },
  {
    reason: "one that is overtaken is late since it was due itself",
    happenings: [
      ["published", "db", "k1", 1],
      ["derived", "app", "db@k1", 2],
      ["published", "db", "k2", 10],
      ["published", "db", "k3", 20],
      ["derived", "app", "db@k3", 21],
    ],
    rotations: [[10, 21]],
    unfinished: [],
  },
];

describe("keys on their way to what is derived", () => {
  for (const { reason, happenings, rotations, unfinished } of cases) {
    test(reason, () => {
      const log = new DerivedLog(new Map([["db", ["app"]]]));
      for (const [what, name, text, at] of happenings) log[what](name, text, at);
      assert.deepEqual(
        log.rotations.map(({ dueAt, doneAt }) => [dueAt, doneAt]),
        rotations,
      );
      assert.deepEqual(
        log.unfinished(99).map(({ dueAt, doneAt }) => [dueAt, doneAt]),
        unfinished,
      );
    });
  }
});
