import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import {
  credentialsData,
  credentialsOfTexts,
  isSameCredentials,
  MAX_SECRET_BYTES,
  type ReadCredentials,
  readCredentials,
  readCredentialsIn,
  textOf,
} from "./credentials.ts";
import { flatten } from "./flatten.ts";
import { anyCredentials, credentialsOf, secretOf } from "./korifi.fixture.ts";

const reasonsOf = (read: ReadCredentials): readonly string[] =>
  read.kind === "refused" ? read.findings.map(({ reason }) => reason) : [];

/** Stands for what must not be seen. */
const SECRET = "s3cr3t-s3cr3t";

const refusals: readonly {
  readonly why: string;
  readonly text: string;
  readonly reason: string;
  readonly says: RegExp;
}[] = [
  { why: "no text", text: "", reason: "CredentialsMissing", says: /empty/ },
  { why: "white space alone", text: " \n", reason: "CredentialsMissing", says: /empty/ },
  { why: "no JSON", text: `{"password": "${SECRET}`, reason: "CredentialsNotJson", says: /not JSON/ },
  {
    why: "JSON with a comma too much",
    text: `{"password": "${SECRET}",}`,
    reason: "CredentialsNotJson",
    says: /not JSON/,
  },
  { why: "null", text: "null", reason: "CredentialsNotObject", says: /not an object/ },
  { why: "a list", text: `["${SECRET}"]`, reason: "CredentialsNotObject", says: /not an object/ },
  { why: "a text", text: `"${SECRET}"`, reason: "CredentialsNotObject", says: /not an object/ },
  { why: "a number", text: "5", reason: "CredentialsNotObject", says: /not an object/ },
  {
    why: "a key with a space",
    text: `{"pass word": "${SECRET}"}`,
    reason: "InvalidKey",
    says: /^"pass word" cannot be a key/,
  },
  { why: "a key with a slash", text: `{"a/b": "${SECRET}"}`, reason: "InvalidKey", says: /"a\/b"/ },
  { why: "a key of nothing", text: `{"": "${SECRET}"}`, reason: "InvalidKey", says: /^"" cannot/ },
  { why: "a key that is a directory", text: `{".": "${SECRET}"}`, reason: "InvalidKey", says: /^"[.]"/ },
  { why: "a key that leads out of one", text: `{"..a": "${SECRET}"}`, reason: "InvalidKey", says: /^"[.][.]a"/ },
  {
    why: "a key that no console shows",
    text: `{"a\\u001bb": "${SECRET}"}`,
    reason: "InvalidKey",
    says: /^"a\\u001bb"/,
  },
  { why: "a key with a line break at its end", text: `{"a\\n": "${SECRET}"}`, reason: "InvalidKey", says: /^"a\\n"/ },
  { why: "a key that is too long", text: `{"${"k".repeat(254)}": "${SECRET}"}`, reason: "InvalidKey", says: /k…"/ },
  { why: "half a surrogate pair", text: `{"pin": "\\ud800 ${SECRET}"}`, reason: "NotText", says: /^"pin" has half/ },
  {
    why: "more than a Secret holds",
    text: `{"a":"${SECRET.padEnd(MAX_SECRET_BYTES)}"}`,
    reason: "CredentialsTooLarge",
    says: /bytes/,
  },
];

for (const { why, text, reason, says } of refusals) {
  test(`refused: ${why}`, () => {
    const read = readCredentials(new Redacted(text));
    assert.deepEqual(reasonsOf(read), [reason]);
    const shown = inspect(read, { depth: null });
    assert.ok(!shown.includes("s3cr3t"), shown);
    assert.match(read.kind === "refused" ? (read.findings[0]?.message ?? "") : "", says);
  });
}

test("all keys that are wrong are named, in their order", () => {
  const read = readCredentials(new Redacted('{"z z":1,"ok":2,"a a":3}'));
  assert.deepEqual(read.kind === "refused" && read.findings.map(({ message }) => message.slice(0, 5)), [
    '"a a"',
    '"z z"',
  ]);
});

test("of very many keys that are wrong the first are named, and how many more there are", () => {
  const chars = Array.from({ length: 93 }, (_, index) => String.fromCharCode(33 + index)).filter(
    (c) => !/["\\]/.test(c),
  );
  const charAt = (index: number): string => chars[index % chars.length] ?? "";
  const keys = Array.from({ length: 130_000 }, (_, index) => {
    const rest = Math.floor(index / chars.length);
    return `${"!#$%&'()*+,/:;<=>?@"[Math.floor(rest / chars.length)]}${charAt(rest)}${charAt(index)}`;
  }).sort();
  const text = `{${keys.map((key) => `"${key}":0`).join(",")}}`;
  assert.ok(text.length < MAX_SECRET_BYTES, "it fits a Secret");
  const read = readCredentials(new Redacted(text));
  assert.deepEqual(new Set(reasonsOf(read)), new Set(["InvalidKey"]));
  const words = read.kind === "refused" ? read.findings.map(({ message }) => message) : [];
  assert.ok(words.join("").length < 2_000, "a status holds it");
  assert.ok(keys.slice(0, words.length).every((key, index) => words[index]?.startsWith(`"${key}" cannot`)));
  assert.match(words.at(-1) ?? "", new RegExp(`; and ${keys.length - words.length} more$`));
});

test("an object of nothing is credentials: a service may have none", () => {
  assert.equal(textOf(credentialsOf(" { } ")).reveal(), "{}");
});

test("as much as a Secret holds is not refused, and what is made of it fits as well", () => {
  const room = MAX_SECRET_BYTES - 17;
  const whole = credentialsOf(`{"a":"${"x".repeat(room - 8)}"}`);
  const values = Object.values(flatten(whole).data.reveal()).map((text) => Buffer.from(text, "base64").length);
  assert.ok(values.reduce((sum, length) => sum + length, 0) <= MAX_SECRET_BYTES);
  assert.deepEqual(reasonsOf(readCredentials(new Redacted(`{"a":"${"x".repeat(room - 7)}"}`))), [
    "CredentialsTooLarge",
  ]);
});

test("credentials say what was written, through a Secret and back", () => {
  fc.assert(
    fc.property(anyCredentials, ({ written, compact }) => {
      const credentials = credentialsOf(written);
      assert.equal(textOf(credentials).reveal(), compact);
      const read = readCredentialsIn({ name: "db", data: credentialsData(credentials) });
      assert.ok(read.kind === "credentials" && isSameCredentials(read.credentials, credentials));
      assert.equal(textOf(read.credentials).reveal(), compact);
    }),
    { numRuns: 500 },
  );
});

test("whatever is wrong, nothing of a value is said, and credentials show nothing of themselves", () => {
  const value = fc.stringMatching(/^[A-Z]{12}$/);
  const broken = fc.constantFrom(
    '{"a b":"X"}',
    '{"a":"X"',
    '"X"',
    '["X"]',
    '{"a":"X\\ud800"}',
    "X",
    '{"a":"X"}',
    '{"a":{"n":"X"}}',
  );
  fc.assert(
    fc.property(broken, value, (text, secret) => {
      const read = readCredentials(new Redacted(text.replace("X", secret)));
      assert.ok(!`${inspect(read, { depth: null })}${JSON.stringify(read)}`.includes(secret));
    }),
  );
});

test("a Secret without the key, or with bytes that are no text, is refused", () => {
  assert.deepEqual(reasonsOf(readCredentialsIn(secretOf("db", { password: SECRET }))), ["CredentialsMissing"]);
  assert.deepEqual(reasonsOf(readCredentialsIn(secretOf("db", { credentials: Buffer.from([0x7b, 0xff, 0x7d]) }))), [
    "CredentialsNotJson",
  ]);
});

test("values of a Secret become texts, sorted, and some of them when that is asked for", () => {
  const secret = secretOf("key", { user: "alice", port: "5432", extra: '{"a":1}' });
  const text = (read: ReadCredentials) => (read.kind === "credentials" ? textOf(read.credentials).reveal() : undefined);
  assert.equal(text(credentialsOfTexts(secret)), '{"extra":"{\\"a\\":1}","port":"5432","user":"alice"}');
  assert.equal(
    text(credentialsOfTexts({ ...secret, keys: ["user", "port", "user"] })),
    '{"port":"5432","user":"alice"}',
  );
});

test("values of a Secret that are missing or are no texts are named", () => {
  const secret = secretOf("key", { user: "alice", blob: Buffer.from([0xff, 0xfe]) });
  const read = credentialsOfTexts({ ...secret, keys: ["toString", "blob", "user"] });
  assert.deepEqual(read.kind === "refused" && read.findings.map(({ message }) => message), [
    '"blob" of the Secret key is not UTF-8',
    'the Secret key has no key "toString"',
  ]);
});

const pairs: readonly { readonly why: string; readonly a: string; readonly b: string; readonly isSame: boolean }[] = [
  { why: "another order", a: '{"a":1,"b":2}', b: '{"b":2,"a":1}', isSame: true },
  { why: "another way to escape a text", a: '{"a":"x&y"}', b: '{"a":"x\\u0026y"}', isSame: true },
  { why: "another digit, far behind", a: '{"a":12345678901234567890}', b: '{"a":12345678901234567891}', isSame: false },
  { why: "a text and a number", a: '{"a":"1"}', b: '{"a":1}', isSame: false },
  { why: "null and nothing", a: '{"a":null}', b: "{}", isSame: false },
  { why: "another name", a: '{"a":1}', b: '{"b":1}', isSame: false },
];

for (const { why, a, b, isSame } of pairs) {
  test(`${isSame ? "the same" : "not the same"}: ${why}`, () => {
    assert.equal(isSameCredentials(credentialsOf(a), credentialsOf(b)), isSame);
    assert.equal(isSameCredentials(credentialsOf(b), credentialsOf(a)), isSame);
  });
}
