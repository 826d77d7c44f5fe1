import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { figuresOf } from "./figures.ts";

describe("the figures of the overview", () => {
  const figures = figuresOf({ keys: { active: 3, pending: 1, retired: 2, held: 0 }, frozen: 1, paused: 0 }, 3);

  it("are in the singular of one", () => {
    assert.deepEqual(
      figures.map(({ name, count }) => `${count} ${name}`),
      ["3 credentials", "3 active keys", "1 key being made", "2 retired keys", "0 held back", "1 frozen", "0 paused"],
    );
  });

  it("lead to the list of those that they count, where there are any and a filter has them", () => {
    assert.deepEqual(
      figures.map(({ query }) => query && (query.state ?? "all")),
      ["all", undefined, "rotating", "retired", undefined, "frozen", undefined],
    );
  });
});
