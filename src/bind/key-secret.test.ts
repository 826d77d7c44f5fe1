import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Redacted } from "../base/redacted.ts";
import type { RndcKey } from "../rndc/key.ts";
import { keyFile, LONG_SECRET } from "./bind-objects.fixture.ts";
import { readKeyFields } from "./key-fields.ts";
import { keySecretContent, readKeySecret, viewCreatedAt } from "./key-secret.ts";

const MADE = Date.UTC(2026, 0, 14, 8, 30);
const KEY: RndcKey = {
  name: "bindy-operator-2",
  algorithm: "hmac-sha256",
  secret: new Redacted(Buffer.from(LONG_SECRET, "base64")),
};
const ROTATED = { key: KEY, createdAt: MADE, rotateAfter: { text: "720h", ms: 720 * 3_600_000 } };

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (data: Redacted<Readonly<Record<string, string>>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data.reveal()).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
  );

test("four fields of one key, and what the document wants to stand on the Secret", () => {
  const { labels, annotations, data } = keySecretContent(ROTATED);
  assert.deepEqual(labels, {
    "app.kubernetes.io/managed-by": "bindy",
    "bindy.firestoned.io/rotation-enabled": "true",
  });
  assert.deepEqual(annotations, {
    "bindy.firestoned.io/created-at": "2026-01-14T08:30:00Z",
    "bindy.firestoned.io/rotate-after": "720h",
  });
  assert.deepEqual(decoded(data), {
    "key-name": "bindy-operator-2",
    algorithm: "hmac-sha256",
    secret: LONG_SECRET,
    "rndc.key": `key "bindy-operator-2" {\n\talgorithm hmac-sha256;\n\tsecret "${LONG_SECRET}";\n};\n`,
  });
});

test("what users have put there is kept, and nothing of theirs takes the place of ours", () => {
  const { labels, annotations, data } = keySecretContent({
    ...ROTATED,
    labels: { app: "bindy", "app.kubernetes.io/managed-by": "me" },
    annotations: { note: "mine", "bindy.firestoned.io/created-at": "2020-01-01T00:00:00Z" },
    extraData: new Redacted({ "ca.crt": encoded("x"), secret: encoded("y") }),
  });
  assert.equal(labels.app, "bindy");
  assert.equal(labels["app.kubernetes.io/managed-by"], "bindy");
  assert.equal(annotations.note, "mine");
  assert.equal(annotations["bindy.firestoned.io/created-at"], "2026-01-14T08:30:00Z");
  assert.deepEqual([decoded(data)["ca.crt"], decoded(data).secret], ["x", LONG_SECRET]);
});

test("a key that is not rotated says when it was made, and nothing of a rotation", () => {
  const before = keySecretContent(ROTATED);
  const { labels, annotations } = keySecretContent({ ...before, ...ROTATED, rotateAfter: undefined });
  assert.deepEqual(labels, { "app.kubernetes.io/managed-by": "bindy" });
  assert.deepEqual(annotations, { "bindy.firestoned.io/created-at": "2026-01-14T08:30:00Z" });
});

test("what is written is read again", () => {
  const read = readKeySecret(keySecretContent(ROTATED).data);
  assert.ok(read.kind === "key");
  assert.deepEqual([read.key.name, read.key.algorithm], [KEY.name, KEY.algorithm]);
  assert.deepEqual(Buffer.from(read.key.secret.reveal()), Buffer.from(KEY.secret.reveal()));
});

const whole = keySecretContent(ROTATED).data.reveal();
const other = Buffer.alloc(32, 7).toString("base64");
const damages: readonly (readonly [why: string, change: Readonly<Record<string, string | undefined>>, said: RegExp])[] =
  [
    ["no name", { "key-name": undefined }, /^it has no key-name$/],
    ["no algorithm", { algorithm: undefined }, /^it has no algorithm$/],
    ["no secret", { secret: undefined }, /^it has no secret$/],
    ["no file", { "rndc.key": undefined }, /^it has no rndc\.key$/],
    [
      "nothing",
      { "key-name": undefined, algorithm: undefined, secret: undefined, "rndc.key": undefined },
      /no key-name, no algorithm, no secret, no rndc\.key/,
    ],
    ["a file that is none", { "rndc.key": encoded("x") }, /a ; is missing/],
    [
      "a file of another key",
      { "rndc.key": encoded(keyFile(other, "hmac-sha256", "bindy-operator-2")) },
      /another key than secret/,
    ],
    [
      "a file of another name",
      { "rndc.key": encoded(keyFile(LONG_SECRET, "hmac-sha256", "else")) },
      /another key than key-name$/,
    ],
    ["another algorithm", { algorithm: encoded("hmac-sha512") }, /another key than algorithm/],
    ["another secret", { secret: encoded(other) }, /another key than secret/],
  ];

for (const [why, change, said] of damages) {
  test(`damaged: ${why}`, () => {
    const values = Object.entries({ ...whole, ...change }).filter((entry) => entry[1] !== undefined);
    const read = readKeySecret(new Redacted(Object.fromEntries(values) as Record<string, string>));
    assert.ok(read.kind === "damaged");
    assert.match(read.why, said);
    assert.ok(!inspect(read).includes(LONG_SECRET.slice(0, 10)));
  });
}

test("a user's Secret may have the fields under names of its own, and no file", () => {
  const data = new Redacted({ name: encoded("mine"), key: encoded(`${LONG_SECRET}\n`) });
  const { key } = readKeyFields(data, { keyNameKey: "name", secretKey: "key", algorithm: "hmac-sha384" });
  assert.deepEqual([key.name, key.algorithm], ["mine", "hmac-sha384"]);
  assert.throws(() => readKeyFields(data), /there is neither rndc\.key nor key-name nor secret/);
});

const NOW = MADE + 10 * 86_400_000;
const views: readonly (readonly [why: string, text: string | undefined, kind: string, detail?: RegExp])[] = [
  ["as it was written", "2026-01-14T08:30:00Z", "asKnown"],
  ["the same moment in other words", "2026-01-14T09:30:00+01:00", "asKnown"],
  ["the document's way to ask for a rotation", "2020-01-01T00:00:00Z", "moved"],
  ["a second earlier", "2026-01-14T08:29:59Z", "moved"],
  ["a second later, which would put a rotation off", "2026-01-14T08:30:01Z", "damaged", /later than the key was made/],
  ["in the future", "2027-01-01T00:00:00Z", "damaged", /in the future/],
  ["no date", "yesterday", "damaged", /no date/],
  ["nothing", "", "damaged", /no date/],
  ["taken away", undefined, "damaged", /removed/],
];

for (const [why, text, kind, detail = /^$/] of views) {
  test(`created-at, ${why}: ${kind}`, () => {
    const view = viewCreatedAt(text, MADE - 400, NOW);
    assert.equal(view.kind, kind);
    assert.match(view.kind === "damaged" ? view.why : "", detail);
  });
}
