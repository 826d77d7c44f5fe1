import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isShortName, namePartsOf } from "./name-parts.ts";

describe("names", () => {
  for (const [path, parts, reason] of [
    ["shop/checkout", { name: "checkout", namespace: "shop" }, "by which it is looked for comes first"],
    ["orders-db", { name: "orders-db" }, "its kind has no namespace"],
    ["", { name: "" }, "nothing stays nothing"],
  ] as const) {
    it(`${JSON.stringify(path)} is ${JSON.stringify(parts)}: ${reason}`, () => {
      assert.deepEqual(namePartsOf(path), parts);
    });
  }

  it("are kept on one line unless they are long", () => {
    assert.deepEqual([isShortName("platform/ingress-certificate"), isShortName("a".repeat(253))], [true, false]);
  });
});
