import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { type ConfPart, parseStatements } from "../rndc/conf-statements.ts";
import { namedConf } from "./named-conf.ts";

const ring = { kind: "ring", secretName: "k", ringName: "k-ring" } as const;
const file = { kind: "file", secretName: "k", keyName: "bindy-operator" } as const;

const shown = (part: ConfPart): string =>
  part.kind === "word" ? part.text : `{ ${part.statements.map(({ parts }) => parts.map(shown).join(" ")).join("; ")} }`;

/** The options by name, each as it is written. */
function optionsOf(text: string): Readonly<Record<string, string>> {
  const block = parseStatements(text)[0]?.parts[1];
  assert.ok(block?.kind === "block");
  const entries = block.statements.map(({ parts }) => parts.map(shown));
  return Object.fromEntries(entries.map(([name = "", ...rest]) => [name, rest.join(" ")]));
}

test("closed but for what it is there for", () => {
  assert.deepEqual(optionsOf(namedConf({ recursion: false, keys: ring })), {
    directory: "/var/cache/bind",
    "pid-file": "none",
    "session-keyfile": "none",
    "listen-on": "port 1053 { any }",
    "listen-on-v6": "port 1053 { any }",
    recursion: "no",
    "allow-recursion": "{ none }",
    "allow-query": "{ any }",
    "allow-transfer": "{ none }",
    "dnssec-validation": "no",
    "minimal-responses": "yes",
    version: "none",
    hostname: "none",
  });
});

test("recursion, where it is asked for, is for private networks alone", () => {
  const options = optionsOf(namedConf({ recursion: true, keys: ring }));
  assert.equal(options.recursion, "yes");
  assert.equal(options["dnssec-validation"], "auto");
  assert.doesNotMatch(options["allow-recursion"] ?? "", /any|[ {]0\.0\.0\.0/);
  assert.match(options["allow-recursion"] ?? "", /10\.0\.0\.0\/8/);
});

test("keys come from files that change under it, and it names none of them", () => {
  const text = namedConf({ recursion: false, keys: ring });
  assert.deepEqual(text.match(/include "[^"]+"/g), [
    'include "/etc/keyturn/ring/keys.conf"',
    'include "/etc/keyturn/ring/controls.conf"',
    'include "/etc/keyturn/ring/acl.conf"',
  ]);
  assert.doesNotMatch(text, /controls \{|key "/);
});

test("with one key at a time the file of the Secret is read, and the key has the same name for ever", () => {
  const text = namedConf({ recursion: false, keys: file });
  assert.deepEqual(text.match(/include "[^"]+"/g), ['include "/etc/keyturn/key/rndc.key"']);
  assert.match(text, /inet \* port 9953 allow \{ any; \} keys \{ "bindy-operator"; \};/);
  assert.match(text, /acl "keyturn-updaters" \{ key "bindy-operator"; \};/);
});

test("a name that would break out is refused", () => {
  assert.throws(
    () => namedConf({ recursion: false, keys: { ...file, keyName: '"; }; include "/etc/passwd' } }),
    InvalidValue,
  );
});
