import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { ALGORITHMS, type RndcAlgorithm } from "./algorithms.ts";
import { RndcKeyInvalid } from "./errors.ts";
import { generateRndcKey, readRndcKey, secretText } from "./key.ts";
import { parseRndcKey, printRndcKey } from "./key-file.ts";

const algorithms = Object.keys(ALGORITHMS) as RndcAlgorithm[];
const SECRET = Buffer.from("a secret of exactly 32 bytes: 32").toString("base64");
const parse = (text: string) => parseRndcKey(new Redacted(text));
const secretOf = (text: string): string => Buffer.from(parse(text).key.secret.reveal()).toString("base64");

for (const algorithm of algorithms) {
  test(`a generated ${algorithm} key is as long as its HMAC, and is read back as it was printed`, () => {
    const key = generateRndcKey("bind-1", algorithm, seededRandom(1));
    const { key: again, warnings } = parseRndcKey(printRndcKey(key));
    assert.equal(key.secret.reveal().length, ALGORITHMS[algorithm].bytes);
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      [again.name, again.algorithm, secretText(again).reveal()],
      ["bind-1", algorithm, secretText(key).reveal()],
    );
  });
}

const accepted = [
  { reason: "on one line", text: `key "k" { algorithm hmac-sha256; secret "${SECRET}"; };` },
  { reason: "without white space", text: `key"k"{algorithm hmac-sha256;secret"${SECRET}";};` },
  { reason: "without quotation marks", text: `key k { algorithm hmac-sha256; secret ${SECRET}; };` },
  { reason: "in another order and case", text: `KEY k { Secret "${SECRET}"; ALGORITHM "HMAC-SHA256"; };\r\n` },
  {
    reason: "with comments of each kind",
    text: `// one "\n# two {\n/* three\n};*/ key k { /**/ algorithm hmac-sha256; # x\n secret "${SECRET}"; // y\n};`,
  },
  {
    reason: "with a secret over two lines",
    text: `key k { algorithm hmac-sha256; secret "${SECRET.slice(0, 20)}\n\t${SECRET.slice(20)}"; };`,
  },
  { reason: "with an escaped character", text: `key "\\k" { algorithm hmac-sha256; secret "${SECRET}"; };` },
];
for (const { reason, text } of accepted) {
  test(`reads a key ${reason}`, () => {
    assert.equal(parse(text).key.name, "k");
    assert.equal(secretOf(text), SECRET);
  });
}

const refused = [
  { text: "", line: 1, says: /no key/ },
  { text: "\n\n", line: 1, says: /no key/ },
  { text: `key k { algorithm hmac-sha256; secret "${SECRET}"; }`, line: 1, says: /; is missing/ },
  { text: `key k {\nalgorithm hmac-sha256\nsecret "${SECRET}"; };`, line: 2, says: /expected algorithm NAME/ },
  { text: `key k {\nalgorithm hmac-sha256;\nsecret "${SECRET}" };`, line: 3, says: /a } where a ; must stand/ },
  { text: `\nkey k { algorithm hmac-sha256;\nsecret "${SECRET}; };\n`, line: 3, says: /quotation mark/ },
  { text: "\n/* key", line: 2, says: /comment without its end/ },
  {
    text: `key k { algorithm hmac-sha256; secret "${SECRET}"; };\nkey l { algorithm hmac-sha256; secret "${SECRET}"; };`,
    line: 2,
    says: /more than the one key/,
  },
  { text: `key k { algorithm hmac-sha256; secret "${SECRET}"; };;`, line: 1, says: /ends nothing/ },
  { text: `\nkey k { secret "${SECRET}"; };`, line: 2, says: /has no algorithm/ },
  { text: "key k { algorithm hmac-sha256; };", line: 1, says: /has no secret/ },
  {
    text: `key k { algorithm hmac-sha256;\nalgorithm hmac-sha256; secret "${SECRET}"; };`,
    line: 2,
    says: /algorithm stands there twice/,
  },
  { text: `key k { algorithm hmac-sha256; secret "${SECRET}"; note "x"; };`, line: 1, says: /nothing else/ },
  { text: `key { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /a name and one block/ },
  { text: `key k l { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /a name and one block/ },
  { text: `acl k { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /no key/ },
  { text: `key "a b" { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /name of the key/ },
  { text: `key "" { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /name of the key/ },
  { text: `key ${"k".repeat(64)} { algorithm hmac-sha256; secret "${SECRET}"; };`, line: 1, says: /name of the key/ },
  {
    text: `key k { algorithm hmac-sha1; secret "${SECRET}"; };`,
    line: 1,
    says: /hmac-sha1 is too weak: use one of hmac-sha224/,
  },
  {
    text: `key k { algorithm HMAC-MD5.SIG-ALG.REG.INT; secret "${SECRET}"; };`,
    line: 1,
    says: /hmac-md5.* is too weak/,
  },
  { text: `key k { algorithm hmac-sha3; secret "${SECRET}"; };`, line: 1, says: /must be one of/ },
  { text: `key k { algorithm constructor; secret "${SECRET}"; };`, line: 1, says: /must be one of/ },
  { text: `key k { algorithm hmac-sha256; secret "${SECRET.replace("=", "")}"; };`, line: 1, says: /not base64/ },
  { text: `key k { algorithm hmac-sha256; secret "${SECRET}="; };`, line: 1, says: /not base64/ },
  { text: 'key k { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAB=="; };', line: 1, says: /not base64/ },
  { text: 'key k { algorithm hmac-sha256; secret "----------------------=="; };', line: 1, says: /not base64/ },
  { text: 'key k { algorithm hmac-sha256; secret ""; };', line: 1, says: /0 bits; at least 112/ },
  { text: 'key k { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAA=="; };', line: 1, says: /104 bits; at least 112/ },
  {
    text: `key k { algorithm hmac-sha256; secret "${Buffer.alloc(1025).toString("base64")}"; };`,
    line: 1,
    says: /more than 1024/,
  },
  { text: `key k {\nalgorithm hmac-sha256;\nsecret AAAA/${SECRET.slice(4)}; };`, line: 3, says: /quotation marks/ },
  { text: "{".repeat(40), line: 1, says: /deeper than 16/ },
  { text: `key k ${"x ".repeat(40_000)}`, line: undefined, says: /larger than any/ },
];
for (const { text, line, says } of refused) {
  test(`refuses ${JSON.stringify(text.slice(0, 90))}: ${says.source}`, () => {
    assert.throws(
      () => parse(text),
      (error) => {
        assert.ok(error instanceof RndcKeyInvalid);
        assert.match(error.message, says);
        assert.equal(error.line, line);
        assert.ok(!inspect(error).includes(SECRET.slice(0, 12)), "the secret is in the error");
        return true;
      },
    );
  });
}

test("a key shorter than its HMAC is accepted from 112 bits on, with a warning", () => {
  const shortest = readRndcKey({
    name: "k",
    algorithm: "hmac-sha512",
    secret: new Redacted(Buffer.alloc(14).toString("base64")),
  });
  assert.deepEqual(shortest.warnings, ["the secret of k has 112 bits; hmac-sha512 should have 512 or more"]);
  const enough = readRndcKey({
    name: "k",
    algorithm: "hmac-sha512",
    secret: new Redacted(Buffer.alloc(64).toString("base64")),
  });
  assert.deepEqual(enough.warnings, []);
});

test("any text is a key or a refusal with its line, and is soon over", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "key",
      ' "k" ',
      "{",
      "}",
      ";",
      " algorithm hmac-sha256;",
      ` secret "${SECRET}";`,
      "\n",
      '"',
      "\\",
      "/*",
      "*/",
      "//",
      "#",
      "x",
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((list) => list.join("")),
        fc.string({ maxLength: 200 }),
      ),
      (text) => {
        try {
          assert.equal(parse(text).key.algorithm, "hmac-sha256");
        } catch (error) {
          if (!(error instanceof RndcKeyInvalid)) throw error;
        }
      },
    ),
    { numRuns: 2000 },
  );
  for (const piece of ['"', "/*", "\\", "{", "a/", "#"]) {
    assert.throws(() => parse(piece.repeat(65_000 / piece.length)), RndcKeyInvalid, piece);
  }
});
