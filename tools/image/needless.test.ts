import assert from "node:assert/strict";
import { test } from "node:test";
import { isNeedless } from "./needless.ts";

const rows: readonly (readonly [path: string, isOut: boolean, reason: string])[] = [
  ["undici/docs/docs/api/Client.md", true, "a folder that is named goes with all that is in it"],
  ["undici/docs", true, "and itself"],
  ["undici/docsify.js", false, "a name that only begins like it stays"],
  ["undici/lib/docs/index.js", false, "the same name elsewhere stays: it may be code"],
  ["other/test/index.js", false, "nothing is guessed of packages that are not named"],
  ["yaml/dist/index.d.ts", true, "types"],
  ["yaml/dist/index.js", false, "code"],
  ["@opentelemetry/api/dist/index.mjs.map", true, "maps"],
  ["prom-client/README.md", true, "words"],
  ["undici/lib/milo/LICENSE.md", false, "a licence stays, whatever its ending"],
  ["other/NOTICE.md", false, "and so does a notice"],
  ["other/package.json", false, "how a package is found"],
];

for (const [path, isOut, reason] of rows) {
  test(`${path} ${isOut ? "stays out" : "is shipped"}: ${reason}`, () => assert.equal(isNeedless(path), isOut));
}
