import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { timeScale } from "../time/time-scale.ts";
import { lanesOf } from "./bars.ts";
import { shapesOf } from "./shapes.ts";
import { windowSpans } from "./windows.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 18);
const scale = timeScale({ from: NOW - 10 * DAY_MS, until: NOW + 20 * DAY_MS }, 900);
const past = timeScale({ from: NOW - 30 * DAY_MS, until: NOW - 5 * DAY_MS }, 900);

const key = (state: KeyBar["state"], days: readonly [number, number, number], more: Partial<KeyBar> = {}): KeyBar => {
  const [createdAt, replacedAt, deletedAt] = days.map((day) => NOW + day * DAY_MS) as [number, number, number];
  return { id: `${state} ${days}`, name: state, state, createdAt, replacedAt, deletedAt, ...more };
};
const forced = { kind: "forced", words: "somebody asked for it" } as const;
const held = key("retired", [-9, -3, 4], { heldFor: "web" });
const hours = (from: number, until: number) => [{ from: NOW + from * 3_600_000, until: NOW + until * 3_600_000 }];

describe("the shapes that a legend explains", () => {
  for (const [keys, more, shapes, reason] of [
    [[], {}, ["now"], "the present is there without any key"],
    [[key("active", [-5, 5, 8])], {}, ["kept", "later", "live", "now"], "what exists is paler from now on"],
    [[key("deleted", [-9, -5, -3])], {}, ["gone", "goneKept", "now"], "what is gone has no future"],
    [[key("foreseen", [5, 8, 9])], {}, ["foreseen", "foreseenKept", "now"], "what is foreseen is pale by itself"],
    [[held], {}, ["held", "later", "live", "now"], "what is held back is not only retired"],
    [[key("deleted", [-9, -5, -3], { mark: forced })], {}, ["forced", "gone", "goneKept", "now"], "a mark"],
    [[], { windows: hours(1, 4) }, ["now", "window"], "a window"],
    [[], { windows: hours(1, 1.5) }, ["now", "window"], "a window that is thinner than a line"],
    [[], { windows: [...hours(1, 1.5), ...hours(2, 2.5)] }, ["manyWindows", "now"], "windows that touch each other"],
    [[], { knownUntil: NOW }, ["now", "unforeseen"], "the engine has not looked further"],
    [[key("foreseen", [50, 58, 59])], {}, ["now"], "what is out of sight is not explained"],
  ] as const) {
    it(`${shapes.join(", ")}: ${reason}`, () => {
      const found = shapesOf(lanesOf(keys, 3), scale, { windows: [], now: NOW, ...more });
      assert.deepEqual([...found].sort(), shapes);
    });
  }

  it("are without a present where that is out of sight", () => {
    const found = shapesOf(lanesOf([key("retired", [-20, -9, 2])], 3), past, { windows: [], now: NOW });
    assert.deepEqual([...found].sort(), ["kept", "live"]);
  });
});

describe("windows", () => {
  const nights = (count: number) =>
    Array.from({ length: count }, (_, day) => ({ from: NOW + day * DAY_MS, until: NOW + (day + 0.125) * DAY_MS }));

  it("are drawn one by one as long as they can be told apart, and then as many", () => {
    const few = windowSpans(nights(5), scale);
    assert.deepEqual([few.length, few.some(({ isMany }) => isMany)], [5, false]);
    const year = timeScale({ from: NOW, until: NOW + 365 * DAY_MS }, 900);
    const [all, ...others] = windowSpans(nights(365), year);
    assert.deepEqual([all?.x, all?.isMany, others], [0, true, []]);
    assert.ok((all?.width ?? 0) > 895);
  });

  it("are seen however short they are", () => {
    const year = timeScale({ from: NOW, until: NOW + 365 * DAY_MS }, 900);
    const weekly = nights(365).filter((_, day) => day % 7 === 0);
    const spans = windowSpans(weekly, year);
    assert.equal(spans.length, weekly.length);
    for (const { width, isMany } of spans) assert.deepEqual([width, isMany], [1.5, false]);
  });

  it("that were told as many stay so however near one looks", () => {
    const [span] = windowSpans([{ from: NOW, until: NOW + DAY_MS, isMany: true }], scale);
    assert.equal(span?.isMany, true);
  });
});
