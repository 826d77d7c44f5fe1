import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import { ownWords } from "./own-words.ts";

type Parameters = Readonly<Record<string, unknown>>;

test("what Cloud Foundry says itself is shown, in one line and not for ever", () => {
  const rows: readonly (readonly [
    detail: string,
    parameters: Parameters,
    expected: string | undefined,
    reason: string,
  ])[] = [
    ["Name is too long", {}, "Name is too long", "its own words"],
    [" two\nlines\u0000", {}, "two lines", "one line"],
    ["x".repeat(181), {}, `${"x".repeat(180)}…`, "cut short"],
    ["", {}, undefined, "nothing said"],
    ["Name is too long", { role: "reader" }, "Name is too long", "no parameter in it"],
    ["Service broker error: whatever", {}, undefined, "the words of a broker"],
    ["'s3cret' is no password", { user: { password: "s3cret" } }, undefined, "a value"],
    ["'pa-ss' is none", { password: "pa-ss" }, undefined, "a value of several words"],
    ["secret-p... is none", { password: "secret-passphrase" }, undefined, "a value that was cut short"],
    ["no 42", { list: [42] }, undefined, "a number in a list"],
    ["SECRET", { password: "secret" }, undefined, "whatever its case"],
  ];
  for (const [detail, parameters, expected, reason] of rows) {
    assert.equal(ownWords(detail, new Redacted(parameters)), expected, reason);
  }
});

test("no value of a parameter is ever shown", () => {
  const word = fc.stringMatching(/^[a-z0-9]{4,12}$/);
  fc.assert(
    fc.property(word, fc.string(), fc.string(), (secret, before, after) => {
      const shown = ownWords(`${before} ${secret} ${after}`, new Redacted({ deep: [{ secret }] })) ?? "";
      assert.ok(!shown.includes(secret));
    }),
  );
});
