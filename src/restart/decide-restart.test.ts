import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { decideRestart } from "./decide-restart.ts";
import { ABSENT, type RestartDecision, type RestartSituation, type SourceId, type SourceState } from "./model.ts";
import { bytes, digestOfValue, fingerprinter, fingerprinterOf, NOW, stateOf, UNHINDERED } from "./restart.fixture.ts";
import { digestOf } from "./source-digests.ts";
import { digestsText } from "./template-digests.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

const DB = "secret/db";
const digest = (value: string, source: SourceId = DB): string => digestOfValue(source, value);

/** What a source is: of that value since a while ago; undefined: it is not there. */
const source = (value: string | undefined, rest: Partial<SourceState> = {}): SourceState => ({
  digest: value === undefined ? undefined : digest(value),
  publishedAt: NOW - MINUTE_MS,
  isOptional: false,
  ...rest,
});

const only = (db: SourceState): ReadonlyMap<SourceId, SourceState> => new Map([[DB, db]]);

const SITUATION: RestartSituation = {
  ...UNHINDERED,
  state: stateOf({ [DB]: digest("1") }),
  sources: only(source("1")),
  pace: { quietMs: 5 * SECOND_MS, longestWaitMs: MINUTE_MS, leastIntervalMs: 0, perHour: 3 },
};

/** The value is 2 now. */
const CHANGED: RestartSituation = { ...SITUATION, sources: only(source("2")) };

const digestsIn = (decision: RestartDecision): Readonly<Record<string, string>> | undefined =>
  "state" in decision
    ? Object.fromEntries([...decision.state.sources].map(([id, { digest: known }]) => [id, known]))
    : undefined;

/** The kind, and why or with what. */
function summary(decision: RestartDecision): string {
  if (decision.kind === "settled") return `settled ${decision.reason}`;
  return decision.kind === "wait" ? `wait ${decision.reason} ${(decision.until - NOW) / SECOND_MS}s` : decision.kind;
}

const ago = (...minutes: readonly number[]): readonly number[] => minutes.map((count) => NOW - count * MINUTE_MS);

test("what is written down bears the version that it was read in, which alone is no reason to write", () => {
  const versionIn = (sources: ReadonlyMap<SourceId, SourceState>): string | undefined => {
    const decision = decideRestart({ ...SITUATION, sources });
    return "state" in decision ? decision.state.sources.get(DB)?.version : summary(decision);
  };
  assert.equal(versionIn(only(source("2", { version: "8" }))), "8");
  assert.equal(versionIn(only(source("1", { version: "8" }))), "settled UpToDate");
});

test("what is known of a source against what it is", () => {
  const under = (seed: number): string => digestOfValue(DB, "1", fingerprinterOf(seed));
  const rows: readonly (readonly [reason: string, known: string | undefined, now: SourceState, expected: string])[] = [
    ["as it was", digest("1"), source("1"), "settled UpToDate"],
    ["changed", digest("1"), source("2"), "roll"],
    ["not known yet", undefined, source("1"), "adopt"],
    ["known under another key", under(9), source("1"), "adopt"],
    ["gone: what runs does not change", digest("1"), source(undefined), "settled UpToDate"],
    ["gone, optional", digest("1"), source(undefined, { isOptional: true }), "settled UpToDate"],
    ["never there, and pods need it", undefined, source(undefined), "settled UpToDate"],
    ["never there, and pods do without", undefined, source(undefined, { isOptional: true }), "adopt"],
    ["came, and pods did without", ABSENT, source("1", { isOptional: true }), "roll"],
    ["came, and pods need it by now", ABSENT, source("1"), "adopt"],
    ["pods have started with it", digest("1"), source("2", { isRunning: true }), "adopt"],
    ["pods run on what is known", digest("1"), source("1", { isRunning: true }), "settled UpToDate"],
  ];
  for (const [reason, known, now, expected] of rows) {
    const state = known === undefined ? undefined : stateOf({ [DB]: known });
    const decision = decideRestart({ ...SITUATION, state, sources: only(now) });
    assert.equal(summary(decision), expected, reason);
  }
});

test("under another key the version tells: the same is the same, another one is rolled out once", () => {
  const foreign = digestOfValue(DB, "1", fingerprinterOf(9));
  const rows: readonly (readonly [reason: string, known: string | undefined, now: SourceState, expected: string])[] = [
    ["in the very version", "7", source("1", { version: "7" }), "adopt"],
    ["in another version: it may be another value", "7", source("1", { version: "8" }), "roll"],
    ["written by one that noted no version", undefined, source("2", { version: "8" }), "adopt"],
    ["not one object", "7", source("2"), "adopt"],
    ["pods have started with it", "7", source("2", { version: "8", isRunning: true }), "adopt"],
    ["gone", "7", source(undefined, { version: undefined }), "settled UpToDate"],
  ];
  for (const [reason, version, now, expected] of rows) {
    const state = { ...stateOf({}), sources: new Map([[DB, { digest: foreign, since: NOW, version }] as const]) };
    const decision = decideRestart({ ...SITUATION, state, sources: only(now) });
    assert.equal(summary(decision), expected, reason);
    if (!("state" in decision)) continue;
    const next = decideRestart({ ...SITUATION, state: decision.state, sources: only(now) });
    assert.equal(summary(next), "settled UpToDate", `${reason}: one write settles it`);
  }
});

test("who had the state and finds it under another key stands aside, and takes over what is left undone", () => {
  const theirs = (value: string, version: string | undefined) => ({
    ...stateOf({}),
    sources: new Map([
      [DB, { digest: digestOfValue(DB, value, fingerprinterOf(9)), since: NOW - 5 * MINUTE_MS, version }] as const,
    ]),
  });
  const own = new Map([[DB, { digest: digest("1"), since: NOW - 5 * MINUTE_MS, version: "7" }] as const]);
  const changed = only(source("2", { version: "8" }));
  const rows: readonly (readonly [reason: string, changes: Partial<RestartSituation>, expected: string])[] = [
    ["nothing has changed", { state: theirs("1", "7") }, "wait OtherOperator Infinitys"],
    ["of a change they have their time", { state: theirs("1", "7"), sources: changed }, "wait OtherOperator 600s"],
    ["and no longer", { state: theirs("1", "7"), sources: changed, changeSeenAt: NOW - 10 * MINUTE_MS }, "roll"],
    ["they have dealt with it", { state: theirs("2", "8"), sources: changed }, "wait OtherOperator Infinitys"],
    [
      "written, and as it was",
      { state: theirs("1", "7"), sources: only(source("1", { version: "8" })), changeSeenAt: NOW - 60 * MINUTE_MS },
      "wait OtherOperator Infinitys",
    ],
    [
      "without a version the date tells",
      { state: theirs("1", undefined), sources: only(source("2")) },
      "wait OtherOperator 600s",
    ],
    [
      "what has no version is rolled out when it is left",
      { state: theirs("1", undefined), sources: only(source("2")), changeSeenAt: NOW - 10 * MINUTE_MS },
      "roll",
    ],
    ["who never had it in hand takes it", { state: theirs("1", "7"), own: undefined }, "adopt"],
    ["under our own key", { state: stateOf({ [DB]: digest("1") }), sources: changed }, "roll"],
  ];
  for (const [reason, changes, expected] of rows) {
    const situation = { ...SITUATION, sources: only(source("1", { version: "7" })), own, ...changes };
    assert.equal(summary(decideRestart(situation)), expected, reason);
  }
});

test("one restart more is asked for, whatever is known: it is answered once", () => {
  const asked = (againAt: number) => only(source("1", { againAt }));
  const roll = decideRestart({ ...SITUATION, sources: asked(NOW - MINUTE_MS) });
  assert.equal(roll.kind, "roll");
  if (roll.kind !== "roll") return;
  assert.equal(roll.publishedAt, NOW - MINUTE_MS);
  const { state } = roll;
  const rows: readonly (readonly [reason: string, changes: Partial<RestartSituation>, expected: string])[] = [
    ["answered", { state, sources: asked(NOW - MINUTE_MS) }, "settled UpToDate"],
    ["asked for once more", { state, sources: asked(NOW - 10 * SECOND_MS) }, "roll"],
    ["asked for just now", { state, sources: asked(NOW) }, "wait QuietPeriod 5s"],
    ["taken back", { state }, "settled UpToDate"],
    ["of what is not there", { sources: only(source(undefined, { againAt: NOW - MINUTE_MS })) }, "settled UpToDate"],
    [
      "while the window is closed",
      { sources: asked(NOW - MINUTE_MS), window: { isOpen: false, opensAt: NOW } },
      "wait WindowClosed 0s",
    ],
    ["while it is stopped", { sources: asked(NOW - MINUTE_MS), isStopped: true }, "settled Stopped"],
    ["of a workload of which nothing is known", { state: undefined, sources: asked(NOW - MINUTE_MS) }, "adopt"],
  ];
  for (const [reason, changes, expected] of rows) {
    assert.equal(summary(decideRestart({ ...SITUATION, ...changes })), expected, reason);
  }
  const adopted = decideRestart({ ...SITUATION, state: undefined, sources: asked(NOW - MINUTE_MS) });
  assert.equal(adopted.kind === "adopt" && adopted.state.sources.get(DB)?.againAt, undefined, "and is answered next");
});

test("what is adopted is what is there; that a needed source is missing is not", () => {
  const sources = new Map<SourceId, SourceState>([
    [DB, source("1")],
    ["secret/missing", source(undefined)],
    ["configmap/extra", source(undefined, { isOptional: true })],
  ]);
  const decision = decideRestart({ ...SITUATION, state: undefined, sources });
  assert.deepEqual(digestsIn(decision), { [DB]: digest("1"), "configmap/extra": ABSENT });
});

test("a roll writes everything that is there, since when, and itself among the restarts", () => {
  const state = stateOf({ [DB]: digest("1"), "secret/gone": digest("x"), "secret/unused": digest("y") });
  const sources = new Map<SourceId, SourceState>([
    ["secret/new", source("3", { publishedAt: NOW })],
    ["secret/gone", source(undefined)],
    [DB, source("2")],
  ]);
  const decision = decideRestart({ ...SITUATION, state, sources });
  assert.equal(decision.kind, "roll");
  if (decision.kind !== "roll") return;
  assert.deepEqual(decision.changed, [DB]);
  assert.equal(decision.publishedAt, NOW - MINUTE_MS, "of the changed, not of the adopted");
  assert.deepEqual(digestsIn(decision), { "secret/new": digest("3"), "secret/gone": digest("x"), [DB]: digest("2") });
  assert.equal(decision.state.sources.get(DB)?.since, NOW - MINUTE_MS);
  assert.equal(decision.state.sources.get("secret/gone")?.since, NOW, "as it was known");
  assert.deepEqual(decision.state.restartedAt, [NOW]);
});

/** Of a Secret of which only the password is used, which pods start without as well. */
const chosen = (data: Readonly<Record<string, string>>, isOptional: boolean): string =>
  digestOf({
    fingerprinter,
    namespace: "shop",
    source: DB,
    data: bytes(data),
    keys: ["password"],
    ...(isOptional && { optionalKeys: ["password"] }),
  });

test("a key that is used goes and comes: what it was stays known until it is something else", () => {
  for (const isOptional of [false, true]) {
    const now = (data: Readonly<Record<string, string>>): ReadonlyMap<SourceId, SourceState> =>
      only({ ...source("1"), digest: chosen(data, isOptional), isOptional });
    const known = chosen({ password: "1" }, isOptional);
    const rows: readonly (readonly [reason: string, known: string, data: Record<string, string>, expected: string])[] =
      [
        ["it goes", known, { other: "1" }, "settled UpToDate"],
        ["it comes as it was", known, { password: "1" }, "settled UpToDate"],
        ["it comes as something else", known, { password: "2" }, "roll"],
        ["it comes, and was never there", chosen({}, isOptional), { password: "2" }, isOptional ? "roll" : "adopt"],
      ];
    for (const [reason, before, data, expected] of rows) {
      const decision = decideRestart({ ...SITUATION, state: stateOf({ [DB]: before }), sources: now(data) });
      assert.equal(summary(decision), expected, `${reason}, optional: ${isOptional}`);
    }
  }
});

test("pods that are restarted for something else are without what is not there then: its coming is a change", () => {
  const rows: readonly (readonly [reason: string, extra: SourceState, known: string, expected: string])[] = [
    ["a source", source(undefined, { isOptional: true }), digest("x"), ABSENT],
    ["a key", { ...source("1"), digest: chosen({}, true) }, chosen({ password: "1" }, true), chosen({}, true)],
  ];
  for (const [reason, extra, known, expected] of rows) {
    const state = stateOf({ [DB]: digest("1"), "secret/extra": known });
    const sources = new Map<SourceId, SourceState>([
      [DB, source("2")],
      ["secret/extra", extra],
    ]);
    const decision = decideRestart({ ...SITUATION, state, sources });
    assert.equal(decision.kind, "roll", reason);
    assert.equal(digestsIn(decision)?.["secret/extra"], expected, reason);
  }
});

test("a state that is only remembered is written down again, as it was, before anything else is done", () => {
  const remembered = { ...stateOf({ [DB]: digest("1") }), restartedAt: [NOW - MINUTE_MS], isStopped: true };
  for (const text of ["1", "2", undefined]) {
    const situation = { ...SITUATION, state: remembered, isStateLost: true, sources: only(source(text)) };
    assert.deepEqual(decideRestart(situation), { kind: "adopt", state: remembered, isRelease: false });
  }
});

test("what no longer counts is no reason for a write", () => {
  const state = stateOf({ [DB]: digest("1"), "secret/unused": digest("y") });
  assert.equal(summary(decideRestart({ ...SITUATION, state })), "settled UpToDate");
  assert.equal(summary(decideRestart({ ...SITUATION, state: undefined, sources: new Map() })), "settled UpToDate");
});

test("why a change is not rolled out now, and which reason goes first", () => {
  const pace = { ...SITUATION.pace, leastIntervalMs: 10 * MINUTE_MS };
  const justPublished = only(source("2", { publishedAt: NOW - SECOND_MS }));
  const tired = stateOf({ [DB]: digest("1") }, { restartedAt: ago(30, 20, 15) });
  const closed = { isOpen: false, opensAt: NOW + 30 * SECOND_MS };
  const rows: readonly (readonly [reason: string, changes: Partial<RestartSituation>, expected: string])[] = [
    ["nothing", {}, "roll"],
    ["restarted not long ago", { pace, ownRestartedAt: ago(4) }, "wait LeastInterval 360s"],
    [
      "restarted not long ago, by its state",
      { pace, state: stateOf({ [DB]: digest("1") }, { restartedAt: ago(90, 9) }), ownRestartedAt: ago(20) },
      "wait LeastInterval 60s",
    ],
    ["restarted in the future", { pace, ownRestartedAt: ago(-5) }, "wait LeastInterval 600s"],
    ["published just now", { sources: justPublished }, "wait QuietPeriod 4s"],
    ["published again and again, for long enough", { sources: justPublished, changeSeenAt: NOW - MINUTE_MS }, "roll"],
    [
      "published again and again, for nearly long enough",
      { sources: justPublished, changeSeenAt: NOW - MINUTE_MS + SECOND_MS },
      "wait QuietPeriod 1s",
    ],
    ["published in the future", { sources: only(source("2", { publishedAt: NOW * 2 })) }, "wait QuietPeriod 5s"],
    [
      "seen first in the future: the clock has gone back",
      {
        sources: justPublished,
        changeSeenAt: NOW + MINUTE_MS,
        pace: { ...SITUATION.pace, quietMs: 10 * MINUTE_MS },
      },
      "wait QuietPeriod 60s",
    ],
    ["outside of the windows", { window: closed }, "wait WindowClosed 30s"],
    ["no window ever", { window: { isOpen: false, opensAt: undefined } }, "wait WindowClosed Infinitys"],
    ["too many restarts within the hour", { state: tired }, "stop"],
    ["too many, by this process", { ownRestartedAt: ago(3, 2, 1) }, "stop"],
    ["too many, but the last hour began later", { ownRestartedAt: ago(60, 2, 1) }, "roll"],
    ["nothing is too many", { state: tired, pace: { ...SITUATION.pace, perHour: 0 } }, "roll"],
    ["no slot", { hasSlot: false }, "wait NoSlot Infinitys"],
    ["stopped", { isStopped: true }, "settled Stopped"],
    ["stopped goes before all", { isStopped: true, pace, ownRestartedAt: ago(4), window: closed }, "settled Stopped"],
    [
      "the interval goes before quiet",
      { pace, ownRestartedAt: ago(4), sources: justPublished },
      "wait LeastInterval 360s",
    ],
    ["quiet goes before windows", { sources: justPublished, window: closed }, "wait QuietPeriod 4s"],
    ["windows go before the breaker", { state: tired, window: closed }, "wait WindowClosed 30s"],
    ["the breaker goes before slots", { state: tired, hasSlot: false }, "stop"],
  ];
  for (const [reason, changes, expected] of rows) {
    assert.equal(summary(decideRestart({ ...CHANGED, ...changes })), expected, reason);
  }
});

test("a Secret whose publisher asked first has one restart more within the hour, and no second one", () => {
  const spent = (...minutes: readonly number[]) => stateOf({ [DB]: digest("1") }, { restartedAt: ago(...minutes) });
  const markedFor = [DB.slice("secret/".length)];
  const rows: readonly (readonly [reason: string, changes: Partial<RestartSituation>, expected: string])[] = [
    ["nobody has asked", { state: spent(30, 20, 15) }, "stop"],
    ["for another Secret", { state: spent(30, 20, 15), markedFor: ["other"] }, "stop"],
    ["others have used up what was left", { state: spent(30, 20, 15), markedFor }, "roll"],
    ["and so has it", { state: spent(30, 20, 15, 10), markedFor }, "stop"],
    ["stopped is stopped", { state: spent(30, 20, 15), markedFor, isStopped: true }, "settled Stopped"],
  ];
  for (const [reason, changes, expected] of rows)
    assert.equal(summary(decideRestart({ ...CHANGED, ...changes })), expected, reason);
  const rolled = decideRestart({ ...CHANGED, state: spent(30, 20, 15), markedFor });
  assert.equal("state" in rolled && rolled.state.restartedAt.length, 4, "it counts");
});

test("the breaker leaves what is known as it is, and goes on when its mark is taken away", () => {
  const state = stateOf({ [DB]: digest("1") }, { restartedAt: ago(30, 20, 15) });
  const stop = decideRestart({ ...CHANGED, state });
  assert.equal(stop.kind, "stop");
  if (stop.kind !== "stop") return;
  assert.equal(stop.restarts, 3);
  assert.deepEqual(stop.state, { ...state, isStopped: true });
  const stopped = { ...CHANGED, state: stop.state };
  assert.equal(summary(decideRestart({ ...stopped, isStopped: true })), "settled Stopped");
  const release = decideRestart(stopped);
  assert.deepEqual(release, {
    kind: "adopt",
    state: { ...state, restartedAt: [], isStopped: false },
    isRelease: true,
  });
  assert.equal(summary(decideRestart({ ...CHANGED, state: stateOf({ [DB]: digest("1") }) })), "roll");
});

test("a restart that was reverted before it was over is begun again, once for a change", () => {
  const rolled = { publishedAt: NOW, isAgain: false };
  const state = stateOf({ [DB]: digest("1") }, { rolled, restartedAt: ago(1) });
  const reverted: RestartSituation = { ...SITUATION, state, isReverted: true };
  const rows: readonly (readonly [reason: string, situation: RestartSituation, expected: string])[] = [
    ["reverted", reverted, "roll"],
    ["not reverted", { ...reverted, isReverted: false }, "settled UpToDate"],
    ["never restarted by us", { ...reverted, state: stateOf({ [DB]: digest("1") }) }, "settled UpToDate"],
    ["a second time", { ...reverted, state: { ...state, rolled: { ...rolled, isAgain: true } } }, "settled Reverted"],
    ["stopped", { ...reverted, isStopped: true }, "settled Stopped"],
    ["too often already", { ...reverted, state: { ...state, restartedAt: ago(3, 2, 1) } }, "stop"],
    ["no slot", { ...reverted, hasSlot: false }, "wait NoSlot Infinitys"],
    ["outside of windows", { ...reverted, window: { isOpen: false, opensAt: NOW + 60_000 } }, "wait WindowClosed 60s"],
    ["something to adopt goes first", { ...reverted, sources: new Map([["secret/new", source("1")]]) }, "adopt"],
  ];
  for (const [reason, situation, expected] of rows) assert.equal(summary(decideRestart(situation)), expected, reason);
  const decision = decideRestart(reverted);
  assert.ok(decision.kind === "roll");
  assert.deepEqual([decision.changed, decision.publishedAt], [[DB], NOW], "for the same change");
  assert.deepEqual(decision.state.rolled, { publishedAt: NOW, isAgain: true });
  assert.equal(decision.state.restartedAt.length, 2, "it counts as a restart");
  const next = decideRestart({ ...reverted, state: decision.state, sources: only(source("2")) });
  assert.ok(next.kind === "roll");
  assert.equal(next.state.rolled?.isAgain, false, "the next change is another one");
});

test("a workload that somebody stopped still adopts, and is not released by it", () => {
  const sources = new Map<SourceId, SourceState>([...SITUATION.sources, ["secret/new", source("3")]]);
  const decision = decideRestart({ ...SITUATION, sources, isStopped: true });
  assert.partialDeepStrictEqual(decision, { kind: "adopt", isRelease: false, state: { isStopped: false } });
});

test("a template that says all of it already is not rolled again", () => {
  const templateDigests = digestsText(new Map([[DB, { digest: digest("2") }]]));
  const templateRestartedAt = "2026-03-01T11:59:00Z";
  const said = { ...CHANGED, templateDigests, templateRestartedAt };
  assert.partialDeepStrictEqual(decideRestart(said), { kind: "adopt", isRelease: false });
  assert.equal(decideRestart({ ...said, templateDigests: undefined }).kind, "roll");
  const reason = "an undone rollout brought it back, with the date of an older publication of the same value";
  assert.equal(decideRestart({ ...said, templateRestartedAt: "2026-02-01T11:59:00Z" }).kind, "roll", reason);
});

/** One life of a workload: what its sources are, step by step, and a minute between steps. */
const lifeArbitrary = fc.record({
  steps: fc.array(
    fc.record({
      source: fc.constantFrom<SourceId>("secret/a", "secret/b", "configmap/c"),
      value: fc.constantFrom(undefined, "1", "2", "3"),
      hasSlot: fc.boolean(),
      isOpen: fc.boolean(),
      minutes: fc.integer({ min: 0, max: 20 }),
    }),
    { maxLength: 25 },
  ),
  optional: fc.subarray<SourceId>(["secret/a", "secret/b", "configmap/c"]),
  leastIntervalMs: fc.constantFrom(0, 5 * MINUTE_MS),
});

type Life = typeof lifeArbitrary extends fc.Arbitrary<infer T> ? T : never;

/** Plays a life, deciding after each step until nothing is left to do, and lets all waits be over at the end. */
function play({ steps, optional, leastIntervalMs }: Life): {
  rolls: number;
  changes: number;
  situation: RestartSituation;
} {
  const pace = { quietMs: 5 * SECOND_MS, longestWaitMs: MINUTE_MS, leastIntervalMs, perHour: 0 };
  const sources = new Map<SourceId, SourceState>();
  let situation: RestartSituation = { ...SITUATION, state: undefined, sources, pace };
  let rolls = 0;
  let changes = 0;
  const act = (): void => {
    for (let turns = 0; turns < 3; turns++) {
      const decision = decideRestart(situation);
      assert.deepEqual(decideRestart(situation), decision, "the same situation, the same step");
      if (decision.kind !== "roll" && decision.kind !== "adopt") return;
      if (decision.kind === "roll") rolls++;
      situation = { ...situation, state: decision.state };
      assert.equal(summary(decideRestart(situation)), "settled UpToDate", "one write settles it");
    }
  };
  for (const { source: id, value, minutes, ...rest } of steps) {
    const now = situation.now + minutes * MINUTE_MS;
    const next = value === undefined ? undefined : digest(value, id);
    if (sources.get(id)?.digest !== next) changes++;
    sources.set(id, { digest: next, publishedAt: now, isOptional: optional.includes(id) });
    const window = { isOpen: rest.isOpen, opensAt: now + MINUTE_MS };
    situation = { ...situation, now, hasSlot: rest.hasSlot, window };
    act();
  }
  const now = situation.now + 60 * MINUTE_MS;
  situation = { ...situation, now, hasSlot: true, window: { isOpen: true, opensAt: now } };
  act();
  return { rolls, changes, situation };
}

test("whatever happens: no more rolls than changes, and the last value is rolled out when the waits are over", () => {
  fc.assert(
    fc.property(lifeArbitrary, (life) => {
      const { rolls, changes, situation } = play(life);
      assert.ok(rolls <= changes, `${rolls} rolls of ${changes} changes`);
      assert.equal(summary(decideRestart(situation)), "settled UpToDate");
      for (const [id, { digest: now }] of situation.sources) {
        if (now !== undefined) assert.equal(situation.state?.sources.get(id)?.digest, now, id);
      }
    }),
    { numRuns: 500 },
  );
});

test("whatever is not known, nothing rolls", () => {
  const sourceArbitrary = fc.record({
    digest: fc.constantFrom(undefined, digest("1"), digest("2")),
    publishedAt: fc.integer({ min: NOW - MINUTE_MS, max: NOW + MINUTE_MS }),
    isOptional: fc.boolean(),
  });
  fc.assert(
    fc.property(
      sourceArbitrary,
      fc.constantFrom(undefined, digestOfValue(DB, "9", fingerprinterOf(7))),
      (now, known) => {
        const state = known === undefined ? undefined : stateOf({ [DB]: known });
        const decision = decideRestart({ ...SITUATION, state, sources: only(now) });
        assert.ok(decision.kind === "adopt" || decision.kind === "settled", decision.kind);
      },
    ),
  );
});

test("every wait is in the future", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: NOW - 2 * MINUTE_MS, max: NOW + 2 * MINUTE_MS }),
      fc.option(fc.integer({ min: NOW - 2 * MINUTE_MS, max: NOW + 2 * MINUTE_MS }), { nil: undefined }),
      fc.array(fc.integer({ min: NOW - 5 * MINUTE_MS, max: NOW + MINUTE_MS }), { maxLength: 2 }),
      (publishedAt, changeSeenAt, ownRestartedAt) => {
        const pace = { ...SITUATION.pace, leastIntervalMs: MINUTE_MS };
        const sources = only(source("2", { publishedAt }));
        const decision = decideRestart({ ...CHANGED, pace, sources, changeSeenAt, ownRestartedAt });
        assert.ok(decision.kind === "roll" || (decision.kind === "wait" && decision.until > NOW), summary(decision));
      },
    ),
  );
});

test("what a pod template brings that came after it is not rolled out", () => {
  const departure = { template: "id.left", version: "20" };
  const brought = (version: string | undefined, areAll = true): Partial<RestartSituation> => ({
    sources: only(source("2", { version })),
    departed: { departure, areAll },
  });
  const coming = stateOf({ [DB]: digest("1") }, { departure });
  const rows: readonly (readonly [reason: string, changes: Partial<RestartSituation>, expected: string])[] = [
    ["it came after the change, and all pods are of it", brought("19"), "adopt"],
    ["it came with the change itself", brought("20"), "roll"],
    ["the change came later", brought("21"), "roll"],
    ["numbers, not words", brought("3"), "adopt"],
    ["versions that nobody can compare", brought("x-19"), "roll"],
    ["no version at all", brought(undefined), "roll"],
    ["pods from before are there: that is written down first", brought("19", false), "adopt"],
    ["and then waited for", { ...brought("19", false), state: coming }, "wait OtherRollout Infinitys"],
    [
      "another one than was written down",
      { ...brought("19", false), state: { ...coming, departure: { ...departure, version: "18" } } },
      "adopt",
    ],
    ["whatever the window and the slots say", { ...brought("19"), hasSlot: false, isStopped: true }, "adopt"],
    ["what nobody has left brings nothing", { ...brought("19"), departed: undefined }, "roll"],
    [
      "one of two came later",
      {
        state: stateOf({ [DB]: digest("1"), "secret/b": digest("1", "secret/b") }),
        sources: new Map([
          [DB, source("2", { version: "19" })],
          ["secret/b", source("2", { version: "21", digest: digest("2", "secret/b") })],
        ]),
        departed: { departure, areAll: true },
      },
      "roll",
    ],
    [
      "somebody asks for pods of after a date",
      {
        sources: only(source("1", { version: "19", againAt: NOW - MINUTE_MS })),
        departed: { departure, areAll: true },
      },
      "roll",
    ],
    [
      "nothing has changed",
      { sources: only(source("1", { version: "19" })), departed: { departure, areAll: true } },
      "settled UpToDate",
    ],
  ];
  for (const [reason, changes, expected] of rows) {
    assert.equal(summary(decideRestart({ ...CHANGED, ...changes })), expected, reason);
  }
});

test("until all pods have moved nothing counts as moved; then it does, and says who brought it", () => {
  const departure = { template: "id.left", version: "20" };
  const sources = only(source("2", { version: "19" }));
  const first = decideRestart({ ...CHANGED, sources, departed: { departure, areAll: false } });
  assert.ok(first.kind === "adopt");
  assert.equal(first.state.sources.get(DB)?.digest, digest("1"));
  assert.deepEqual(first.state.departure, departure);
  const second = decideRestart({ ...CHANGED, sources, state: first.state, departed: { departure, areAll: true } });
  assert.ok(second.kind === "adopt");
  const { digest: known, isBrought, version } = second.state.sources.get(DB) ?? {};
  assert.deepEqual([known, isBrought, version], [digest("2"), true, "19"]);
  assert.equal(second.state.departure, undefined);
  const third = decideRestart({ ...CHANGED, state: second.state, sources: only(source("3", { version: "30" })) });
  assert.ok(third.kind === "roll");
  assert.equal(third.state.sources.get(DB)?.isBrought, undefined, "our own words are on the template again");
});
