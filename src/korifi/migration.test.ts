import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { textOf } from "./credentials.ts";
import { flatten } from "./flatten.ts";
import { bindingOf, credentialsOf, instanceOf, secretKey, secretOf, textsIn } from "./korifi.fixture.ts";
import { isForProjection, keepsLegacyMount, migratedCredentials } from "./migration.ts";

const LEGACY_TYPE = "servicebinding.io/database";
const legacySecret = (texts: Readonly<Record<string, string | Buffer>>) =>
  secretOf("db", texts, { type: LEGACY_TYPE, owner: "db" });

test("a Secret of a type for projection is legacy, one of another type is not", () => {
  assert.equal(isForProjection({ type: LEGACY_TYPE }), true);
  assert.equal(isForProjection({ type: "Opaque" }), false);
  assert.equal(isForProjection({ type: "kubernetes.io/basic-auth" }), false);
});

test("its values are migrated as texts, whatever they look like", () => {
  const read = migratedCredentials(legacySecret({ type: "database", port: "5432", uri: "a&b" }));
  assert.equal(
    read.kind === "credentials" && textOf(read.credentials).reveal(),
    '{"port":"5432","type":"database","uri":"a&b"}',
  );
});

test("bytes that are no text are not migrated, and named", () => {
  const read = migratedCredentials(legacySecret({ blob: Buffer.from([0xff]) }));
  assert.deepEqual(read.kind === "refused" && read.findings.map(({ message }) => message), [
    '"blob" of the Secret db is not UTF-8',
  ]);
});

test("what is projected after a migration is what was projected before it", () => {
  const legacy = fc.dictionary(secretKey, fc.string({ unit: "binary" }), { maxKeys: 6 });
  fc.assert(
    fc.property(legacy, (texts) => {
      const read = migratedCredentials(legacySecret({ ...texts, type: "database" }));
      assert.ok(read.kind === "credentials");
      const flat = flatten(read.credentials);
      assert.equal(flat.type, LEGACY_TYPE);
      assert.deepEqual(textsIn(flat.data), { ...texts, type: "database" });
    }),
    { numRuns: 300 },
  );
});

const VALUES = { type: "database", user: "alice" };
const MOVED = { spec: { secretName: "db-migrated" } };
const SAME = '{"user":"alice","type":"database"}';

const rows = [
  { why: "the credentials are those of the legacy Secret", credentials: SAME, keeps: true },
  {
    why: "the instance is pointed at the migrated Secret, which says the same",
    instance: MOVED,
    credentials: SAME,
    keeps: true,
  },
  {
    why: "the legacy Secret was changed itself, and what was migrated from it is behind",
    credentials: '{"user":"bob","type":"database"}',
    keeps: true,
  },
  { why: "a value is another one", instance: MOVED, credentials: '{"user":"bob","type":"database"}', keeps: false },
  { why: "a value is gone", instance: MOVED, credentials: '{"type":"database"}', keeps: false },
  {
    why: "a value has come",
    instance: MOVED,
    credentials: '{"type":"database","user":"alice","port":1}',
    keeps: false,
  },
  { why: "the binding names no Secret yet", mount: undefined, credentials: SAME, keeps: false },
  { why: "the binding names its own Secret already", mount: "b1", credentials: SAME, keeps: false },
  { why: "the legacy Secret is gone", namesake: undefined, credentials: SAME, keeps: false },
  {
    why: "the Secret is not of a type for projection",
    namesake: secretOf("db", VALUES),
    credentials: SAME,
    keeps: false,
  },
  {
    why: "the Secret is the binding's own, which bears the instance's name",
    namesake: secretOf("db", VALUES, { type: LEGACY_TYPE, owner: "b1" }),
    credentials: SAME,
    keeps: false,
  },
];

for (const { why, keeps, credentials, ...given } of rows) {
  test(`the reference ${keeps ? "stays" : "moves"}: ${why}`, () => {
    const mount = "mount" in given ? given.mount : "db";
    const judged = keepsLegacyMount({
      binding: bindingOf(mount === undefined ? {} : { status: { binding: { name: mount } } }),
      instance: instanceOf(given.instance ?? { spec: { secretName: "db" } }),
      namesake: "namesake" in given ? given.namesake : legacySecret(VALUES),
      credentials: credentialsOf(credentials),
    });
    assert.equal(judged, keeps);
  });
}
