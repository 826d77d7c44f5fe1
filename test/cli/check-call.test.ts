import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const NOWHERE = join(scratchFolder(), "nowhere");
writeFileSync(
  NOWHERE,
  JSON.stringify({
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  }),
);

test("a call that is wrong is told from a cluster that is", async () => {
  const cases: readonly (readonly [words: readonly string[], message: RegExp, reason: string])[] = [
    [["-o", "yaml"], /--output must be one of text, json/, "a format"],
    [["-n", "No_Name"], /--namespace: "No_Name" cannot be a namespace/, "a namespace"],
    [["--controllers", "cloud"], /--controllers: "cloud" is not one of btp/, "a controller"],
    [["--as-service-account", "keyturn"], /--as-service-account: "keyturn" is not NAMESPACE\/NAME/, "half an account"],
    [["--as-service-account", "a/b/c"], /is not NAMESPACE\/NAME/, "more than an account"],
    [["--kubeconfig", "/nonexistent"], /there is no such file/, "a kubeconfig"],
    [["now"], /unexpected argument "now"/, "a word"],
  ];
  for (const [words, message, reason] of cases) {
    const { code, stdout, stderr } = await sayKeyturn(["check", ...words]);
    assert.equal(code, 2, reason);
    assert.match(stderr, message, reason);
    assert.equal(stdout, "", reason);
  }
});

test("a server that is not there is a finding", async () => {
  const { code, stdout, stderr } = await sayKeyturn(["check", "--kubeconfig", NOWHERE]);
  assert.equal(code, 1);
  assert.equal(stderr, "");
  assert.match(stdout, /^API server\n {2}problem {2}https:\/\/127\.0\.0\.1:1: nothing listens there .*\n {11}remedy: /);
  assert.match(stdout, /\n1 problem\.\n$/);
});

test("version tells what it knows, also where the server does not answer", async () => {
  const { code, stdout, stderr } = await sayKeyturn(["version", "--server", "--kubeconfig", NOWHERE]);
  assert.equal(code, 1);
  assert.equal(stdout, "keyturn 0\nnode 24.0.0\n");
  assert.match(stderr, /^keyturn: the API server https:\/\/127\.0\.0\.1:1 .* does not answer/);
});
