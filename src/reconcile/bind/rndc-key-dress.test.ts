import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveKey } from "../../engine/model.ts";
import type { ObjectMeta } from "../../kube/objects.ts";
import { seenDress, wearFor } from "./rndc-key-dress.ts";
import { type RndcKeySpec, readRndcKeySpec } from "./rndc-key-spec.ts";

const CREATED_AT = "bindy.firestoned.io/created-at";
const madeAt = Date.UTC(2026, 4, 1, 12);
const now = madeAt + 3_600_000;
const active: ActiveKey = { id: "k-1", name: "web-1", createdAt: madeAt, sequence: 1, madeFrom: "" };

const spec: RndcKeySpec = readRndcKeySpec({
  apiVersion: "keyturn.dev/v1alpha1",
  kind: "RndcKey",
  metadata: { name: "web", namespace: "dns" },
  spec: {
    secret: { name: "web", labels: { team: "dns" } },
    keyName: "web",
    strategy: "Overlap",
    instances: ["web"],
    rotation: { frequency: "2h", ttl: "3h" },
  },
});

const dressed = wearFor(spec)({ labels: { theirs: "yes" }, annotations: { "keyturn.dev/key-id": "k-1" } }, active);

function wearing(annotations: Readonly<Record<string, string | undefined>>, labels = {}): ObjectMeta {
  const all = { annotations: { ...dressed.annotations, ...annotations }, labels: { ...dressed.labels, ...labels } };
  return { name: "web", ...(JSON.parse(JSON.stringify(all)) as typeof dressed) };
}

const table: readonly (readonly [
  reason: string,
  metadata: ObjectMeta | undefined,
  createdAt: number | undefined,
  lack: RegExp | undefined,
])[] = [
  ["there is none", undefined, undefined, undefined],
  ["it holds another key", wearing({ "keyturn.dev/key-id": "k-0" }), undefined, undefined],
  ["it is as it should", wearing({}), madeAt, undefined],
  ["with more of somebody else's", wearing({ note: "mine" }, { more: "yes" }), madeAt, undefined],
  ["the date was moved to the past", wearing({ [CREATED_AT]: "2026-05-01T10:00:00Z" }), madeAt - 7_200_000, undefined],
  ["the date was removed", wearing({ [CREATED_AT]: undefined }), undefined, /created-at: it was removed$/],
  ["the date is none", wearing({ [CREATED_AT]: "soon" }), undefined, /created-at: it is no date$/],
  ["the date is to come", wearing({ [CREATED_AT]: "2027-01-01T00:00:00Z" }), undefined, /it is in the future$/],
  ["it is later than the key", wearing({ [CREATED_AT]: "2026-05-01T12:30:00Z" }), undefined, /later than the key/],
  ["a label of the spec's is gone", wearing({}, { team: undefined }), madeAt, /labels and annotations/],
  ["the period is another", wearing({ "bindy.firestoned.io/rotate-after": "9h" }), madeAt, /labels and annotations/],
];

test("a key that is written again keeps the date that somebody has moved to the past, and no other", () => {
  const rows: readonly (readonly [said: string, isSame: boolean, expected: string])[] = [
    ["2026-05-01T10:00:00Z", true, "2026-05-01T10:00:00Z"],
    ["2026-05-01T10:00:00Z", false, "2026-05-01T12:00:00Z"],
    ["2026-05-01T12:30:00Z", true, "2026-05-01T12:00:00Z"],
    ["soon", true, "2026-05-01T12:00:00Z"],
  ];
  for (const [said, isSame, expected] of rows) {
    const { annotations } = wearFor(spec)(
      { labels: {}, annotations: { [CREATED_AT]: said } },
      { createdAt: madeAt, isSame },
    );
    assert.equal(annotations[CREATED_AT], expected, `${said} ${isSame}`);
  }
});

for (const [reason, metadata, createdAt, lack] of table) {
  test(`what the published Secret says: ${reason}`, () => {
    const seen = seenDress(spec, { metadata, active, now });
    assert.equal(seen.createdAt, createdAt);
    if (lack === undefined) assert.equal(seen.lack, undefined);
    else assert.match(seen.lack ?? "", lack);
  });
}
