import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { keyFields } from "../../src/bind/key-fields.ts";
import { acceptKey, addKey, EMPTY_RING, type KeyRing, removeKey } from "../../src/bind/key-ring.ts";
import { type KeyMount, namedConf, PATHS } from "../../src/bind/named-conf.ts";
import { renderRing } from "../../src/bind/render-ring.ts";
import { generateRndcKey } from "../../src/rndc/key.ts";
import { findOnPath } from "../support/find-on-path.ts";

/** BIND's own judgement of what is written for it. */
const command = await findOnPath("named-checkconf");
const options = command === undefined ? { skip: "named-checkconf is not installed (Debian: bind9-utils)" } : {};

const folder = mkdtempSync(join(tmpdir(), "keyturn-checkconf-"));
after(() => rmSync(folder, { recursive: true }));

/** The files of a pod under a folder of their own, with what named.conf says of their paths. */
function check(conf: string, files: Readonly<Record<string, Readonly<Record<string, string>>>>): void {
  let text = conf;
  for (const [path, contents] of Object.entries<Readonly<Record<string, string>>>({ [PATHS.work]: {}, ...files })) {
    const place = join(folder, path);
    mkdirSync(place, { recursive: true });
    for (const [name, content] of Object.entries(contents)) writeFileSync(join(place, name), content);
    text = text.replaceAll(`"${path}`, `"${place}`);
  }
  const file = join(folder, "named.conf");
  writeFileSync(file, text);
  assert.equal(execFileSync(command ?? "", [file], { encoding: "utf8" }), "");
}

const RING: KeyMount = { kind: "ring", secretName: "k", ringName: "k-ring" };
const keyOf = (name: string, algorithm: Parameters<typeof generateRndcKey>[1] = "hmac-sha256") => ({
  id: name,
  key: generateRndcKey(name, algorithm, systemRandom),
  createdAt: 0,
  marks: undefined,
});

const one = acceptKey(addKey(EMPTY_RING, keyOf("bindy-operator")), "bindy-operator");
const two = addKey(one, keyOf("bindy-operator-bcdfghjk", "hmac-sha512"));
const rings: readonly (readonly [why: string, ring: KeyRing])[] = [
  ["no key", EMPTY_RING],
  ["one key", one],
  ["two keys at once", two],
  ["the second alone", removeKey(two, "bindy-operator")],
  [
    "every algorithm, and a name of many parts",
    addKey(addKey(two, keyOf("a.b_c.d-1", "hmac-sha224")), keyOf("x", "hmac-sha384")),
  ],
];

for (const [why, ring] of rings) {
  test(`named takes a ring of ${why}`, options, () => {
    for (const recursion of [false, true]) {
      check(namedConf({ recursion, keys: RING }), { [PATHS.ring]: renderRing(ring).reveal() });
    }
  });
}

test("named takes the one file of strategy Restart", options, () => {
  const { key } = keyOf("bindy-operator");
  const mount: KeyMount = { kind: "file", secretName: "k", keyName: key.name };
  check(namedConf({ recursion: false, keys: mount }), { [PATHS.key]: keyFields(key).reveal() });
});
