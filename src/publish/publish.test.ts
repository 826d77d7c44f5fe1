import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { connectionData, UnpublishableCredentials } from "./connection-data.ts";
import { Fingerprinter } from "./fingerprint.ts";

const credentials = { uri: "https://db", port: 5432, uaa: { clientid: "c" }, tags: ["a"] };
const canary = "canary-81";
const instance = { name: "orders-db", id: "i-1", offering: "postgresql", plan: "small", tags: ["sql", "relational"] };

/** The message tells by the names of keys what is wrong; nothing of the error tells a value. */
function assertUnpublishable(given: Record<string, unknown>, kind: "flat" | "recursive", message: RegExp): void {
  assert.throws(
    () => connectionData(given, { kind }),
    (error) =>
      error instanceof UnpublishableCredentials && message.test(error.message) && !inspect(error).includes(canary),
  );
}

test("flat: a key for each top-level key, nested values as JSON, and the whole under credentials", () => {
  assert.deepEqual(connectionData(credentials, { kind: "flat" }), {
    uri: "https://db",
    port: "5432",
    uaa: '{"clientid":"c"}',
    tags: '["a"]',
    credentials: JSON.stringify(credentials),
  });
});

test("flat: a service's own key named credentials is not overwritten", () => {
  assert.deepEqual(connectionData({ credentials: "mine" }, { kind: "flat" }), { credentials: "mine" });
});

test("recursive: a key for each value however deep, the names on the way joined, and positions in lists", () => {
  const deep = {
    ...credentials,
    endpoints: { primary: { host: "a" }, others: ["b", { host: "c" }] },
    none: null,
    tls: true,
  };
  assert.deepEqual(connectionData({ ...deep, empty: {}, nothing: [] }, { kind: "recursive" }), {
    uri: "https://db",
    port: "5432",
    uaa_clientid: "c",
    tags_0: "a",
    endpoints_primary_host: "a",
    endpoints_others_0: "b",
    endpoints_others_1_host: "c",
    none: "",
    tls: "true",
    empty: "{}",
    nothing: "[]",
  });
});

test("recursive: two values under one key are reported by their names, and neither is published", () => {
  const table: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ uaa_url: canary, uaa: { url: canary } }, /"uaa_url" and "uaa\.url" of the credentials would both be "uaa_url"/],
    [
      { a: { b_c: canary }, a_b: { c: canary } },
      /"a\.b_c" and "a_b\.c" .* would both be "a_b_c" .*connectionDetailsAsJSON/,
    ],
    [{ list: [canary], list_0: canary }, /"list\.0" and "list_0"/],
    [{ a: { "b c": canary } }, /"a_b c" cannot be a key of a Secret: set spec\.connectionDetailsAsJSON/],
  ];
  for (const [given, message] of table) assertUnpublishable(given, "recursive", message);
});

test("recursive: nothing is lost and nothing is invented", () => {
  const leafCount = (value: unknown): number => {
    const items = typeof value === "object" && value !== null ? Object.values(value) : [];
    return items.length === 0 ? 1 : items.reduce<number>((sum, item) => sum + leafCount(item), 0);
  };
  const plain = fc.stringMatching(/^[a-z]{1,4}$/);
  const tree = fc.object({
    key: plain,
    maxDepth: 3,
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
  });
  fc.assert(
    fc.property(
      tree.filter((value) => Object.keys(value).length > 0),
      (given) => {
        assert.equal(Object.keys(connectionData(given, { kind: "recursive" })).length, leafCount(given));
      },
    ),
  );
});

test("bundle: everything under one key", () => {
  assert.deepEqual(connectionData(credentials, { kind: "bundle", key: "creds.json" }), {
    "creds.json": JSON.stringify(credentials),
  });
});

test("sap-kubernetes: the metadata keys and their description", () => {
  const { tags: _, ...own } = credentials;
  const data = connectionData(own, { kind: "sap-kubernetes", instance });
  const { ".metadata": metadata = "", ...values } = data;
  assert.deepEqual(values, {
    uri: "https://db",
    port: "5432",
    uaa: '{"clientid":"c"}',
    instance_name: "orders-db",
    instance_guid: "i-1",
    plan: "small",
    label: "postgresql",
    type: "postgresql",
    tags: '["sql","relational"]',
  });
  const described = JSON.parse(metadata) as {
    readonly credentialProperties: readonly unknown[];
    readonly metaDataProperties: readonly unknown[];
  };
  assert.deepEqual(described.metaDataProperties, [
    { name: "instance_name", format: "text" },
    { name: "instance_guid", format: "text" },
    { name: "plan", format: "text" },
    { name: "label", format: "text" },
    { name: "type", format: "text" },
    { name: "tags", format: "json" },
  ]);
  assert.deepEqual(described.credentialProperties, [
    { name: "port", format: "json" },
    { name: "uaa", format: "json" },
    { name: "uri", format: "text" },
  ]);
  const bundled = connectionData(credentials, { kind: "sap-kubernetes", key: "all", instance });
  assert.deepEqual(Object.keys(bundled).sort(), [
    ".metadata",
    "all",
    "instance_guid",
    "instance_name",
    "label",
    "plan",
    "tags",
    "type",
  ]);
  const whole = JSON.parse(bundled[".metadata"] ?? "") as { readonly credentialProperties: readonly unknown[] };
  assert.deepEqual(whole.credentialProperties, [{ name: "all", format: "json", container: true }]);
});

test("sap-kubernetes: a key of the service's own is never written over", () => {
  const table: readonly (readonly [Record<string, unknown>, string | undefined, RegExp])[] = [
    [{ plan: canary, uri: "x" }, undefined, /has a key "plan" of its own, .*: set spec\.secretKey/],
    [{ type: canary, tags: [canary] }, undefined, /a key "tags" and "type" of its own/],
    [{ ".metadata": canary }, undefined, /a key "\.metadata" of its own/],
    [{ uri: canary }, "label", /a key "label" of its own, .*: choose another name in spec\.secretKey/],
  ];
  for (const [given, key, message] of table) {
    assert.throws(
      () => connectionData(given, { kind: "sap-kubernetes", ...(key !== undefined && { key }), instance }),
      (error) =>
        error instanceof UnpublishableCredentials && message.test(error.message) && !inspect(error).includes(canary),
    );
  }
  assert.ok(connectionData({ plan: "p" }, { kind: "sap-kubernetes", key: "all", instance }));
});

test("what cannot be published is refused by key, never by value", () => {
  const table: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{}, /empty/],
    [{ "a b": canary }, /"a b" cannot be a key of a Secret: set spec\.secretKey/],
    [{ "..": canary }, /cannot be a key/],
    [{ "..x": canary }, /"\.\.x" cannot be a key/],
    [{ big: canary.repeat(200_000) }, /bytes, a Secret holds/],
  ];
  for (const [given, message] of table) assertUnpublishable(given, "flat", message);
});

test("a digest of parts depends on each of them, on where they end, on their order and on the key", () => {
  const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(1)));
  const other = new Fingerprinter(new Redacted(new Uint8Array(32).fill(2)));
  const parts = fc.array(fc.string({ unit: fc.constantFrom("a", ":", "1"), maxLength: 3 }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, two) => {
      const isSame = JSON.stringify(one) === JSON.stringify(two);
      assert.equal(fingerprinter.ofParts(one) === fingerprinter.ofParts(two), isSame);
      assert.equal(fingerprinter.ofParts(one), fingerprinter.ofParts(one.map((part) => Buffer.from(part))));
      assert.notEqual(fingerprinter.ofParts(one), other.ofParts(one));
    }),
  );
});

test("a fingerprint depends on names, values and key, and not on order", () => {
  const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(1)));
  const other = new Fingerprinter(new Redacted(new Uint8Array(32).fill(2)));
  const entry = fc.tuple(fc.string(), fc.string());
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry), (a, b) => {
      const [left, right] = [Object.fromEntries(a), Object.fromEntries(b)];
      const same = JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(right).sort());
      assert.equal(fingerprinter.ofData(left) === fingerprinter.ofData(right), same);
      assert.equal(
        fingerprinter.ofData(left),
        fingerprinter.ofData(Object.fromEntries([...Object.entries(left)].reverse())),
      );
      assert.ok(!fingerprinter.isComparable(other.ofData(left)));
    }),
  );
});
