import assert from "node:assert/strict";
import { test } from "node:test";
import { ProviderError } from "../provider-error.ts";
import { checkedMetadata, decodeMetadata } from "./metadata.ts";

const none = { labels: {}, annotations: {} };

test("what Cloud Foundry takes goes through; what is under our prefix does not", () => {
  const labels = { team: "orders", "example.com/tier": "", "a_b.c": "x".repeat(63), "keyturn.dev/cluster": "forged" };
  const annotations = { note: "ü".repeat(5_000), "keyturn.dev/name": "forged" };
  const checked = checkedMetadata({ labels, annotations });
  assert.deepEqual(Object.keys(checked.labels), ["team", "example.com/tier", "a_b.c"]);
  assert.deepEqual(Object.keys(checked.annotations), ["note"]);
});

test("what it does not take is refused before anything is made, without showing a value", () => {
  const rows: readonly (readonly [key: string, value: string, reason: string])[] = [
    ["team", "x".repeat(64), "a value that is too long"],
    ["team", "a b canary", "a value with a space"],
    ["team", "-canary", "a value that begins with a dash"],
    ["", "x", "an empty key"],
    ["a/b/c", "x", "two slashes"],
    ["nodots/x", "x", "a prefix that is no DNS name"],
    ["cloudfoundry.org/x", "x", "the platform's own prefix"],
    ["x".repeat(64), "x", "a key that is too long"],
    ["a b", "x", "a key with a space"],
  ];
  for (const [key, value, reason] of rows) {
    assert.throws(
      () => checkedMetadata({ ...none, labels: { [key]: value } }),
      (error) =>
        error instanceof ProviderError &&
        error.code === "ProviderRefused" &&
        error.message.includes(` of the label ${JSON.stringify(key).slice(0, 60)}`) &&
        !error.message.includes("canary"),
      reason,
    );
  }
  assert.throws(() => checkedMetadata({ ...none, annotations: { note: "x".repeat(5_001) } }));
});

test("metadata that is not there, or not of texts, is none", () => {
  const empty = { labels: {}, annotations: {} };
  for (const value of [undefined, null, [], "x", { labels: null }, { labels: { a: 1 }, annotations: [] }]) {
    assert.deepEqual(structuredClone(decodeMetadata(value)), empty, JSON.stringify(value));
  }
});
