import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { ABSENT, type SourceId } from "./model.ts";
import { bytes, fingerprinter, fingerprinterOf, NOW, objectWith } from "./restart.fixture.ts";
import {
  classDigest,
  compareDigests,
  type DigestScope,
  dataOf,
  digestFor,
  digestOf,
  digestsOf,
  isDigest,
  type MountedObject,
  publishedAtOf,
  runningOn,
  statusWrittenAt,
} from "./source-digests.ts";

const SCOPE: DigestScope = { fingerprinter, namespace: "shop", source: "secret/db" };

const all = (data: Readonly<Record<string, string>>, scope: Partial<DigestScope> = {}): string =>
  digestOf({ ...SCOPE, ...scope, data: bytes(data), keys: undefined });

const some = (
  data: Readonly<Record<string, string>>,
  keys: readonly string[],
  scope: Partial<DigestScope> = {},
): string => digestOf({ ...SCOPE, ...scope, data: bytes(data), keys });

/** Used by pods that start without them as well. */
const dispensable = (data: Readonly<Record<string, string>>, keys: readonly string[]): string =>
  digestOf({ ...SCOPE, data: bytes(data), keys, optionalKeys: keys });

const mounted = (objects: readonly MountedObject[]): string =>
  classDigest({ ...SCOPE, source: "class/vault", objects });

const BOTH = { user: "u", password: "p" };

test("what has become of a source", () => {
  const other = fingerprinterOf(2);
  const rows: readonly (readonly [reason: string, known: string, now: string, expected: string])[] = [
    ["all of it, as it was", all(BOTH), all({ password: "p", user: "u" }), "same"],
    ["another value", all(BOTH), all({ ...BOTH, password: "q" }), "changed"],
    ["a key more, all used", all(BOTH), all({ ...BOTH, host: "h" }), "changed"],
    ["a key less, all used", all(BOTH), all({ user: "u" }), "changed"],
    ["it was not there", ABSENT, all(BOTH), "changed"],
    ["it was not there, and of it some is used", ABSENT, some(BOTH, ["user"]), "changed"],
    ["under another key", all(BOTH), all(BOTH, { fingerprinter: other }), "unknown"],
    ["under another key, some", some(BOTH, ["user"]), some(BOTH, ["user"], { fingerprinter: other }), "unknown"],
    ["some is used now", all(BOTH), some(BOTH, ["user"]), "unknown"],
    ["all is used now", some(BOTH, ["user"]), all(BOTH), "unknown"],
    ["a key that is not used", some(BOTH, ["user"]), some({ ...BOTH, password: "q" }, ["user"]), "same"],
    ["a key that is used", some(BOTH, ["user"]), some({ ...BOTH, user: "v" }, ["user"]), "changed"],
    ["one more key is used", some(BOTH, ["user"]), some(BOTH, ["user", "password"]), "unknown"],
    ["one less key is used", some(BOTH, ["user", "password"]), some(BOTH, ["user"]), "unknown"],
    [
      "one more key is used, and another changed",
      some(BOTH, ["user"]),
      some({ ...BOTH, user: "v" }, ["user", "password"]),
      "changed",
    ],
    ["a used key went", some(BOTH, ["user", "password"]), some({ user: "u" }, ["user", "password"]), "same"],
    ["every used key went", some(BOTH, ["user"]), some({}, ["user"]), "same"],
    [
      "a used key went, and another changed",
      some(BOTH, ["user", "password"]),
      some({ user: "v" }, ["user", "password"]),
      "changed",
    ],
    ["a key that pods were without came", dispensable({}, ["user"]), dispensable(BOTH, ["user"]), "changed"],
    ["a key that pods can do without went", dispensable(BOTH, ["user"]), dispensable({}, ["user"]), "same"],
    ["a key that pods need now, and is not there", dispensable({}, ["user"]), some({}, ["user"]), "unknown"],
    ["a key that pods could do without is needed now", dispensable({}, ["user"]), some(BOTH, ["user"]), "changed"],
    ["the source came without what is used of it", ABSENT, dispensable({}, ["user"]), "unknown"],
    ["a used key came", some({ user: "u" }, ["user", "password"]), some(BOTH, ["user", "password"]), "unknown"],
    ["none of the used keys was there", some({}, ["user"]), some(BOTH, ["user"]), "unknown"],
    ["the same keys in another order", some(BOTH, ["user", "password"]), some(BOTH, ["password", "user"]), "same"],
    ["another version", mounted([{ id: "a", version: "1" }]), mounted([{ id: "a", version: "2" }]), "changed"],
    [
      "an object was added to the class",
      mounted([{ id: "a", version: "1" }]),
      mounted([
        { id: "b", version: "9" },
        { id: "a", version: "1" },
      ]),
      "unknown",
    ],
    ["text that is none of ours", "sha1:0000", all(BOTH), "unknown"],
  ];
  for (const [reason, known, now, expected] of rows) assert.equal(compareDigests(known, now), expected, reason);
});

test("equal values elsewhere do not show: another namespace, kind, name or key has another digest", () => {
  const scopes: readonly Partial<DigestScope>[] = [
    {},
    { namespace: "other" },
    { source: "configmap/db" },
    { source: "secret/db2" },
  ];
  const inAll = scopes.flatMap((scope) => [all({ a: "v" }, scope).split(".")[2], all({ b: "v" }, scope).split(".")[2]]);
  assert.equal(new Set(inAll).size, 8);
  const values = scopes.flatMap((scope) => [some({ a: "v" }, ["a"], scope), some({ b: "v" }, ["b"], scope)]);
  assert.equal(new Set(values.map((digest) => digest.slice(-10))).size, 8);
});

const dataArbitrary = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.string({ maxLength: 3 }));
const sourceArbitrary = fc.constantFrom<SourceId>("secret/db", "configmap/db");

test("the digest of all tells equal data from different data, and every digest is readable and of its key", () => {
  fc.assert(
    fc.property(dataArbitrary, dataArbitrary, sourceArbitrary, (one, two, source) => {
      const isEqual = JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(two).sort());
      assert.equal(compareDigests(all(one, { source }), all(two, { source })), isEqual ? "same" : "changed");
      const digests = digestsOf({ ...SCOPE, data: bytes(one) });
      for (const keys of [undefined, [], ["a"], ["a", "c"]]) {
        const digest = digestFor(digests, { keys });
        assert.ok(isDigest(digest), digest);
        assert.equal(digest, digestOf({ ...SCOPE, data: bytes(one), keys }));
        assert.equal(digest.split(".")[1], fingerprinter.keyId);
      }
    }),
  );
});

test("of chosen keys: changed exactly if one that was there before has another value, or pods were without it", () => {
  const keys = ["a", "b"] as const;
  fc.assert(
    fc.property(dataArbitrary, dataArbitrary, fc.boolean(), (one, two, isOptional) => {
      const digest = isOptional ? dispensable : some;
      const isChanged = keys.some((key) => key in two && one[key] !== two[key] && (key in one || isOptional));
      const isSame = keys.every((key) => !(key in two) || one[key] === two[key]);
      const expected = isChanged ? "changed" : isSame ? "same" : "unknown";
      assert.equal(compareDigests(digest(one, keys), digest(two, keys)), expected);
    }),
  );
});

test("what a key was stays known while it is not there, however often that is looked at", () => {
  const keys = ["a", "b"] as const;
  fc.assert(
    fc.property(fc.array(dataArbitrary, { minLength: 1, maxLength: 6 }), fc.boolean(), (versions, isOptional) => {
      const digest = isOptional ? dispensable : some;
      const last = Object.assign({}, ...versions) as Readonly<Record<string, string>>;
      const digests = versions.map((data) => digest(data, keys));
      const runs = digests.reduce((known, now) => runningOn(known, now));
      assert.equal(runs, digest(last, keys));
      assert.ok(isDigest(runs));
    }),
  );
});

test("what cannot be a digest", () => {
  assert.ok(isDigest(ABSENT));
  for (const text of ["", "a.", "a.12345678.short", "t.12345678.short", "b.12345678.", `${all(BOTH)},x`]) {
    assert.equal(isDigest(text), false, text);
  }
});

test("data is the bytes that a pod sees, wherever they stand", () => {
  const secret = objectWith({}, { kind: "Secret", data: { a: "aGk=", odd: 7 } });
  const plain = objectWith({}, { kind: "ConfigMap", data: { a: "hi" } });
  const binary = objectWith({}, { kind: "ConfigMap", binaryData: { a: "aGk=" } });
  const digest = (object: typeof secret): string => digestOf({ ...SCOPE, data: dataOf(object), keys: undefined });
  assert.deepEqual([...dataOf(secret)], [["a", Buffer.from("hi")]]);
  assert.equal(digest(secret), digest(plain));
  assert.equal(digest(plain), digest(binary));
  assert.equal(dataOf(objectWith({}, { kind: "Secret", data: "odd" })).size, 0);
});

const at = (text: string): string => `2026-03-01T${text}Z`;
const entry = (field: string, time: string): object => ({
  manager: "m",
  operation: "Update",
  time,
  fieldsV1: { [`f:${field}`]: { "f:x": {} } },
});

test("when the data came to be what it is", () => {
  const created = { creationTimestamp: at("08:00:00") };
  const saying = (time: string): object => ({ annotations: { "keyturn.dev/published-at": time } });
  const rows: readonly (readonly [reason: string, metadata: object, expected: string])[] = [
    ["nobody says", created, at("08:00:00")],
    [
      "the newest write of data",
      { ...created, managedFields: [entry("data", at("09:00:00")), entry("data", at("10:00:00"))] },
      at("10:00:00"),
    ],
    ["binary data counts", { ...created, managedFields: [entry("binaryData", at("09:00:00"))] }, at("09:00:00")],
    [
      "a label does not",
      { ...created, managedFields: [entry("data", at("09:00:00")), entry("metadata", at("11:00:00"))] },
      at("09:00:00"),
    ],
    [
      "our own mark, if newer",
      { ...created, ...saying(at("09:30:00")), managedFields: [entry("data", at("09:00:00"))] },
      at("09:30:00"),
    ],
    [
      "our own mark, copied from long ago",
      { ...created, ...saying(at("01:00:00")), managedFields: [entry("data", at("09:00:00"))] },
      at("09:00:00"),
    ],
    ["a date of the future is now", { ...created, ...saying("2099-01-01T00:00:00Z") }, at("12:00:00")],
    [
      "garbage says nothing",
      { ...created, managedFields: [null, 7, { time: 5, fieldsV1: { "f:data": {} } }, { fieldsV1: "f:data" }] },
      at("08:00:00"),
    ],
  ];
  for (const [reason, metadata, expected] of rows) {
    assert.equal(publishedAtOf(objectWith(metadata), NOW), Date.parse(expected), reason);
  }
});

test("when a pod status was written: by whoever owns its status, not by who labelled it", () => {
  const managedFields = [entry("status", at("09:00:00")), entry("metadata", at("10:00:00"))];
  assert.equal(statusWrittenAt(objectWith({ managedFields })), Date.parse(at("09:00:00")));
  assert.equal(statusWrittenAt(objectWith({})), undefined);
});
