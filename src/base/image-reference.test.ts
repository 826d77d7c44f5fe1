import assert from "node:assert/strict";
import { test } from "node:test";
import { isImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

const CASES: readonly (readonly [image: string, isOne: boolean, reason: string])[] = [
  ["keyturn", true, "a name alone"],
  ["keyturn:0.2.0", true, "a tag"],
  ["keyturn:V1_rc.2-B", true, "a tag with capitals"],
  ["registry.example/team/keyturn:0.2.0", true, "a host and a path"],
  ["localhost:5000/keyturn", true, "a port"],
  ["Registry.Example:5000/keyturn:1", true, "hosts know no capitals"],
  ["[fd00::1]:5000/keyturn:1", true, "a host by its address"],
  [`registry.example/keyturn@${DIGEST}`, true, "a digest"],
  [`registry.example/keyturn:1@${DIGEST}`, true, "a tag and a digest"],
  ["a__b-c---d.e/f_g", true, "what may stand between letters"],
  ["", false, "nothing"],
  ["key turn:1", false, "a blank"],
  [" keyturn:1", false, "a blank before it"],
  ["keyturn:1\n", false, "an end of line"],
  ["registry.example/KeyTurn:1", false, "capitals in the path"],
  ["Keyturn:1", false, "capitals in the name"],
  ["registry.example/keyturn:", false, "no tag after a colon"],
  ["registry.example/keyturn:1:2", false, "two tags"],
  [`keyturn:${"a".repeat(129)}`, false, "a tag that is too long"],
  ["keyturn@sha256:1234", false, "half a digest"],
  ["https://registry.example/keyturn", false, "an address of the web"],
  ["registry.example//keyturn", false, "nothing between slashes"],
  ["/keyturn", false, "nothing before a slash"],
  ["-keyturn", false, "a dash before it"],
  [`${"a".repeat(256)}:1`, false, "a name that is too long"],
];

for (const [image, isOne, reason] of CASES) {
  test(`${isOne ? "an image" : "no image"}: ${reason}`, () => assert.equal(isImageReference(image), isOne));
}
