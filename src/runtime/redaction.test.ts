import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backoff, KeyturnError } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { isSecretKey, redact, redactFields, redactText } from "./redaction.ts";

const CANARY = "canary-5f3a9c71";
const options = { stacks: true };
const seen = (value: unknown): string => JSON.stringify(redact(value, options));

describe("a canary shows up nowhere", () => {
  const bytes = Buffer.from(CANARY);
  const withCause = new KeyturnError("Failed", "outer", {
    retry: backoff,
    cause: Object.assign(new Error("inner"), { request: { body: CANARY }, cause: { password: CANARY } }),
  });
  const cases: { value: unknown; reason: string }[] = [
    { value: new Redacted(CANARY), reason: "wrapped" },
    { value: { a: [{ b: new Map([["c", new Redacted(CANARY)]]) }] }, reason: "wrapped, deep inside" },
    { value: new Map([[new Redacted(CANARY), 1]]), reason: "wrapped, as a key" },
    { value: new Set([new Redacted({ value: CANARY })]), reason: "wrapped, in a Set" },
    { value: { credentials: { user: CANARY } }, reason: "an object under such a key" },
    { value: { headers: { Authorization: CANARY } }, reason: "a header" },
    { value: new Map([["client_secret", CANARY]]), reason: "a Map entry under such a key" },
    { value: { kind: "Secret", data: { a: CANARY }, stringData: { b: CANARY } }, reason: "the content of a Secret" },
    { value: { tokens: [CANARY] }, reason: "a list under such a key" },
    { value: { accessKey: { toJSON: () => CANARY } }, reason: "something with a toJSON under such a key" },
    {
      value: { plain: { toJSON: () => CANARY, toString: () => CANARY } },
      reason: "toJSON and toString are not called",
    },
    { value: bytes, reason: "a Buffer" },
    { value: new Uint8Array(bytes), reason: "bytes" },
    { value: { payload: new Uint8Array(bytes).buffer }, reason: "an ArrayBuffer" },
    { value: new DataView(new Uint8Array(bytes).buffer), reason: "a DataView" },
    { value: withCause, reason: "members and causes of errors" },
    { value: new AggregateError([Object.assign(new Error("x"), { body: CANARY })]), reason: "errors in errors" },
    { value: new Error(`refused: Bearer ${CANARY}`), reason: "a bearer token in a message (and in the stack)" },
    { value: `https://user:${CANARY}@host/path`, reason: "user info of a URL in a text" },
    { value: new URL(`https://user:${CANARY}@host/path`), reason: "user info of a URL" },
    { value: `grant_type=password&client_secret=${CANARY}&x=1`, reason: "a form in a text" },
    { value: `{"password": "${CANARY}"}`, reason: "JSON in a text" },
    { value: `-----BEGIN EC PRIVATE KEY-----\n${CANARY.replaceAll("-", "")}`, reason: "a private key, cut off" },
    { value: { [`password=${CANARY}`]: 1 }, reason: "inside a key" },
    { value: () => CANARY, reason: "a function" },
  ];
  for (const { value, reason } of cases) {
    test(reason, () => {
      const text = seen(value);
      assert.doesNotMatch(text, /canary-?5f3a9c71/);
      assert.doesNotMatch(text, new RegExp(bytes.toString("base64").slice(0, 12)));
      const numbers = text.replaceAll(/"\d+":/g, "");
      assert.ok(!numbers.includes([...bytes].slice(0, 4).join(",")), "as numbers");
    });
  }

  test("wrapped or under such a key at a random place of a random structure", () => {
    const leaf = fc.constantFrom<unknown>(
      new Redacted(CANARY),
      { password: CANARY },
      new Map([["token", CANARY]]),
      Buffer.from(CANARY),
    );
    const nested = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b", "name"), tie("node"), { maxKeys: 3 }),
        tie("node").map((inner) => new Error("failed", { cause: inner })),
        tie("node").map((inner) => new Map([["inner", inner]])),
        tie("node").map((inner) => new Set([inner])),
      ),
    })).node;
    fc.assert(
      fc.property(nested, (value) => assert.ok(!seen(value).includes(CANARY))),
      { numRuns: 300 },
    );
  });
});

test("which keys smell of a secret", () => {
  const secret = ["token", "accessToken", "access_token", "PASSWORD", "db-password", "client_secret", "clientSecret", "Authorization",
    "set-cookie", "credentials", "privateKey", "private.key", "apiKey", "secretAccessKey", "stringData", "data", "kubeconfig",
    "passphrase", "keyMaterial", "client-key-data", "secret", "hmac", "passwordHash", "secretItems"]; // biome-ignore format: a table
  const harmless = ["key", "keys", "name", "secretName", "secretNamespace", "secretRef", "credentialsSecretRef", "tokenExpiresAt",
    "tokenPath", "tokenFile", "secretCount", "secretKind", "secretUid", "secretResourceVersion", "passwordAgeMs", "code", "message",
    "holder", "secretDigest", "monkey", "serviceCredentialBinding"]; // biome-ignore format: a table
  for (const key of secret) assert.equal(isSecretKey(key), true, key);
  for (const key of harmless) assert.equal(isSecretKey(key), false, key);
});

test("what is masked says so", () => {
  const value = { a: new Redacted("x"), b: Buffer.from("abc"), password: 1 };
  assert.deepEqual(redact(value, options), { a: "[redacted]", b: "[3 bytes]", password: "[redacted]" });
});

test("that a secret is missing stays visible", () => {
  assert.deepEqual(redact({ token: undefined, password: "", secret: null, apiKey: "x" }, options), {
    token: null,
    password: "",
    secret: null,
    apiKey: "[redacted]",
  });
});

test("ordinary values come through readable", () => {
  const at = new Date(Date.UTC(2026, 0, 1));
  const value = {
    n: 1,
    big: 12n,
    t: true,
    none: null,
    at,
    nan: Number.NaN,
    list: [1, "a"],
    map: new Map([[1, "x"]]),
    url: new URL("https://host/p"),
  };
  assert.deepEqual(redact(value, options), {
    n: 1,
    big: "12",
    t: true,
    none: null,
    at: "2026-01-01T00:00:00.000Z",
    nan: "NaN",
    list: [1, "a"],
    map: { 1: "x" },
    url: "https://host/p",
  });
  const ordinary = 'secrets "db" is forbidden: User "system:serviceaccount:a:b" cannot get resource, see token.go:12';
  assert.equal(redactText(ordinary), ordinary, "messages of the API server stay as they are");
});

test("errors: name, message, code, status and causes; the stack only when asked for", () => {
  const error = new KeyturnError("Failed", "it failed", { retry: backoff, cause: new TypeError("deeper") });
  assert.deepEqual(redact(error, { stacks: false }), {
    name: "KeyturnError",
    message: "it failed",
    code: "Failed",
    cause: { name: "TypeError", message: "deeper" },
  });
  const debug = redact(error, { stacks: true });
  assert.match(JSON.stringify(debug), /redaction\.test\.ts/);
});

describe("bounds", () => {
  const circular: Record<string, unknown> = { name: "loop" };
  circular.self = circular;
  const endlessCause = new Error("a");
  endlessCause.cause = endlessCause;
  const deep = Array.from({ length: 10_000 }).reduce<unknown>((inner) => ({ inner }), "bottom");
  const hostile = new Proxy({}, { ownKeys: () => { throw new Error("no"); } }); // biome-ignore format: one line
  const getter = { get broken(): never { throw new Error("no"); }, fine: 1 }; // biome-ignore format: one line
  const cases: { value: unknown; pattern: RegExp; reason: string }[] = [
    { value: circular, pattern: /\[circular\]/, reason: "a cycle" },
    { value: endlessCause, pattern: /\[circular\]/, reason: "an error that is its own cause" },
    { value: deep, pattern: /\[too deep\]/, reason: "ten thousand levels" },
    { value: hostile, pattern: /\[unreadable\]/, reason: "a proxy that throws" },
    { value: getter, pattern: /"broken":"\[unreadable\]","fine":1/, reason: "a getter that throws" },
    { value: "x".repeat(10_000_000), pattern: /10000000 characters/, reason: "ten million characters" },
    { value: Array.from({ length: 1_000_000 }, () => 1), pattern: /1000000 items/, reason: "a million items" },
    { value: Array(40).fill(Array(40).fill(Array(40).fill("word"))), pattern: /…/, reason: "a wide tree" },
    { value: Array(40).fill("y".repeat(5_000)), pattern: /…/, reason: "many long texts" },
    {
      value: [Symbol("s"), () => {}, undefined, new Date(Number.NaN), Promise.resolve()],
      pattern: /invalid date/,
      reason: "odd things",
    },
  ];
  for (const { value, pattern, reason } of cases) {
    test(`${reason} is cut short`, () => {
      const text = seen(value);
      assert.match(text, pattern);
      assert.ok(text.length < 80_000, `${text.length} characters`);
    });
  }

  test("never throws and stays bounded, whatever it is handed", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anything), (fields) => {
        const text = JSON.stringify([...redactFields(fields, options)]);
        assert.ok(text.length < 300_000);
      }),
      { numRuns: 300 },
    );
  });

  test("hostile texts take no more than linear time", () => {
    for (const text of [
      "eyJ".repeat(1e6),
      "-----BEGIN ".repeat(1e6),
      "token=".repeat(1e6),
      "a://".repeat(1e6),
      "bearer ".repeat(1e6),
    ]) {
      assert.ok(redactText(text).length < 40_000);
    }
  });
});
