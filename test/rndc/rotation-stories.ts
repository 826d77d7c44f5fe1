import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { RndcCommandFailed, RndcRefused } from "../../src/rndc/errors.ts";
import { generateRndcKey, type RndcKey } from "../../src/rndc/key.ts";
import { command, configure, type NamedPlace } from "./named-stage.ts";

const SOME_SECRET = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

const replace = (from: string | RegExp, to: string) => (text: string) => {
  const changed = text.replace(from, to);
  assert.notEqual(changed, text, "the edit changes nothing");
  return changed;
};

const append = (line: string) => (text: string) => `${text}${line}\n`;

/** Each leaves the keys of before at work. For a text that breaks off, named has numbers that the stand-in has not. */
const badConfigurations: readonly {
  readonly reason: string;
  readonly edit: (text: string) => string;
  readonly result?: number;
}[] = [
  { reason: "an unknown key in controls", edit: replace(/keys \{ /, 'keys { "op-9"; '), result: 25 },
  { reason: "an include that is not there", edit: append('include "nowhere.conf";'), result: 38 },
  { reason: "an include that matches nothing", edit: append('include "nowhere-*.conf";'), result: 38 },
  {
    reason: "a secret that is not base64",
    edit: append('key k { algorithm hmac-sha256; secret "no!"; };'),
    result: 25,
  },
  {
    reason: "a secret without its padding",
    edit: append(`key k { algorithm hmac-sha256; secret "${SOME_SECRET.slice(0, -1)}"; };`),
    result: 25,
  },
  {
    reason: "an algorithm that there is not",
    edit: append(`key k { algorithm hmac-sha9; secret "${SOME_SECRET}"; };`),
    result: 25,
  },
  { reason: "a key without a secret", edit: append("key k { algorithm hmac-sha256; };"), result: 25 },
  {
    reason: "two keys of one name",
    edit: append(`key op-0 { algorithm hmac-sha256; secret "${SOME_SECRET}"; };`),
    result: 25,
  },
  {
    reason: "two keys whose names differ in case",
    edit: append(`key OP-0 { algorithm hmac-sha256; secret "${SOME_SECRET}"; };`),
    result: 25,
  },
  {
    reason: "a missing semicolon",
    edit: append(`key k { algorithm hmac-sha256 secret "${SOME_SECRET}"; };`),
    result: 25,
  },
  { reason: "a block without its end", edit: append("acl more { any;") },
  { reason: "a quotation mark without its other one", edit: append('acl "more { any; };') },
  { reason: "a semicolon that ends nothing", edit: append(";") },
  { reason: "an option that there is not", edit: append("bogus yes;"), result: 25 },
  { reason: "an unknown list", edit: replace("allow-update { updaters", "allow-update { nobody"), result: 25 },
  { reason: "two lists of one name", edit: append('acl "updaters" { any; };'), result: 25 },
  { reason: "two zones of one name", edit: append('zone "example.test" { type primary; file "x"; };'), result: 25 },
];

/** From one key to the next without a command that fails, and what does not get in the way of that. */
export function rotationStories(placeOf: () => NamedPlace, key: RndcKey): void {
  test("old, both, new: every command works all the while, and the old key is refused in the end", async () => {
    const place = placeOf();
    let old = key;
    for (const generation of [1, 2, 3]) {
      const next = generateRndcKey(`op-${generation}`, generation === 2 ? "hmac-sha512" : "hmac-sha256", systemRandom);
      configure(place, { keys: [old, next] });
      await assert.rejects(command(place, next, "status"), RndcRefused, "not before named was told");
      await command(place, old, "reconfig");
      await Promise.all([old, next, old, next].map((each) => command(place, each, "status")));
      configure(place, { keys: [next] });
      await command(place, old, "status");
      await command(place, next, "reconfig");
      await command(place, next, "status");
      await assert.rejects(command(place, old, "status"), RndcRefused);
      old = next;
    }
    configure(place, { keys: [key] });
    await command(place, old, "reconfig");
  });

  test("one name with another secret changes at once, and the key that is replaced still gets its answer", async () => {
    const place = placeOf();
    const replaced = generateRndcKey(key.name, key.algorithm, systemRandom);
    configure(place, { keys: [replaced] });
    await command(place, key, "reconfig");
    await assert.rejects(command(place, key, "status"), RndcRefused);
    configure(place, { keys: [key] });
    await command(place, replaced, "reconfig");
    await command(place, key, "status");
  });

  for (const { reason, edit, result } of badConfigurations) {
    test(`a configuration with ${reason} is refused, and the one before stays`, async () => {
      const place = placeOf();
      const next = generateRndcKey("op-next", "hmac-sha256", systemRandom);
      configure(place, { keys: [key, next], edit });
      await assert.rejects(command(place, key, "reconfig"), (error) => {
        assert.ok(error instanceof RndcCommandFailed);
        if (result !== undefined) assert.equal(error.result, result);
        return true;
      });
      assert.match((await command(place, key, "status")).text, /reload\/reconfig failed/);
      await assert.rejects(command(place, next, "status"), RndcRefused);
      configure(place, { keys: [key] });
      await command(place, key, "reconfig");
      assert.doesNotMatch((await command(place, key, "status")).text, /reload\/reconfig failed/);
    });
  }

  test("a configuration that is gone is refused, and the one before stays", async () => {
    const place = placeOf();
    rmSync(join(place.folder, "named.conf"));
    await assert.rejects(command(place, key, "reconfig"), /file not found/);
    await command(place, key, "status");
    configure(place, { keys: [key] });
    await command(place, key, "reconfig");
  });

  test("an unknown key in a list of updaters is no error to named, so nobody must count on one", async () => {
    const place = placeOf();
    configure(place, { keys: [key], updaters: ["op-9"] });
    await command(place, key, "reconfig");
    configure(place, { keys: [key] });
    await command(place, key, "reconfig");
  });

  test("files that begin with a dot, as a mounted Secret has them, are not included by a star", async () => {
    const place = placeOf();
    configure(place, { keys: [key] });
    mkdirSync(join(place.folder, "keys", "..2026"));
    writeFileSync(join(place.folder, "keys", ".hidden.conf"), "bogus");
    await command(place, key, "reconfig");
  });
}
