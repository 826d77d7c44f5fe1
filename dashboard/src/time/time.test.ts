import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MAX_INSTANT, MIN_INSTANT } from "../../../src/base/instant.ts";
import { fc } from "../../../src/base/properties.fixture.ts";
import { labelsOf, presentLabel, presentText, ticksOf } from "./ticks.ts";
import {
  clampSpan,
  fittingRange,
  MAX_SPAN_MS,
  MIN_SPAN_MS,
  PRESETS,
  pan,
  reveal,
  stretchOf,
  type TimeRange,
  zoom,
} from "./time-range.ts";
import { timeScale } from "./time-scale.ts";

const NOW = Date.UTC(2026, 10, 18, 10, 21);
const DAY_MS = 86_400_000;
const span = fc.integer({ min: MIN_SPAN_MS, max: MAX_SPAN_MS });
const instant = fc.oneof(
  fc.integer({ min: NOW - MAX_SPAN_MS, max: NOW + MAX_SPAN_MS }),
  fc.constantFrom(MIN_INSTANT, MAX_INSTANT, -8e15, 8e15),
);
const ranges: fc.Arbitrary<TimeRange> = fc.oneof(
  fc.record({ spanMs: span }),
  fc.record({ spanMs: span, from: instant }),
);

describe("a range of time", () => {
  it("lies within what dates can say, however it was moved", () => {
    const factor = fc.constantFrom(0.01, 0.5, 2, 100);
    fc.assert(
      fc.property(ranges, factor, fc.double({ min: -1e6, max: 1e6, noNaN: true }), (range, by, share) => {
        for (const moved of [range, zoom(range, by, { now: NOW }), pan(range, share, NOW), reveal(range, 8e15, NOW)]) {
          const { from, until } = stretchOf(moved, NOW);
          assert.ok(from >= MIN_INSTANT && until <= MAX_INSTANT && until > from, `${from} to ${until}`);
          assert.ok(until - from <= MAX_SPAN_MS && until - from >= MIN_SPAN_MS);
        }
      }),
    );
  });

  it("keeps what stands under the pointer there while it is zoomed", () => {
    fc.assert(
      fc.property(
        span,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(0.5, 0.9, 1.5),
        (spanMs, share, by) => {
          const range = { spanMs, from: NOW };
          const anchor = NOW + share * spanMs;
          const after = stretchOf(zoom(range, by, { now: NOW, anchor }), NOW);
          const shareAfter = (anchor - after.from) / (after.until - after.from);
          assert.ok(Math.abs(shareAfter - share) < 0.001, `${share} became ${shareAfter}`);
        },
      ),
    );
  });

  it("follows the present until it is panned", () => {
    const following = { spanMs: PRESETS[2].spanMs };
    assert.notDeepEqual(stretchOf(following, NOW), stretchOf(following, NOW + 60_000));
    assert.equal(zoom(following, 2, { now: NOW }).from, undefined);
    const moved = pan(following, 0.5, NOW);
    assert.deepEqual(stretchOf(moved, NOW), stretchOf(moved, NOW + 60_000));
  });

  it("shows a few rotations where nobody has chosen", () => {
    const seconds = [20, 60, 90].map((count) => count * 1000);
    assert.equal(fittingRange(seconds).spanMs, PRESETS[0].spanMs);
    assert.equal(fittingRange([7 * 86_400_000]).spanMs, PRESETS[4].spanMs);
    assert.equal(fittingRange([1e15]).spanMs, MAX_SPAN_MS);
    assert.equal(fittingRange([]).spanMs, PRESETS[4].spanMs);
  });

  it("makes something of a length that is none", () => {
    for (const odd of [Number.NaN, Infinity, -1, 0]) assert.ok(clampSpan(odd) >= MIN_SPAN_MS);
  });
});

describe("a scale", () => {
  it("gives every instant a place near the track, in order", () => {
    fc.assert(
      fc.property(ranges, instant, instant, (range, a, b) => {
        const scale = timeScale(stretchOf(range, NOW), 1000);
        const [first, second] = [scale.x(Math.min(a, b)), scale.x(Math.max(a, b))];
        assert.ok(first <= second && first >= -16 && second <= 1016, `${first}, ${second}`);
      }),
    );
  });
});

describe("ticks", () => {
  it("are round, in order, and not too close, from ten minutes to two years, also in the year 1 and in 9999", () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 200, max: 2000 }), (range, width) => {
        const scale = timeScale(stretchOf(range, NOW), width);
        const { minor, major } = ticksOf(scale, 70);
        assert.ok(major.length > 0, "there is always something that says where one is");
        minor.slice(1).forEach((tick, index) => {
          const before = minor[index];
          assert.ok(before && tick.at > before.at);
          if (before.x > 0 && tick.x < width) assert.ok(tick.x - before.x > 50, `${before.text} ${tick.text}`);
        });
      }),
    );
  });

  it("are named where there is room: no name runs out of the track or into another, and one has room for the zone", () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 200, max: 2000 }), (range, width) => {
        const ticks = ticksOf(timeScale(stretchOf(range, NOW), width), width < 500 ? 52 : 72);
        const { minor, major } = labelsOf(ticks, { width, kept: 32 });
        assert.ok(major.length > 0, "something says where one is, and in which time");
        for (const [names, letter, kept] of [
          [minor, 6.5, 0],
          [major, 7.5, 32],
        ] as const) {
          names.forEach(({ x, text }, index) => {
            const end = x + text.length * letter + (index === 0 ? kept : 0);
            assert.ok(x >= 0 && end <= (names[index + 1]?.x ?? width), `${text} from ${x} to ${end}`);
          });
        }
      }),
    );
  });

  it("leave out a last name that would be cut, and name a month that began before the track", () => {
    const scale = timeScale({ from: Date.UTC(2026, 10, 10), until: Date.UTC(2026, 11, 14, 12) }, 360);
    const labels = labelsOf(ticksOf(scale, 52), { width: 360, kept: 32 });
    assert.deepEqual(
      labels.minor.map(({ text }) => text),
      ["Mon 16", "Mon 23", "Mon 30", "Mon 7"],
    );
    assert.deepEqual(
      labels.major.map(({ x, text }) => [Math.round(x), text]),
      [
        [4, "Nov 2026"],
        [223, "Dec 2026"],
      ],
    );
  });

  it("name the present where nothing else stands, and nowhere else", () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 200, max: 2000 }), (range, width) => {
        const scale = timeScale(stretchOf(range, NOW), width);
        const ticks = ticksOf(scale, 72);
        const labels = { ...labelsOf(ticks, { width, kept: 32 }), kept: 32 };
        const label = presentLabel(NOW, scale, { ticks, labels });
        if (!label) return;
        const end = label.x + label.text.length * 7.5;
        assert.ok(label.x >= 0 && end <= width && NOW >= scale.from && NOW <= scale.until);
        labels[label.line].forEach(({ x, text }, index) => {
          const until = x + text.length * 6.5 + (label.line === "major" && index === 0 ? 32 : 0);
          assert.ok(end < x || label.x > until, `${label.text} at ${label.x}, ${text} from ${x} to ${until}`);
        });
        for (const { x } of ticks[label.line]) assert.ok(x < label.x || x > end, `a tick through it at ${x}`);
      }),
    );
  });

  it("name the present in the lower line where its names are far apart, else in the upper one", () => {
    const lineAt = (days: number): readonly unknown[] => {
      const scale = timeScale({ from: NOW - days * DAY_MS, until: NOW + days * DAY_MS }, 900);
      const ticks = ticksOf(scale, 72);
      const labels = { ...labelsOf(ticks, { width: 900, kept: 32 }), kept: 32 };
      const label = presentLabel(NOW, scale, { ticks, labels });
      return [label?.line, label?.text];
    };
    assert.deepEqual(lineAt(15), ["minor", "18 Nov 10:21Z"]);
    assert.deepEqual(lineAt(40), ["major", "18 Nov 10:21Z"]);
    assert.equal(presentText(Date.UTC(2026, 0, 2, 3, 4, 5)), "2 Jan 03:04Z");
  });

  for (const [from, until, minor, major, reason] of [
    ["2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", "10:10", "Wed 18 Nov 2026", "an hour"],
    ["2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z", "Tue 17", "Nov 2026", "a week"],
    ["2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z", "Apr", "2026", "a year"],
    ["0001-01-01T00:00:00Z", "0002-12-31T00:00:00Z", "Apr", "0001", "the first years"],
  ] as const) {
    it(`${minor} under ${major}: ${reason}`, () => {
      const scale = timeScale({ from: Date.parse(from), until: Date.parse(until) }, 800);
      const ticks = ticksOf(scale, 70);
      assert.ok(
        ticks.minor.some(({ text }) => text === minor),
        ticks.minor.map(({ text }) => text).join(", "),
      );
      assert.ok(
        ticks.major.some(({ text }) => text === major),
        ticks.major.map(({ text }) => text).join(", "),
      );
    });
  }
});
