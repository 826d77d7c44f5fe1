import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { type ConfPart, parseStatements } from "../rndc/conf-statements.ts";
import type { RndcKey } from "../rndc/key.ts";
import { acceptKey, addKey, EMPTY_RING, type KeyRing, removeKey } from "./key-ring.ts";
import { aclStatement, CONTROL_CHANNEL, controlsStatement, renderRing } from "./render-ring.ts";

const keyOf = (name: string, fill: number): RndcKey => ({
  name,
  algorithm: "hmac-sha256",
  secret: new Redacted(new Uint8Array(32).fill(fill)),
});

const ringOf = (...names: readonly string[]): KeyRing =>
  names.reduce(
    (ring, name, index) =>
      addKey(ring, { id: name, key: keyOf(name, index), createdAt: Date.UTC(2026, 0), marks: undefined }),
    EMPTY_RING,
  );

const both = acceptKey(ringOf("op-2", "op-1"), "op-2");
const textsOf = (ring: KeyRing): Readonly<Record<string, string>> => renderRing(ring).reveal();

test("two keys at once: statements, channel and list, in the order of their names", () => {
  const { "ring.json": _, ...texts } = textsOf(both);
  assert.deepEqual(texts, {
    "keys.conf": [
      'key "op-1" {\n\talgorithm hmac-sha256;\n\tsecret "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";\n};\n',
      'key "op-2" {\n\talgorithm hmac-sha256;\n\tsecret "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";\n};\n',
    ].join(""),
    "controls.conf": [
      "controls {\n",
      '\tinet * port 9953 allow { any; } keys { "op-1"; "op-2"; };\n',
      '\tinet :: port 9953 allow { any; } keys { "op-1"; "op-2"; };\n',
      "};\n",
    ].join(""),
    "acl.conf": 'acl "keyturn-updaters" { key "op-1"; key "op-2"; };\n',
  });
});

test("the order in which keys came does not matter to named", () => {
  const { "ring.json": _one, ...one } = textsOf(ringOf("op-1", "op-2", "op-3"));
  const { "ring.json": _two, ...two } = textsOf(ringOf("op-3", "op-1", "op-2"));
  assert.deepEqual(Object.keys(one), Object.keys(two));
  assert.equal(one["controls.conf"], two["controls.conf"]);
  assert.equal(one["acl.conf"], two["acl.conf"]);
});

test("a key that is being removed stays in the ring, and in nothing that named reads", () => {
  const { "ring.json": json = "", ...texts } = textsOf(removeKey(both, "op-1"));
  assert.match(json, /op-1/);
  for (const [file, text] of Object.entries(texts)) {
    assert.doesNotMatch(text, /op-1/, file);
    assert.match(text, /op-2/, file);
  }
});

test("without keys there is no control channel, and nobody may update", () => {
  const { "ring.json": _, ...texts } = textsOf(EMPTY_RING);
  assert.deepEqual(texts, {
    "keys.conf": "",
    "controls.conf": "controls { };\n",
    "acl.conf": 'acl "keyturn-updaters" { none; };\n',
  });
});

/** Words and blocks, without their lines. */
const shapeOf = (text: string): unknown => parseStatements(text).map(({ parts }) => parts.map(shapeOfPart));
const shapeOfPart = (part: ConfPart): unknown =>
  part.kind === "word" ? part.text : part.statements.map(({ parts }) => parts.map(shapeOfPart));

/** Either refused, or read again as exactly what was meant. */
function isContained(make: () => string, meant: () => unknown): boolean {
  let text: string;
  try {
    text = make();
  } catch (error) {
    assert.ok(error instanceof InvalidValue);
    return false;
  }
  assert.deepEqual(shapeOf(text), meant());
  return true;
}

const hostile = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "}", "{", ";", "/", "*", "#", "\n", " ", "a", "-", ".", "1"),
    maxLength: 8,
  }),
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}$/),
);

test("the name of a key never breaks out of its quotation marks", () => {
  let accepted = 0;
  fc.assert(
    fc.property(hostile, hostile, (one, two) => {
      const isAcl = isContained(
        () => aclStatement([one, two]),
        () => [
          [
            "acl",
            "keyturn-updaters",
            [
              ["key", one],
              ["key", two],
            ],
          ],
        ],
      );
      const isControls = isContained(
        () => controlsStatement([one, two], { port: 9953, listen: ["*"], allow: ["any"] }),
        () => [["controls", [["inet", "*", "port", "9953", "allow", [["any"]], "keys", [[one], [two]]]]]],
      );
      assert.equal(isAcl, isControls);
      if (isAcl) accepted++;
    }),
    { numRuns: 500 },
  );
  assert.ok(accepted > 20, `only ${accepted} names were accepted: is anything tried?`);
});

test("nor does an address", () => {
  const address = fc.oneof(
    hostile,
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom("*", "::", "any", "10.0.0.0/8", "fe80::1%eth0"),
  );
  let accepted = 0;
  fc.assert(
    fc.property(address, address, (listen, allow) => {
      const isIn = isContained(
        () => controlsStatement(["op"], { port: 9953, listen: [listen], allow: [allow] }),
        () => [["controls", [["inet", listen, "port", "9953", "allow", [[allow]], "keys", [["op"]]]]]],
      );
      if (isIn) accepted++;
    }),
    { numRuns: 500 },
  );
  assert.ok(accepted > 20, `only ${accepted} pairs were accepted: is anything tried?`);
});

const refused: readonly (readonly [why: string, channel: Partial<typeof CONTROL_CHANNEL>])[] = [
  ["a network to listen on", { listen: ["10.0.0.0/8"] }],
  ["a zone", { listen: ["fe80::1%eth0"] }],
  ["a network that is too long", { allow: ["10.0.0.0/33"] }],
  ["a host name", { allow: ["example.org"] }],
  ["no port", { port: 0 }],
  ["half a port", { port: 953.5 }],
];

for (const [why, channel] of refused) {
  test(`refused: ${why}`, () => {
    assert.throws(() => controlsStatement(["op"], { ...CONTROL_CHANNEL, ...channel }), InvalidValue);
  });
}
