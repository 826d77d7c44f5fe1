import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { isOpen, nextOpening, parseWindow } from "../engine/windows.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { windowBars, windowsOf } from "./window-bars.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const now = Date.UTC(2025, 10, 7);
const MAX_BARS = 400;

const nightly = parseWindow({ schedule: "0 3 * * *", duration: "2h" });
const hourly = parseWindow({ schedule: "0 * * * *", duration: "10m" });
const workingHours = parseWindow({ schedule: "0 9-16 * * 1-5", duration: "30m" });

describe("windows within a stretch of time", () => {
  test("are told of the past as of what comes, each of them where there is room", () => {
    const nights = windowBars([nightly], { from: now - 5 * DAY_MS, until: now + 2 * DAY_MS });
    assert.deepEqual(
      nights,
      [-5, -4, -3, -2, -1, 0, 1].map((day) => ({
        from: now + day * DAY_MS + 3 * HOUR_MS,
        until: now + day * DAY_MS + 5 * HOUR_MS,
      })),
    );
  });

  test("are few however often they open, go to the very end, and those that are many in one say so", () => {
    const span = { from: now - 365 * DAY_MS, until: now + 365 * DAY_MS };
    assert.deepEqual(windowBars([hourly], span), [{ ...span, isMany: true }]);
    assert.equal(windowBars([nightly], { from: now - 180 * DAY_MS, until: now + 180 * DAY_MS }).length, 360);
    const [first, second] = windowBars([workingHours], { from: now - 60 * DAY_MS, until: now + 60 * DAY_MS });
    assert.equal(new Date(first?.from ?? 0).toISOString(), "2025-09-08T09:00:00.000Z");
    assert.equal(first?.isMany, true);
    assert.equal(new Date(second?.from ?? 0).toISOString(), "2025-09-09T09:00:00.000Z");
  });

  test("that are open at the edges are cut there", () => {
    const span = { from: now + 4 * HOUR_MS, until: now + DAY_MS + 4 * HOUR_MS };
    assert.deepEqual(windowBars([nightly], span), [
      { from: span.from, until: now + 5 * HOUR_MS },
      { from: now + DAY_MS + 3 * HOUR_MS, until: span.until },
    ]);
    assert.deepEqual(windowBars([nightly], { from: now, until: now }), []);
  });

  const anyWindow = fc
    .record({
      schedule: fc.constantFrom(
        "@hourly",
        "0 3 * * *",
        "*/20 9-17 * * 1-5",
        "0 22 * * sat",
        "30 2 1 * *",
        "0 0 29 2 *",
      ),
      duration: fc.integer({ min: 1, max: 3000 }).map((minutes) => `${minutes}m`),
      timeZone: fc.constantFrom("UTC", "Europe/Berlin"),
    })
    .map(parseWindow);
  const anyFrom = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2100, 0, 1) });
  const anyLength = fc.constantFrom(HOUR_MS / 6, DAY_MS, 30 * DAY_MS, 365 * DAY_MS, 1460 * DAY_MS);

  test("nothing that is open is left out, and nothing is told that is further off than could be drawn", () => {
    fc.assert(
      fc.property(
        fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
        anyFrom,
        anyLength,
        fc.array(fc.float({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 1, maxLength: 20 }),
        (windows, from, lengthMs, shares) => {
          const until = from + lengthMs;
          const bars = windowBars(windows, { from, until });
          assert.ok(bars.length <= MAX_BARS + 1, `${bars.length} bars`);
          for (const [index, bar] of bars.entries()) {
            assert.ok(bar.from < bar.until && bar.from >= (bars[index - 1]?.until ?? from) && bar.until <= until);
          }
          for (const at of shares.map((share) => Math.floor(from + share * lengthMs))) {
            const bar = bars.find((one) => one.from <= at && at < one.until);
            if (isOpen(windows, at)) assert.ok(bar, `open at ${at}`);
            if (!bar || isOpen(windows, at)) continue;
            assert.ok(bar.isMany, `not open at ${at}`);
            const leastMs = lengthMs / MAX_BARS;
            assert.ok((nextOpening(windows, at - leastMs) ?? Infinity) <= at + leastMs, `nothing opens about ${at}`);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("are none of a resource that may be rotated at any time, or whose windows nobody can read", () => {
    const span = { from: now - DAY_MS, until: now + DAY_MS };
    const table = [
      ["none", {}, undefined],
      ["one", { windows: [{ schedule: "0 3 * * *", duration: "2h" }] }, 2],
      ["one that says nothing", { windows: [{ schedule: "never", duration: "2h" }] }, undefined],
    ] as const;
    for (const [reason, more, count] of table) {
      const rotation = { frequency: "12d", ttl: "14d", ...more };
      const object = madeUpBinding("orders", { createdDate: "2025-11-05T00:00:00Z", rotation });
      assert.equal(windowsOf(managedResource(bindingKind, object), span)?.length, count, reason);
    }
  });
});
