import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../src/base/properties.fixture.ts";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { timeScale } from "../time/time-scale.ts";
import { drawRow, keyAt, lanesOf, pathOf } from "./bars.ts";
import { keysWithoutFuture, mergedKeys, withEnds } from "./merged-keys.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 18);
const scale = timeScale({ from: NOW - 10 * DAY_MS, until: NOW + 20 * DAY_MS }, 900);

const key = (id: string, days: readonly [number, number?, number?], more: Partial<KeyBar> = {}): KeyBar => {
  const [created, replaced, deleted] = days.map((day) => NOW + (day as number) * DAY_MS);
  return {
    id,
    name: id,
    state: "active",
    createdAt: created ?? 0,
    ...(replaced === undefined ? {} : { replacedAt: replaced }),
    ...(deleted === undefined ? {} : { deletedAt: deleted }),
    ...more,
  };
};

const absurd = fc.oneof(fc.integer({ min: -40, max: 60 }), fc.constantFrom(-739_000, 2_900_000, 1e9, Number.NaN));
const anyKey: fc.Arbitrary<KeyBar> = fc
  .tuple(fc.uuid(), absurd, fc.option(absurd), fc.option(absurd))
  .map(([id, created, replaced, deleted]) => ({
    ...key(id, [created]),
    ...(replaced === null ? {} : { replacedAt: NOW + replaced * DAY_MS }),
    ...(deleted === null ? {} : { deletedAt: NOW + deleted * DAY_MS }),
    state: "retired",
  }));

describe("bars", () => {
  it("show overlaps: keys that live at the same time have lanes of their own", () => {
    const { keys, count } = lanesOf([key("b", [-2, 10, 12]), key("a", [-12, -2, 0]), key("c", [10, 22, 24])], 3);
    assert.deepEqual(
      keys.map(({ key: { id }, lane }) => `${id}${lane}`),
      ["a0", "b1", "c0"],
    );
    assert.equal(count, 2);
  });

  it("stay apart where one begins at the very instant at which another ends", () => {
    const { keys } = lanesOf([key("a", [-9, -2, -2]), key("b", [-2, 5, 5]), key("c", [5, 9, 11]), key("d", [5.01])], 2);
    assert.deepEqual(
      keys.map(({ key: { id }, lane }) => `${id}${lane}`),
      ["a0", "b1", "c0", "d1"],
    );
  });

  it("have a part that is published and a part that is kept", () => {
    const { bars } = drawRow(lanesOf([key("a", [-5, 5, 8])], 3), scale);
    assert.deepEqual(
      bars.map(({ style, x, width }) => [style, x, Math.round(width)]),
      [
        ["live", 150, 300],
        ["kept", 450, 90],
      ],
    );
  });

  it("end where what is foreseen ends", () => {
    const { bars } = drawRow(lanesOf([key("a", [0], { state: "foreseen" })], 3), scale, NOW + 5 * DAY_MS);
    assert.deepEqual(
      bars.map(({ x, width }) => [x, Math.round(width)]),
      [[300, 150]],
    );
  });

  for (const [bar, styles, reason] of [
    [key("a", [-5], { state: "active" }), ["live"], "what is not to be replaced goes on to the end"],
    [key("a", [-1], { state: "pending" }), ["pending"], "what is being made is not published"],
    [
      key("a", [-1, 5, 7], { state: "pending" }),
      ["foreseen", "foreseenKept", "pending"],
      "what becomes of it once it is made is foreseen",
    ],
    [key("a", [5, 6, 7], { state: "foreseen" }), ["foreseen", "foreseenKept"], "what is foreseen looks so"],
    [
      key("a", [-5, -4, -3], { state: "deleted" }),
      ["gone", "goneKept"],
      "what is gone looks so, also while it was kept",
    ],
    [
      key("a", [-5, -4], { state: "deleted" }),
      ["gone"],
      "what is gone since nobody knows when ends when it was replaced",
    ],
    [key("a", [-5, -4], { state: "retired", heldFor: "web" }), ["live", "held"], "what is held looks so"],
    [key("a", [-5, -9, -20], { state: "retired" }), [], "what ends before it begins is not there"],
    [key("a", [-739_000, -1, 1], { state: "retired" }), ["live", "kept"], "what was made in the year 1 is cut"],
  ] as const) {
    it(`${styles.join(", ") || "nothing"}: ${reason}`, () => {
      assert.deepEqual(
        drawRow(lanesOf([bar], 3), scale).bars.map(({ style }) => style),
        styles,
      );
    });
  }

  it("stay near the track and have a width, whatever the dates", () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 12 }), (keys) => {
        const lanes = lanesOf(keys, 3);
        assert.ok(lanes.count <= 3);
        const { bars } = drawRow(lanes, scale);
        for (const { x, width, lane } of bars) {
          assert.ok(x >= -16 && x + width <= 920 && width > 0 && lane < 3, JSON.stringify({ x, width, lane }));
        }
        assert.doesNotMatch(pathOf(bars, "live", { top: 0, height: 8, gap: 2 }), /NaN|Infinity|e/);
      }),
    );
  });

  it("of ten thousand keys are a few hundred, and quickly", () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      key(`k${index}`, [index / 500 - 10, index / 500 - 9.99, index / 500 - 9.98], { state: "retired" }),
    );
    const { bars } = drawRow(lanesOf(many, 3), scale);
    assert.ok(bars.length < 1000, `${bars.length}`);
  });

  it("marks how a key came to be, but not the first one, and not twice at one place", () => {
    const forced = { kind: "forced", words: "somebody asked for it" } as const;
    const keys = [
      key("a", [-9, -1, 0], { mark: { kind: "first", words: "there was none" } }),
      key("b", [-1, 1, 2], { mark: forced }),
      key("c", [-0.99, 1, 2], { mark: forced }),
    ];
    const { marks } = drawRow(lanesOf(keys, 2), scale);
    assert.deepEqual(
      marks.map(({ kind }) => kind),
      ["forced", "forced"],
    );
  });

  it("finds the key under a place", () => {
    const lanes = lanesOf([key("a", [-5, 5, 8]), key("b", [5, 15, 18])], 3);
    assert.equal(keyAt(lanes, scale, { x: 200, lane: 0 })?.id, "a");
    assert.equal(keyAt(lanes, scale, { x: 470, lane: 1 })?.id, "b");
    assert.equal(keyAt(lanes, scale, { x: 470, lane: 0 })?.id, "a");
    assert.equal(keyAt(lanes, scale, { x: 880, lane: 0 }), undefined);
  });
});

describe("keys and what is foreseen of them", () => {
  it("end as the engine says, and those it does not know stay", () => {
    const merged = mergedKeys([key("old", [-9, -5, -4]), key("a", [-5])], {
      keys: [key("a", [-5, 5, 8]), key("next", [5], { state: "foreseen" })],
    });
    assert.deepEqual(
      merged.map(({ id, deletedAt }) => [id, deletedAt !== undefined]),
      [
        ["old", true],
        ["a", true],
        ["next", false],
      ],
    );
  });

  it("stay as they are told, with the ends that only the engine knows", () => {
    const told = [key("a", [-5, 4]), key("old", [-9, -5], { state: "deleted" }), key("alone", [-3])];
    const foreseen = [key("a", [-5, 5, 8]), key("old", [-9, -5, -4]), key("next", [5], { state: "foreseen" })];
    assert.deepEqual(
      withEnds(told, { keys: foreseen }),
      [key("a", [-5, 4, 8]), key("old", [-9, -5], { state: "deleted" }), key("alone", [-3])],
      "what is told is not told otherwise, and nobody foresees the past",
    );
    assert.deepEqual(withEnds(told, undefined), told);
  });

  it("without an engine end when the row says so", () => {
    const row = { id: "K/a", kind: "K", name: "a", phase: "Ready", keys: [key("a", [-5])], rotationAt: NOW } as const;
    assert.equal(keysWithoutFuture(row)[0]?.replacedAt, NOW);
    const told = { ...row, keys: [key("a", [-5, 2])] };
    assert.equal(keysWithoutFuture(told)[0]?.deletedAt, NOW + 2 * DAY_MS, "not kept for ever");
  });
});
