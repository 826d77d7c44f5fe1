import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatInstant } from "../base/instant.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { reportOf } from "../insight/status/status-report.ts";
import { entryOf, rowOf } from "./entry.ts";
import { goneBars } from "./history.ts";
import { keyBars } from "./key-bars.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { resourceOfSeed, seedOf } from "./seed.ts";
import type { KeyBar } from "./wire.ts";

const HOUR_MS = 3_600_000;
const made = Date.UTC(2025, 10, 3);
const at = (hours: number): string => formatInstant(made + hours * HOUR_MS);
/** A key of twelve days, of which this is the end in hours. */
const DUE = 12 * 24;

interface Rotation {
  readonly keyId: string;
  /** In hours after the first key was made. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly reason?: string | undefined;
  readonly outcome?: string;
}

const rotation = ({ keyId, startedAt, endedAt = startedAt, outcome = "Succeeded", ...more }: Rotation): object => ({
  keyId,
  startedAt: at(startedAt),
  endedAt: at(endedAt),
  reason: "reason" in more ? more.reason : "RotationDue",
  outcome,
});

const retired = (id: string, createdAt: number, retiredAt: number, more: object = {}): object => ({
  id,
  name: id,
  createdDate: at(createdAt),
  retiredDate: at(retiredAt),
  replacedDate: at(retiredAt),
  deletionDate: at(retiredAt + 48),
  overlap: "2d",
  cause: "rotated",
  ...more,
});

const first = rotation({ keyId: "a", startedAt: 0, reason: "FirstKey" });

interface Scene {
  /** When the active key, `b`, was begun. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly reason?: string;
  readonly before?: readonly object[];
  readonly retiredKeys?: readonly object[];
  readonly policy?: object;
}

function objectIn({ startedAt, endedAt = startedAt, reason = "RotationDue", before = [first], ...more }: Scene) {
  const { retiredKeys = [], policy = { frequency: "12d", ttl: "14d" } } = more;
  const history = [rotation({ keyId: "b", startedAt, endedAt, reason }), ...before];
  return madeUpBinding("b", { createdDate: at(endedAt), rotation: policy, status: { history, retiredKeys } });
}

const words = (key: KeyBar | undefined): string | undefined => key?.mark && `${key.mark.kind}: ${key.mark.words}`;

const late = (length: string): string => `late: it began ${length} later than the policy of now asks for`;

describe("a rotation that began late", () => {
  const saturdays = { frequency: "12d", ttl: "14d", windows: [{ schedule: "0 3 * * 6", duration: "2h" }] };
  /** The first opening after it was due, on Saturday the 15th at three, in hours. */
  const OPENING = DUE + 3;
  const rows: readonly (readonly [reason: string, scene: Scene, expected: string | undefined])[] = [
    ["in time", { startedAt: DUE }, undefined],
    ["a little later: so long it may take", { startedAt: DUE + 0.03 }, undefined],
    ["the key before it is there", { startedAt: DUE + 3, retiredKeys: [retired("a", 0, DUE + 3)] }, late("3h")],
    ["the key before it is gone, and the history knows of it", { startedAt: DUE + 3 }, late("3h")],
    ["nothing is known of the key before it", { startedAt: DUE + 3, before: [] }, undefined],
    ["the window had not opened", { startedAt: OPENING, policy: saturdays }, undefined],
    ["the window had", { startedAt: OPENING + 1, policy: saturdays }, late("1h")],
    ["it was waited for a whole window", { startedAt: OPENING + 168, policy: saturdays }, late("7d")],
    ["it began in time and took long", { startedAt: DUE, endedAt: DUE + 5 }, undefined],
    [
      "another overlap was promised: that was another policy",
      { startedAt: DUE + 48, retiredKeys: [retired("a", 0, DUE + 48, { overlap: "5d" })] },
      undefined,
    ],
    ["there is no policy now", { startedAt: DUE + 3, policy: {} }, undefined],
    [
      "the key before it was there already when it was taken over",
      { startedAt: DUE + 3, before: [rotation({ keyId: "a", startedAt: 0, reason: "Adopted" })] },
      undefined,
    ],
    [
      "it was tried in time, and changed nothing",
      { startedAt: DUE + 24, before: [rotation({ keyId: "x", startedAt: DUE, outcome: "Ineffective" }), first] },
      undefined,
    ],
    [
      "one that was given up on the way is no key before it",
      { startedAt: DUE + 3, before: [rotation({ keyId: "x", startedAt: DUE + 3, outcome: "Abandoned" }), first] },
      late("3h"),
    ],
    [
      "a key that is kept since long is not the one before it",
      {
        startedAt: DUE + 100,
        before: [rotation({ keyId: "m", startedAt: 100 }), first],
        retiredKeys: [retired("a", 0, 100, { heldFor: "Deployment shop/web" })],
      },
      undefined,
    ],
    [
      "somebody asked for it",
      { startedAt: DUE + 3, reason: "Forced" },
      "forced: somebody had asked for it by annotation",
    ],
  ];
  for (const [reason, scene, expected] of rows) {
    test(`${reason}: ${expected ?? "no mark"}`, () => {
      const object = objectIn(scene);
      const now = made + (DUE + 400) * HOUR_MS;
      const whole = keyBars(reportOf(managedResource(bindingKind, object), now), now);
      assert.equal(words(whole.find(({ id }) => id === "b")), expected);
      const row = rowOf(entryOf(bindingKind, object, now), now);
      assert.equal(words(row.keys.find(({ id }) => id === "b")), expected, "and of what is kept of it");
    });
  }

  test("is told of keys that are no more, by the status and by the log", () => {
    const history = [
      rotation({ keyId: "d", startedAt: 3 * DUE + 5 }),
      rotation({ keyId: "c", startedAt: 2 * DUE + 5, endedAt: 2 * DUE + 9 }),
      rotation({ keyId: "b", startedAt: DUE + 5 }),
      first,
    ];
    const status = { history };
    const policy = { frequency: "12d", ttl: "14d" };
    const object = madeUpBinding("d", { createdDate: at(3 * DUE + 5), rotation: policy, status });
    const written: KeyBar = { id: "b", name: "b", state: "deleted", createdAt: made, deletedAt: made + 1 };
    for (const resource of [
      managedResource(bindingKind, object),
      resourceOfSeed(bindingKind, seedOf(bindingKind, object) ?? ""),
    ]) {
      const marks = goneBars(resource, [written]).map((bar) => [bar.id, words(bar)]);
      assert.deepEqual(
        new Map(marks as [string, string][]),
        new Map([
          ["c", undefined],
          ["b", late("5h")],
          ["a", "first: there was none before"],
        ]),
      );
    }
  });
});
