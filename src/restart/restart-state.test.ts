import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { ABSENT, type AppliedSource, type Departure, type RestartState, type SourceId } from "./model.ts";
import { digestOfValue, NOW, objectWith, stateOf } from "./restart.fixture.ts";
import { readState, stateAnnotation, trimmed } from "./restart-state.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

interface Owner {
  readonly manager: string;
  readonly operation: string;
  readonly annotation: string;
}

const US: Owner = { manager: "keyturn-restart-state", operation: "Apply", annotation: "keyturn.dev/restart-state" };

const bearing = (text: string, { manager, operation, annotation }: Owner = US, uid = "uid-1"): KubeObject =>
  objectWith({
    uid,
    annotations: { "keyturn.dev/restart-state": text },
    managedFields: [
      { manager, operation, fieldsV1: { "f:metadata": { "f:annotations": { ".": {}, [`f:${annotation}`]: {} } } } },
    ],
  });

const STATE = stateOf(
  { "secret/db": digestOfValue("secret/db", "1"), "configmap/web": ABSENT },
  { restartedAt: [NOW] },
);
const TEXT = stateAnnotation(STATE, "uid-1");

test("a state is read back, whichever of our two managers wrote it", () => {
  assert.deepEqual(readState(bearing(TEXT)), STATE);
  assert.deepEqual(readState(bearing(TEXT, { ...US, manager: "keyturn-restart" })), STATE);
});

test("what the last restart was for is read back", () => {
  for (const isAgain of [false, true]) {
    const state = { ...STATE, rolled: { publishedAt: NOW, isAgain } };
    assert.deepEqual(readState(bearing(stateAnnotation(state, "uid-1"))), state);
  }
  const { rolled: _, ...fields } = JSON.parse(TEXT);
  assert.deepEqual(readState(bearing(JSON.stringify({ ...fields, rolled: "soon", again: true }))), STATE);
});

test("what was asked for and answered is read back", () => {
  const applied = { digest: ABSENT, since: NOW, againAt: NOW + SECOND_MS };
  const state = { ...STATE, sources: new Map([["secret/db" as const, applied]]) };
  assert.deepEqual(readState(bearing(stateAnnotation(state, "uid-1"))), state);
});

test("the version that a digest was read in is read back", () => {
  const sources = new Map<SourceId, AppliedSource>([
    ["secret/db", { digest: digestOfValue("secret/db", "1"), since: NOW, version: "4711" }],
    ["configmap/web", { digest: ABSENT, since: NOW }],
  ]);
  assert.deepEqual(readState(bearing(stateAnnotation({ ...STATE, sources }, "uid-1")))?.sources, sources);
});

test("restarts are read in the order of their dates, whoever mixed them up", () => {
  const { restarts: _, ...fields } = JSON.parse(TEXT);
  const restarts = ["2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"];
  const expected = [NOW - 60 * MINUTE_MS, NOW];
  assert.deepEqual(readState(bearing(JSON.stringify({ ...fields, restarts })))?.restartedAt, expected);
});

test("a state that is not of this very object, not ours or not readable is none", () => {
  const json = (fields: object): string => JSON.stringify({ uid: "uid-1", sources: {}, restarts: [], ...fields });
  const rows: readonly (readonly [reason: string, object: KubeObject])[] = [
    ["none there", objectWith({})],
    ["a copied manifest", bearing(TEXT, US, "uid-2")],
    ["an undone rollout", bearing(TEXT, { ...US, manager: "kubectl-rollout", operation: "Update" })],
    ["an export that GitOps applies", bearing(TEXT, { ...US, manager: "argocd-controller" })],
    ["our name, but not our verb", bearing(TEXT, { ...US, operation: "Update" })],
    ["we own another annotation", bearing(TEXT, { ...US, annotation: "keyturn.dev/restart-stopped" })],
    ["nobody knows who wrote it", objectWith({ annotations: { "keyturn.dev/restart-state": TEXT } })],
    ["cut off", bearing(TEXT.slice(0, -1))],
    ["too long", bearing(TEXT + " ".repeat(64 * 1024))],
    ["no object", bearing('"text"')],
    ["no sources", bearing(json({ sources: undefined }))],
    ["a source of no kind", bearing(json({ sources: { "pod/a": { digest: ABSENT, since: "2026-03-01T12:00:00Z" } } }))],
    ["no digest", bearing(json({ sources: { "secret/a": { digest: "x", since: "2026-03-01T12:00:00Z" } } }))],
    ["no date", bearing(json({ sources: { "secret/a": { digest: ABSENT, since: "then" } } }))],
    ["restarts without a date", bearing(json({ restarts: ["then"] }))],
    ["restarts that are no list", bearing(json({ restarts: 3 }))],
  ];
  for (const [reason, object] of rows) assert.equal(readState(object), undefined, reason);
  assert.notEqual(readState(bearing(json({}))), undefined, "the frame of the rows is readable");
});

test("garbage in a state never throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (sources, restarts) => {
      assert.doesNotThrow(() => readState(bearing(JSON.stringify({ uid: "uid-1", sources, restarts }))));
    }),
  );
});

const seconds = fc.integer({ min: -100_000, max: 100_000 }).map((count) => NOW + count * SECOND_MS);
const applied: fc.Arbitrary<AppliedSource> = fc.record(
  {
    digest: fc.constantFrom(ABSENT, digestOfValue("secret/db", "1"), digestOfValue("secret/db", "2")),
    since: seconds,
    isBrought: fc.constant<true>(true),
  },
  { noNullPrototype: true, requiredKeys: ["digest", "since"] },
);
const departure: fc.Arbitrary<Departure> = fc.record(
  { template: fc.string(), version: fc.nat().map(String), revision: fc.string() },
  { noNullPrototype: true, requiredKeys: ["template", "version"] },
);
const stateArbitrary: fc.Arbitrary<RestartState> = fc.record(
  {
    sources: fc
      .array(fc.tuple(fc.constantFrom<SourceId>("secret/a", "configmap/a", "class/a", "secret/__proto__"), applied))
      .map((entries) => new Map(entries)),
    restartedAt: fc.array(seconds).map((all) => all.sort((a, b) => a - b)),
    isStopped: fc.boolean(),
    replacing: fc.option(fc.uuid(), { nil: undefined }),
    departure,
  },
  { noNullPrototype: true, requiredKeys: ["sources", "restartedAt", "isStopped", "replacing"] },
);

test("what is written is read, and the order in which it was learnt does not show", () => {
  fc.assert(
    fc.property(stateArbitrary, (state) => {
      assert.deepEqual(readState(bearing(stateAnnotation(state, "uid-1"))), state);
      const reversed = { ...state, sources: new Map([...state.sources].reverse()) };
      assert.equal(stateAnnotation(reversed, "uid-1"), stateAnnotation(state, "uid-1"));
    }),
  );
});

test("more than could be read back is not written", () => {
  const digest = digestOfValue("secret/db", "1");
  const many = Array.from({ length: 1000 }, (_, index) => [`secret/${index}`, digest] as const);
  assert.throws(() => stateAnnotation(stateOf(Object.fromEntries(many)), "uid-1"), InvalidValue);
});

test("restarts that no longer count are forgotten, the last one never", () => {
  const minutesAgo = (...ago: readonly number[]): readonly number[] => ago.map((minutes) => NOW - minutes * MINUTE_MS);
  const rows: readonly (readonly [
    reason: string,
    given: readonly number[],
    perHour: number,
    kept: readonly number[],
  ])[] = [
    ["within the hour", minutesAgo(59, 1), 12, minutesAgo(59, 1)],
    ["an hour ago", minutesAgo(60, 1), 12, minutesAgo(1)],
    ["the last, however long ago", minutesAgo(6000, 600), 12, minutesAgo(600)],
    ["no more than can matter", minutesAgo(5, 4, 3, 2, 1), 2, minutesAgo(3, 2, 1)],
    ["nothing is counted: only the last", minutesAgo(3, 2, 1), 0, minutesAgo(1)],
    ["a date of the future is now", minutesAgo(1, -5), 12, minutesAgo(1, 0)],
  ];
  for (const [reason, restartedAt, perHour, kept] of rows) {
    assert.deepEqual(trimmed(stateOf({}, { restartedAt }), NOW, perHour).restartedAt, kept, reason);
  }
});
