import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { generateRndcKey } from "../rndc/key.ts";
import {
  acceptableKeys,
  acceptKey,
  addKey,
  dropKey,
  EMPTY_RING,
  findKey,
  findKeysByName,
  type KeyRing,
  markKey,
  type RingMarks,
  removeKey,
  ringFromJson,
  ringToJson,
} from "./key-ring.ts";

const MADE = Date.UTC(2026, 0, 14, 8, 30, 0, 250);
const MARKS: RingMarks = {
  clusterId: "c",
  ownerUid: "u",
  ownerKind: "RndcKey",
  ownerNamespace: "net",
  ownerName: "dns-primary-0-rndc",
  sequence: 1,
};

const fresh = (id: string, name = `op-${id}`) => ({
  id,
  key: generateRndcKey(name, "hmac-sha256", seededRandom(id.length)),
  createdAt: MADE,
  marks: MARKS,
});

const phases = (ring: KeyRing): string => ring.keys.map(({ id, phase }) => `${id}:${phase}`).join(" ");

const one = addKey(EMPTY_RING, fresh("1"));
const two = addKey(acceptKey(one, "1"), fresh("2"));
const leaving = removeKey(acceptKey(two, "2"), "1");

const steps: readonly (readonly [why: string, ring: KeyRing, becomes: string])[] = [
  ["a new key is to be accepted", one, "1:adding"],
  ["all servers accept it", acceptKey(one, "1"), "1:accepted"],
  ["its successor comes beside it", two, "1:accepted 2:adding"],
  ["the old one goes", leaving, "1:removing 2:accepted"],
  ["and is gone", dropKey(leaving, "1"), "2:accepted"],
  ["one that never worked is removed as well", removeKey(two, "2"), "1:accepted 2:removing"],
];

for (const [why, ring, becomes] of steps) {
  test(why, () => {
    assert.equal(phases(ring), becomes);
  });
}

const unchanged: readonly (readonly [why: string, ring: KeyRing, next: KeyRing])[] = [
  ["what is not there is not accepted", two, acceptKey(two, "9")],
  ["what is accepted is not accepted again", two, acceptKey(two, "1")],
  ["what is being removed does not come back", leaving, acceptKey(leaving, "1")],
  ["what is not there is not removed", two, removeKey(two, "9")],
  ["what is being removed is not removed again", leaving, removeKey(leaving, "1")],
  ["a key that servers may accept is never dropped", two, dropKey(two, "1")],
  ["nor one that they are to accept", two, dropKey(two, "2")],
  ["what is not there is not dropped", two, dropKey(two, "9")],
];

for (const [why, ring, next] of unchanged) {
  test(`the very same ring: ${why}`, () => {
    assert.equal(next, ring);
  });
}

test("keys are found by id, and by name as named compares names", () => {
  assert.equal(findKey(two, "2")?.key.name, "op-2");
  assert.equal(findKey(two, "9"), undefined);
  assert.deepEqual(
    findKeysByName(two, "OP-2").map(({ id }) => id),
    ["2"],
  );
  assert.deepEqual(
    acceptableKeys(leaving).map(({ id }) => id),
    ["2"],
  );
  assert.equal(findKey(markKey(two, "1", undefined), "1")?.marks, undefined);
});

test("neither an id nor a name is there twice", () => {
  assert.throws(() => addKey(two, fresh("2", "other")), /two keys with the id 2/);
  assert.throws(() => addKey(two, fresh("3", "Op-1")), /two keys with the name Op-1/);
});

test("a ring does not grow without end", () => {
  let ring = EMPTY_RING;
  for (let id = 0; id < 32; id++) ring = addKey(ring, fresh(String(id)));
  assert.throws(() => addKey(ring, fresh("32")), /at most 32 keys/);
});

const anyRing = fc
  .array(
    fc.record({
      algorithm: fc.constantFrom("hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512" as const),
      name: fc.stringMatching(/^[a-zA-Z0-9_]{1,20}$/),
      seed: fc.nat(),
      createdAt: fc.integer({ min: 0, max: Date.UTC(2200, 0) }),
      phase: fc.constantFrom("adding", "accepted", "removing" as const),
      sequence: fc.nat(),
      isMarked: fc.boolean(),
    }),
    { maxLength: 6 },
  )
  .map(
    (keys): KeyRing => ({
      keys: keys.map(({ name, algorithm, seed, createdAt, phase, sequence, isMarked }, index) => ({
        id: `id-${index}`,
        key: generateRndcKey(`${name}-${index}x`, algorithm, seededRandom(seed)),
        createdAt,
        marks: isMarked ? { ...MARKS, sequence } : undefined,
        phase,
      })),
    }),
  );

const plain = ({ keys }: KeyRing): unknown =>
  keys.map(({ key, ...rest }) => ({
    ...rest,
    name: key.name,
    algorithm: key.algorithm,
    secret: Buffer.from(key.secret.reveal()).toString("hex"),
  }));

test("a ring is the same text before it is stored and after it was read, in whatever order its marks were", () => {
  // The same fields with the same values, which the types of entries do not tell.
  const reversed = Object.fromEntries(Object.entries(MARKS).reverse()) as unknown as typeof MARKS;
  const ring = addKey(EMPTY_RING, { ...fresh("1"), marks: reversed });
  const text = ringToJson(ring);
  assert.equal(ringToJson(ringFromJson(text)).reveal(), text.reveal());
});

test("what is written is read again, to the millisecond and the bit", () => {
  fc.assert(
    fc.property(anyRing, (ring) => {
      assert.deepEqual(plain(ringFromJson(ringToJson(ring))), plain(ring));
    }),
  );
});

const written = JSON.parse(ringToJson(two).reveal()) as { readonly keys: readonly Record<string, unknown>[] };
const changed = (change: object): unknown => ({ ...written, keys: [{ ...written.keys[0], ...change }] });

const damages: readonly (readonly [why: string, value: unknown, message: RegExp])[] = [
  ["another format", { ...written, format: 2 }, /format that is not known/],
  ["no format", { keys: [] }, /format that is not known/],
  ["no keys", { format: 1 }, /no list of keys/],
  ["a field more", { ...written, note: "x" }, /the ring has a field that is not known/],
  ["a list", [], /not an object/],
  ["a key that is none", { format: 1, keys: ["x"] }, /key 1 of the ring is not an object/],
  ["a field more of a key", changed({ note: "x" }), /key 1 of the ring has a field that is not known/],
  ["no id", changed({ id: undefined }), /lacks its id/],
  ["a weak algorithm", changed({ algorithm: "hmac-md5" }), /key 1 of the ring: hmac-md5 is too weak/],
  ["a short secret", changed({ secret: "YWJj" }), /has 24 bits/],
  ["a secret that is not base64", changed({ secret: "%%%" }), /not base64/],
  ["a name that would break out", changed({ name: 'a"; };' }), /the name of the key must be/],
  ["no date", changed({ createdAt: "soon" }), /when it was created/],
  ["a phase that there is not", changed({ phase: "resting" }), /no phase that is known/],
  ["marks that are none", changed({ marks: "x" }), /marks that cannot be read/],
  ["marks without an owner", changed({ marks: { clusterId: "c" } }), /marks that cannot be read/],
  ["a field more of marks", changed({ marks: { ...MARKS, more: "x" } }), /the marks of key 1/],
  ["one key twice", { format: 1, keys: [written.keys[0], written.keys[0]] }, /two keys with the id/],
  ["one name twice", { format: 1, keys: [written.keys[0], { ...written.keys[0], id: "7" }] }, /with the name op-1/],
];

for (const [why, value, message] of damages) {
  test(`not read: ${why}`, () => {
    assert.throws(
      () => ringFromJson(new Redacted(JSON.stringify(value))),
      (error) => error instanceof InvalidValue && message.test(error.message),
    );
  });
}

test("a text that is cut off anywhere is not read, and no word of a key is said about it", () => {
  const text = ringToJson(two).reveal();
  const secrets = written.keys.map(({ secret }) => String(secret).slice(0, 12));
  for (let length = 0; length < text.length; length++) {
    assert.throws(
      () => ringFromJson(new Redacted(text.slice(0, length))),
      (error) => error instanceof InvalidValue && !secrets.some((secret) => inspect(error).includes(secret)),
    );
  }
});

test("a text that goes on and on is not read", () => {
  assert.throws(() => ringFromJson(new Redacted(`${" ".repeat(300_000)}{}`)), /larger than any/);
});
