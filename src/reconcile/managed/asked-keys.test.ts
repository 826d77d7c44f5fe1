import assert from "node:assert/strict";
import { test } from "node:test";
import { AskedKeys } from "./asked-keys.ts";

test("what was asked for is known of that key alone, until it is forgotten", () => {
  const asked = new AskedKeys();
  const metadata = { namespace: "default", name: "orders", uid: "u-1" };
  asked.remember(metadata, 2, 1_000);
  assert.equal(asked.at(metadata, 2), 1_000);
  assert.equal(asked.at(metadata, 3), undefined, "another key");
  assert.equal(asked.at(metadata, undefined), undefined, "no key at all");
  assert.equal(asked.at({ ...metadata, uid: "u-2" }, 2), undefined, "another resource of that name");
  asked.forget("default/orders");
  assert.equal(asked.at(metadata, 2), undefined);
});
