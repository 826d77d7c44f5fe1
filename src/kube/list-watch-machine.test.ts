import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import {
  DEFAULT_TIMING,
  type Effect,
  type FailureKind,
  type Input,
  initialState,
  type ListWatchState,
  step,
} from "./list-watch-machine.ts";
import type { KubeObject } from "./objects.ts";
import type { WatchEvent } from "./port.ts";

const object = (resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "x", namespace: "n", uid: "u", resourceVersion },
});
const event = (resourceVersion: string, type: "ADDED" | "MODIFIED" | "DELETED" = "MODIFIED"): Input => ({
  kind: "event",
  event: { type, object: object(resourceVersion) },
});
const bookmark = (resourceVersion: string, initialEventsEnd = false): Input => ({
  kind: "event",
  event: { type: "BOOKMARK", resourceVersion, initialEventsEnd },
});
const page = (resourceVersion: string, token?: string): Input => ({
  kind: "page",
  page: { items: [object("1")], resourceVersion, ...(token !== undefined && { continue: token }) },
});
const failed = (failure: FailureKind, extra: { lastedMs?: number; retryAfterMs?: number } = {}): Input => ({
  kind: "failed",
  failure,
  lastedMs: 0,
  ...extra,
});
const timer: Input = { kind: "timer" };

interface Run {
  readonly state: ListWatchState;
  /** The effects of the last input. */
  readonly effects: readonly Effect[];
}

function run(start: ListWatchState, ...inputs: readonly Input[]): Run {
  let last: Run = { state: start, effects: [] };
  for (const input of inputs) last = step(last.state, input);
  return last;
}

const paged = initialState({ watchList: false });
const streamed = initialState({ watchList: true });
const watching = run(paged, page("10")).state;
const kinds = (effects: readonly Effect[]): readonly string[] => effects.map((effect) => effect.kind);

test("a paged list: pages are staged, the last one commits, and the watch starts at the list's moment", () => {
  const first = run(paged, page("10", "t1"));
  assert.deepEqual(first.state.phase, { kind: "listing", token: "t1", listVersion: "10", unpaged: false });
  assert.deepEqual(kinds(first.effects), ["unstage", "stage"]);
  assert.equal(first.state.synced, false);
  const last = run(first.state, page("12"));
  assert.deepEqual(kinds(last.effects), ["stage", "commit"]);
  assert.equal(last.state.position, "10", "the earliest moment misses nothing");
  assert.equal(last.state.phase.kind, "watching");
  assert.equal(last.state.synced, true);
});

test("WatchList: nothing is visible before the bookmark that says it is all", () => {
  const before = run(streamed, event("3", "ADDED"), bookmark("5"), event("6", "DELETED"));
  assert.equal(before.state.phase.kind, "watchListing", "an ordinary bookmark does not end the initial state");
  assert.deepEqual(kinds(before.effects), ["stageEvent"]);
  const after = run(before.state, bookmark("7", true));
  assert.deepEqual(after.effects, [{ kind: "commit", resourceVersion: "7" }]);
  assert.equal(after.state.position, "7");
});

test("WatchList that the server does not know is remembered, and listed instead at once", () => {
  const { state, effects } = run(streamed, event("3", "ADDED"), failed("bad-request"));
  assert.equal(state.phase.kind, "listing");
  assert.deepEqual(kinds(effects), ["unstage", "restart"], "what was staged is forgotten");
  const later = run(state, page("10"), failed("gone"));
  assert.equal(later.state.phase.kind, "listing", "it is not asked for again");
});

test("WatchList that never becomes complete gives way to a paged list now and then", () => {
  let state = streamed;
  for (let i = 0; i < 3; i++) {
    assert.equal(state.phase.kind, "watchListing");
    state = run(state, event("3", "ADDED"), { kind: "ended", lastedMs: 1 }, timer).state;
  }
  assert.equal(state.phase.kind, "listing");
  assert.equal(run(state, page("9"), failed("gone")).state.phase.kind, "waiting");
  assert.equal(
    run(state, page("9"), failed("gone"), timer).state.phase.kind,
    "watchListing",
    "after success it is tried again",
  );
});

test("events move the position after they were handed on; bookmarks move it alone", () => {
  const one = run(watching, event("11"));
  assert.deepEqual(kinds(one.effects), ["apply", "advance"]);
  assert.equal(one.state.position, "11");
  const two = run(one.state, bookmark("20"));
  assert.deepEqual(two.effects, [{ kind: "advance", resourceVersion: "20" }]);
  assert.equal(two.state.position, "20");
});

test("a broken watch goes on from its position, after a pause", () => {
  const broken = run(watching, event("11"), failed("unreachable"));
  assert.deepEqual(broken.state.phase, {
    kind: "waiting",
    next: "watch",
    pause: { delayMs: DEFAULT_TIMING.firstPauseMs, jitter: "down", reason: "unreachable" },
  });
  const resumed = run(broken.state, timer).state;
  assert.equal(resumed.phase.kind, "watching");
  assert.equal(resumed.position, "11");
});

test("a watch that the server ends in good order goes on at once, unless it was of no use", () => {
  assert.equal(run(watching, event("11"), { kind: "ended", lastedMs: 5 }).state.phase.kind, "watching");
  assert.equal(run(watching, { kind: "ended", lastedMs: 300_000 }).state.phase.kind, "watching");
  assert.equal(run(watching, { kind: "ended", lastedMs: 5 }).state.phase.kind, "waiting", "no tight loop");
});

test("a server that repeats what is known and hangs up is asked again after a pause, not in a loop", () => {
  for (const repeated of [event("9"), event("10"), bookmark("10")]) {
    assert.equal(run(watching, repeated, { kind: "ended", lastedMs: 10 }).state.phase.kind, "waiting");
  }
});

test("pauses grow to a limit and start small again once the watch makes progress", () => {
  let state = watching;
  const pauses: number[] = [];
  for (let i = 0; i < 9; i++) {
    state = run(state, failed("unavailable")).state;
    if (state.phase.kind === "waiting") pauses.push(state.phase.pause.delayMs);
    state = run(state, timer).state;
  }
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  assert.equal(run(state, event("11")).state.failures, 0);
  assert.equal(
    run(state, failed("unreachable", { lastedMs: 60_000 })).state.failures,
    1,
    "a long quiet watch was sound",
  );
});

test("an expired position is listed anew at once, and in a loop with pauses", () => {
  const gone = run(watching, failed("gone"));
  assert.equal(gone.state.phase.kind, "listing");
  assert.equal(gone.state.position, undefined);
  assert.deepEqual(gone.effects, [{ kind: "unstage" }, { kind: "restart", reason: "expired" }]);
  const again = run(gone.state, page("10"), failed("gone"));
  assert.equal(again.state.phase.kind, "waiting");
});

test("a token that expires restarts the list without it; if that goes on, without pages", () => {
  const expired = run(paged, page("10", "t1"), failed("gone"));
  assert.deepEqual(expired.state.phase, { kind: "listing", unpaged: false });
  assert.equal(kinds(expired.effects)[0], "unstage");
  const again = run(expired.state, page("11", "t2"), failed("gone"), timer);
  assert.deepEqual(again.state.phase, { kind: "listing", unpaged: true });
});

test("a page that fails is asked for again, and the pages before it are kept", () => {
  const broken = run(paged, page("10", "t1"), failed("unreachable"));
  assert.deepEqual(kinds(broken.effects), ["restart"], "nothing is unstaged");
  assert.deepEqual(run(broken.state, timer).state.phase, {
    kind: "listing",
    token: "t1",
    listVersion: "10",
    unpaged: false,
  });
});

test("a token that the server calls nonsense is dropped", () => {
  const refused = run(paged, page("10", "t1"), failed("bad-request"), timer);
  assert.deepEqual(refused.state.phase, { kind: "listing", unpaged: false });
});

test("Retry-After is honoured, within reason, and does not count as a failure", () => {
  const { state } = run(watching, failed("throttled", { retryAfterMs: 7000 }));
  assert.deepEqual(state.phase, {
    kind: "waiting",
    next: "watch",
    pause: { delayMs: 7000, jitter: "up", reason: "throttled" },
  });
  assert.equal(state.failures, 0);
  const long = run(watching, failed("throttled", { retryAfterMs: 1e9 })).state;
  assert.equal(long.phase.kind === "waiting" && long.phase.pause.delayMs, DEFAULT_TIMING.longestRetryAfterMs);
  const none = run(watching, failed("throttled", { retryAfterMs: 0 })).state;
  assert.equal(none.phase.kind === "waiting" && none.phase.pause.delayMs, DEFAULT_TIMING.firstPauseMs, "no tight loop");
});

test("a kind that is not served is no failure: it is waited for, and a poke looks at once", () => {
  const missing = run(paged, failed("not-served")).state;
  assert.equal(missing.served, false);
  assert.equal(missing.failures, 0);
  assert.equal(missing.phase.kind, "waiting");
  const poked = run(missing, { kind: "poke" }).state;
  assert.equal(poked.phase.kind, "listing");
  const there = run(poked, page("10")).state;
  assert.equal(there.served, true);
  assert.equal(there.synced, true);
});

test("a poke shortens no other pause", () => {
  const paused = run(watching, failed("unavailable")).state;
  assert.equal(run(paused, { kind: "poke" }).state, paused);
  assert.equal(run(watching, { kind: "poke" }).state, watching);
  const refused = run(paged, failed("refused")).state;
  assert.deepEqual(run(refused, { kind: "poke" }).state.phase, refused.phase);
});

test("after a poke it looks often for a while: a definition is heard of before its path is served", () => {
  const pauses: number[] = [];
  let state = run(paged, { kind: "poke" }).state;
  for (let i = 0; i < 7; i++) {
    state = run(state, failed("not-served")).state;
    if (state.phase.kind === "waiting") pauses.push(state.phase.pause.delayMs);
    state = run(state, timer).state;
  }
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 15_000, 30_000]);
});

test("one 404 may be a server that is starting; after three in a row the objects are gone", () => {
  const once = run(watching, failed("not-served"));
  assert.deepEqual(kinds(once.effects), ["unstage", "restart"]);
  const twice = run(once.state, timer, failed("not-served"));
  assert.deepEqual(kinds(twice.effects), ["unstage", "restart"]);
  const thrice = run(twice.state, timer, failed("not-served"));
  assert.deepEqual(kinds(thrice.effects), ["unstage", "commit", "restart"], "an empty set is committed");
  const more = run(thrice.state, timer, failed("not-served"));
  assert.deepEqual(kinds(more.effects), ["unstage", "restart"], "once is enough");
});

test("one old bookmark is a lagging replica; two are a history that went back", () => {
  const one = run(watching, bookmark("9"));
  assert.deepEqual(one.effects, []);
  assert.equal(one.state.position, "10");
  assert.equal(run(one.state, event("11"), bookmark("9")).state.phase.kind, "watching", "they must come in a row");
  const two = run(one.state, bookmark("9"));
  assert.equal(two.state.phase.kind, "listing");
  assert.deepEqual(two.effects.at(-1), { kind: "restart", reason: "history-rewound" });
});

test("stopped is stopped", () => {
  const { state } = run(watching, { kind: "stop" });
  for (const input of [timer, page("11"), event("12"), failed("gone")]) {
    assert.deepEqual(step(state, input), { state, effects: [] });
  }
});

const anyEvent: fc.Arbitrary<WatchEvent> = fc.oneof(
  fc.record({
    type: fc.constantFrom("ADDED" as const, "MODIFIED" as const, "DELETED" as const),
    object: fc.nat(50).map((version) => object(String(version))),
  }),
  fc.record({
    type: fc.constant("BOOKMARK" as const),
    resourceVersion: fc.nat(50).map(String),
    initialEventsEnd: fc.boolean(),
  }),
);
const anyInput: fc.Arbitrary<Input> = fc.oneof(
  fc
    .tuple(fc.nat(50), fc.option(fc.constant("token"), { nil: undefined }))
    .map(([version, token]) => page(String(version), token)),
  anyEvent.map((one): Input => ({ kind: "event", event: one })),
  fc.nat(10_000).map((lastedMs): Input => ({ kind: "ended", lastedMs })),
  fc
    .constantFrom<FailureKind>(
      "gone",
      "throttled",
      "not-served",
      "bad-request",
      "refused",
      "unavailable",
      "unreachable",
    )
    .map((failure) => failed(failure)),
  fc.constant(timer),
  fc.constant<Input>({ kind: "poke" }),
);

test("whatever comes: commits are complete, applies have a position, the position never goes back, no two loops without a pause", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(anyInput, { maxLength: 60 }), (watchList, inputs) => {
      let state = initialState({ watchList });
      let refreshesWithoutProgress = 0;
      for (const input of inputs) {
        const before = state;
        const next = step(state, input);
        state = next.state;
        const does = kinds(next.effects);
        if (does.includes("apply")) {
          assert.equal(before.phase.kind, "watching");
          assert.ok(before.position !== undefined && state.position !== undefined);
          assert.ok(Number(state.position) >= Number(before.position), "the position went back");
        }
        if (does.includes("commit") && state.served) {
          assert.ok(before.phase.kind === "listing" || before.phase.kind === "watchListing");
          assert.equal(state.phase.kind, "watching");
        }
        if (state.phase.kind === "watching") assert.ok(state.position !== undefined);
        if (input.kind === "failed" && state.phase.kind !== "waiting") refreshesWithoutProgress += 1;
        if (state.phase.kind === "waiting" || state.failures === 0) refreshesWithoutProgress = 0;
        assert.ok(refreshesWithoutProgress <= 2, "failures repeat without a pause");
        if (state.phase.kind === "waiting") assert.ok(state.phase.pause.delayMs > 0);
      }
    }),
    { numRuns: 500 },
  );
});
