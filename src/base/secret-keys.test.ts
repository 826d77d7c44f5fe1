import assert from "node:assert/strict";
import { test } from "node:test";
import { isSecretKey, MAX_SECRET_KEY_LENGTH } from "./secret-keys.ts";

test("what can be a key of a Secret", () => {
  const table: readonly (readonly [text: string, isKey: boolean, reason: string])[] = [
    ["password", true, "a word"],
    ["tls.crt", true, "a dot within"],
    [".metadata", true, "one dot before"],
    ["A-b_9", true, "all that is allowed"],
    [".", false, "the folder itself"],
    ["..", false, "the folder above"],
    ["..data", false, "what a kubelet puts there itself"],
    ["...", false, "it begins with two dots"],
    ["", false, "nothing"],
    ["a b", false, "a space"],
    ["a/b", false, "another folder"],
    ["ä", false, "another letter"],
    ["a\n", false, "the end of a line"],
    ["a".repeat(MAX_SECRET_KEY_LENGTH), true, "as long as may be"],
    ["a".repeat(MAX_SECRET_KEY_LENGTH + 1), false, "one letter more"],
  ];
  for (const [text, isKey, reason] of table) assert.equal(isSecretKey(text), isKey, reason);
});
