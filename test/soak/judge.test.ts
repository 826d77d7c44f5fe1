import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Fault,
  judgeCaches,
  judgeLateness,
  judgeMemory,
  judgeRepairs,
  judgeSamples,
  latenessOf,
  memoryOf,
  type Sample,
  type Subject,
} from "./judge.ts";
import { type ResourceState, RotationLog } from "./rotation-log.ts";

const LIMIT_MS = 5_000;
const subject: Subject = { kind: "ServiceBinding", tags: new Set(["api", "btp"]), takesMs: 0 };
const rotation = (doneAt: number) => ({ resource: "db", dueAt: 10_000, begunAt: 10_000, doneAt });
const fault = (startAt: number, endAt: number, tag = "btp"): Fault => ({ what: "outage", tag, startAt, endAt });

describe("how late a rotation is", () => {
  const cases: readonly {
    readonly reason: string;
    readonly doneAt: number;
    readonly faults: readonly Fault[];
    readonly latenessMs: number;
  }[] = [
    { reason: "without a fault, since it was due", doneAt: 12_000, faults: [], latenessMs: 2_000 },
    { reason: "since the end of a fault", doneAt: 22_000, faults: [fault(9_000, 20_000)], latenessMs: 2_000 },
    {
      reason: "a fault of somebody else excuses nothing",
      doneAt: 22_000,
      faults: [fault(9_000, 20_000, "cf")],
      latenessMs: 12_000,
    },
    { reason: "a fault that was over before", doneAt: 12_000, faults: [fault(1_000, 2_000)], latenessMs: 2_000 },
    {
      reason: "one fault after another",
      doneAt: 31_000,
      faults: [fault(24_000, 30_000, "api"), fault(9_000, 20_000)],
      latenessMs: 1_000,
    },
    {
      reason: "a fault that began when it was late already",
      doneAt: 31_000,
      faults: [fault(15_001, 30_000)],
      latenessMs: 21_000,
    },
    {
      reason: "a fault that began just before it was late",
      doneAt: 31_000,
      faults: [fault(15_000, 30_000)],
      latenessMs: 1_000,
    },
    { reason: "done while the fault goes on", doneAt: 12_000, faults: [fault(9_000, 20_000)], latenessMs: -8_000 },
  ];
  for (const { reason, doneAt, faults, latenessMs } of cases) {
    test(reason, () => {
      assert.equal(latenessOf(rotation(doneAt), subject, { faults, limitMs: LIMIT_MS }).latenessMs, latenessMs);
    });
  }

  test("what a rotation takes by itself is not held against it", () => {
    const slow = { ...subject, takesMs: 1_500 };
    assert.equal(latenessOf(rotation(12_000), slow, { faults: [], limitMs: LIMIT_MS }).latenessMs, 500);
  });
});

describe("rotations that are too late", () => {
  const late = (latenessMs: number) => [
    { resource: "db", kind: "ServiceBinding", dueAt: 0, latenessMs, after: "outage" },
  ];
  test("none at the limit", () => assert.deepEqual(judgeLateness(late(LIMIT_MS), LIMIT_MS), []));
  test("one a millisecond later", () =>
    assert.match(judgeLateness(late(LIMIT_MS + 1), LIMIT_MS).join(), /db was 5001 ms late after "outage"/));
  test("one that cannot be told", () => assert.equal(judgeLateness(late(Number.NaN), LIMIT_MS).length, 1));
  test("no rotation at all", () => assert.deepEqual(judgeLateness([], LIMIT_MS), ["there was no rotation"]));
});

const MINUTE_MS = 60_000;
const EVERY_MS = 10_000;
/** Half an hour of looks. */
const samplesOf = (megabytesAt: (minute: number) => number, more: Partial<Sample> = {}): readonly Sample[] =>
  Array.from({ length: 181 }, (_, index) => ({
    at: index * EVERY_MS,
    residentMegabytes: megabytesAt((index * EVERY_MS) / MINUTE_MS),
    isReady: true,
    staleWatches: [],
    ...more,
  }));

describe("memory", () => {
  const cases: readonly {
    readonly reason: string;
    readonly megabytesAt: (minute: number) => number;
    readonly problems: number;
  }[] = [
    { reason: "flat", megabytesAt: () => 150, problems: 0 },
    {
      reason: "grows in the first ten minutes alone",
      megabytesAt: (minute) => Math.min(150, 50 + 10 * minute),
      problems: 0,
    },
    { reason: "goes up and down", megabytesAt: (minute) => 150 + 30 * Math.sin(minute * 7), problems: 0 },
    { reason: "shrinks", megabytesAt: (minute) => 150 - minute, problems: 0 },
    {
      reason: "leaks a megabyte a minute: by medians and by trend",
      megabytesAt: (minute) => 150 + minute,
      problems: 2,
    },
    { reason: "leaks just enough", megabytesAt: (minute) => 150 + 0.3 * minute, problems: 0 },
    { reason: "takes a step that stays", megabytesAt: (minute) => (minute < 20 ? 150 : 165), problems: 2 },
    {
      reason: "grows between the quarters that are compared: by trend alone",
      megabytesAt: (minute) => (minute < 15 ? 150 : minute < 20 ? 140 : minute < 25 ? 165 : 156),
      problems: 1,
    },
  ];
  for (const { reason, megabytesAt, problems } of cases) {
    test(reason, () => {
      const found = judgeMemory(samplesOf(megabytesAt), 0.05);
      assert.equal(found.length, problems, `${found.join()} ${JSON.stringify(memoryOf(samplesOf(megabytesAt)))}`);
    });
  }
  test("too few samples are no proof", () => assert.equal(judgeMemory(samplesOf(() => 1).slice(0, 4), 0.05).length, 1));
});

describe("looks", () => {
  const cases: readonly { readonly reason: string; readonly samples: readonly Sample[]; readonly problem?: RegExp }[] =
    [
      { reason: "all is well", samples: samplesOf(() => 1) },
      {
        reason: "not ready once",
        samples: [...samplesOf(() => 1), { at: 1_810_000, residentMegabytes: 1, isReady: false, staleWatches: [] }],
        problem: /not ready/,
      },
      {
        reason: "a stale watch",
        samples: samplesOf(() => 1, { staleWatches: ["secrets"] }),
        problem: /the watch of secrets is stale/,
      },
      {
        reason: "nobody has looked for a while",
        samples: samplesOf(() => 1).filter((_, index) => index < 50 || index > 60),
        problem: /nobody looked for 120 s/,
      },
      { reason: "nobody has looked at all", samples: [], problem: /nobody looked/ },
    ];
  for (const { reason, samples, problem } of cases) {
    test(reason, () => {
      const found = judgeSamples(samples, EVERY_MS);
      if (problem) assert.match(found.join(), problem);
      else assert.deepEqual(found, []);
    });
  }
});

describe("caches", () => {
  const there = new Map([["secrets", 3]]);
  const cases = [
    { reason: "as many as there are", cached: new Map([["secrets", 3]]), problems: 0 },
    { reason: "one is missing", cached: new Map([["secrets", 2]]), problems: 1 },
    { reason: "one too many", cached: new Map([["secrets", 4]]), problems: 1 },
    { reason: "there is no such watch", cached: new Map<string, number>(), problems: 1 },
  ];
  for (const { reason, cached, problems } of cases) {
    test(reason, () => assert.equal(judgeCaches(cached, there).length, problems));
  }
});

describe("repairs", () => {
  const cases: readonly {
    readonly reason: string;
    readonly wholeAt: number;
    readonly faults: readonly Fault[];
    readonly problems: number;
  }[] = [
    { reason: "in time", wholeAt: 15_000, faults: [], problems: 0 },
    { reason: "too late", wholeAt: 15_001, faults: [], problems: 1 },
    { reason: "never", wholeAt: Number.POSITIVE_INFINITY, faults: [], problems: 1 },
    { reason: "in time after an outage", wholeAt: 24_000, faults: [fault(11_000, 20_000)], problems: 0 },
  ];
  for (const { reason, wholeAt, faults, problems } of cases) {
    test(reason, () => {
      const repairs = [{ secret: "db", harmedAt: 10_000, wholeAt }];
      assert.equal(judgeRepairs(repairs, { subject, faults, limitMs: LIMIT_MS }).length, problems);
    });
  }
});

describe("rotations as states show them", () => {
  const state = (at: number, sequence: number, isPending: boolean, dueAt = 100): ResourceState => ({
    resource: "db",
    at,
    dueAt,
    sequence,
    isPending,
  });
  const cases: readonly {
    readonly reason: string;
    readonly states: readonly ResourceState[];
    readonly rotations: readonly (readonly number[])[];
    readonly unfinished: number;
  }[] = [
    { reason: "at rest", states: [state(1, 1, false)], rotations: [], unfinished: 1 },
    {
      reason: "the first key",
      states: [state(1, 1, true, Number.NaN), state(2, 1, false)],
      rotations: [],
      unfinished: 1,
    },
    {
      reason: "one rotation",
      states: [state(1, 1, false), state(110, 2, true), state(112, 2, false, 900)],
      rotations: [[100, 110, 112]],
      unfinished: 0,
    },
    {
      reason: "a key that is given up on the way",
      states: [state(1, 1, false), state(110, 2, true), state(111, 3, true), state(115, 3, false, 900)],
      rotations: [[100, 110, 115]],
      unfinished: 0,
    },
    {
      reason: "whose beginning nobody saw",
      states: [state(1, 1, false), state(120, 2, false, 900)],
      rotations: [[100, 120, 120]],
      unfinished: 0,
    },
    {
      reason: "whose beginning was before us",
      states: [state(50, 2, true), state(60, 2, false, 900)],
      rotations: [[100, 50, 60]],
      unfinished: 0,
    },
    {
      reason: "that does not come to an end",
      states: [state(1, 1, false), state(110, 2, true)],
      rotations: [],
      unfinished: 1,
    },
    {
      reason: "told twice",
      states: [state(1, 1, false), state(110, 2, true), state(112, 2, false, 900), state(113, 2, false, 900)],
      rotations: [[100, 110, 112]],
      unfinished: 0,
    },
  ];
  for (const { reason, states, rotations, unfinished } of cases) {
    test(reason, () => {
      const log = new RotationLog();
      for (const each of states) log.see(each);
      assert.deepEqual(
        log.rotations.map(({ dueAt, begunAt, doneAt }) => [dueAt, begunAt, doneAt]),
        rotations,
      );
      assert.equal(log.unfinished(500).length, unfinished);
    });
  }
});
