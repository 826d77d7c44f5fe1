import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { runKeyturn } from "../support/run-keyturn.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

const commands = [
  "up",
  "operator",
  "sandbox",
  "status",
  "explain",
  "consumers",
  "rotate",
  "credentials",
  "freeze",
  "unfreeze",
  "timeline",
  "import",
  "audit",
  "compliance",
  "manifests",
  "crds",
  "check",
  "completion",
  "version",
];

test("--help lists every command, and each has a page of its own", async () => {
  const { code, stdout } = await runKeyturn(["--help"]);
  assert.equal(code, 0);
  for (const command of commands) assert.match(stdout, new RegExp(`^  ${command} `, "m"));
  for (const command of commands) {
    for (const words of [
      [command, "--help"],
      ["help", command],
    ]) {
      const page = await sayKeyturn(words);
      assert.equal(page.code, 0);
      assert.match(page.stdout, new RegExp(`^  keyturn ${command} .*\\[FLAGS\\]$`, "m"));
    }
  }
});

test("another word for a command is told, and leads to its page", async () => {
  const [whole, page] = [await sayKeyturn(["--help"]), await sayKeyturn(["migrate", "--help"])];
  assert.match(whole.stdout, /^ {2}import .* Also called migrate\.$/m);
  assert.match(page.stdout, /Also called migrate\.$/m);
});

test("what stands beside the embedded API is named whole, and how to run an operator of one's own", async () => {
  const [whole, up] = [await sayKeyturn(["--help"]), await sayKeyturn(["up", "--help"])];
  assert.match(whole.stdout, /^ {2}up .*Service Manager.*Cloud Foundry/m);
  assert.match(up.stdout, /^Try it here: .*Cloud Foundry/);
  const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");
  const command = "keyturn operator --kubeconfig FILE --min-frequency 5s --min-rotate-after 10s";
  for (const page of [up.stdout, readme]) assert.ok(page.replaceAll(/\s+/g, " ").includes(command));
});

test("every flag that the README names is on its page", async () => {
  const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");
  const flags = [...readme.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, flag]) => flag ?? "");
  assert.ok(flags.length >= 4, "the table of flags was not found");
  const { stdout } = await sayKeyturn(["up", "--help"]);
  for (const flag of flags) assert.ok(stdout.includes(flag), flag);
});

test("crds prints the same definitions as YAML and as JSON", async () => {
  const yaml = parseAllDocuments((await sayKeyturn(["crds"])).stdout).map((document) => document.toJSON() as unknown);
  const json = JSON.parse((await sayKeyturn(["crds", "-o", "json"])).stdout) as { readonly items: readonly unknown[] };
  assert.deepEqual(yaml, json.items);
  assert.ok(yaml.length > 0);
  for (const item of yaml) assert.equal((item as { readonly kind: string }).kind, "CustomResourceDefinition");
});

test("version says what package.json says", async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8")) as {
    readonly version: string;
  };
  const { version } = manifest;
  const node = process.versions.node;
  assert.equal((await runKeyturn(["version"])).stdout, `keyturn ${version}\nnode ${node}\n`);
  assert.deepEqual(JSON.parse((await runKeyturn(["version", "-o", "json"])).stdout), { version, node });
});
