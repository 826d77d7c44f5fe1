import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { shortText, wholeText } from "./short-text.ts";

describe("a text of JSON made short", () => {
  test("reads as before, whatever is in it", () => {
    const word = fc.constantFrom("name", "uid", '","name":"', '"}', '"],["', "\u0001", "\u001f", "\u007f", "ä€", "\\");
    const text = fc.oneof(word, fc.string({ unit: "binary" }));
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: "small" }, text, fc.integer(), fc.array(tie("any")), fc.dictionary(text, tie("any"))),
    })).any;
    fc.assert(
      fc.property(value, (one) => {
        const json = JSON.stringify(one);
        assert.equal(wholeText(shortText(json)), json);
      }),
    );
  });

  test("is short", () => {
    const json = JSON.stringify({
      metadata: {
        name: "orders",
        uid: "u",
        creationTimestamp: "2026-01-01T00:00:00Z",
        finalizers: ["keyturn.dev/keys"],
      },
      spec: { deletionPolicy: "Delete", managementPolicies: ["*"], providerConfigRef: { name: "default" } },
    });
    assert.ok(shortText(json).length < json.length / 2, `${shortText(json).length} of ${json.length}`);
  });
});
