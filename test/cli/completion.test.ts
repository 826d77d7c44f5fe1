import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { commands } from "../../src/cli/commands.ts";
import { findOnPath } from "../support/find-on-path.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const execute = promisify(execFile);
const bash = await findOnPath("bash");
const withoutBash = bash === undefined && "no bash here";

const folder = scratchFolder();
const scriptOf = (shell: string): string => join(folder, `keyturn.${shell}`);

before(async () => {
  for (const shell of ["bash", "zsh", "fish", "kubectl"]) {
    const { code, stdout, stderr } = await sayKeyturn(["completion", shell]);
    assert.equal(code, 0, stderr);
    writeFileSync(scriptOf(shell), stdout);
  }
  chmodSync(scriptOf("kubectl"), 0o755);
  mkdirSync(join(folder, "place"));
  writeFileSync(join(folder, "place", "my config.yaml"), "");
});

/** What bash offers for the last of these words, in a shell of its own that has sourced the script. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const script = [
    'source "$1"; shift',
    'COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))',
    "_keyturn",
    `for reply in "\${COMPREPLY[@]}"; do echo "$reply"; done`,
  ].join("\n");
  const call = ["--norc", "--noprofile", "-c", script, "bash", scriptOf("bash"), "keyturn", ...words];
  const { stdout, stderr } = await execute(bash ?? "", call, { cwd: join(folder, "place") });
  assert.equal(stderr, "", "bash has nothing to say against the script");
  return stdout.split("\n").filter((line) => line !== "");
}

interface Case {
  readonly reason: string;
  readonly words: readonly string[];
  readonly offered: readonly string[];
}

const kinds = ["servicebinding", "servicecredentialbinding"];

const controllers = commands
  .find(({ name }) => name === "check")
  ?.options.find(({ name }) => name === "controllers")?.choices;
const others = (controllers ?? []).filter((name) => name !== "btp").map((name) => `btp,${name}`);

const CASES: readonly Case[] = [
  { reason: "commands", words: ["com"], offered: ["compliance", "completion"] },
  { reason: "a command that is written out", words: ["check"], offered: ["check"] },
  { reason: "kinds", words: ["status", "service"], offered: kinds },
  { reason: "a name, which nobody knows", words: ["status", "servicebinding", "ord"], offered: [] },
  { reason: "kinds, after a flag with its value", words: ["status", "-o", "json", "service"], offered: kinds },
  { reason: "kinds, after a flag with an =", words: ["status", "--output", "=", "json", "service"], offered: kinds },
  { reason: "kinds, after a switch", words: ["status", "-A", "service"], offered: kinds },
  { reason: "flags of the command", words: ["status", "--ex"], offered: ["--exit-code"] },
  { reason: "flags of another command are not its own", words: ["crds", "--ex"], offered: [] },
  { reason: "values of a flag", words: ["status", "--output", ""], offered: ["table", "wide", "json"] },
  { reason: "values, by its short name", words: ["status", "-o", "w"], offered: ["wide"] },
  { reason: "values, as bash parts --output=", words: ["status", "--output", "="], offered: ["table", "wide", "json"] },
  { reason: "values, as bash parts --output=w", words: ["status", "--output", "=", "w"], offered: ["wide"] },
  { reason: "the first of a list", words: ["check", "--controllers", "bt"], offered: ["btp"] },
  {
    reason: "the next of a list",
    words: ["check", "--controllers", "btp,cloud"],
    offered: ["btp,cloudfoundry", "btp,cloudfoundry-rotating"],
  },
  { reason: "the others of a list, and none twice", words: ["check", "--controllers", "btp,"], offered: others },
  {
    reason: "what begins as one that was given",
    words: ["check", "--controllers", "btp,cloudfoundry,cloud"],
    offered: ["btp,cloudfoundry,cloudfoundry-rotating"],
  },
  { reason: "a value that nobody can list", words: ["status", "-n", ""], offered: [] },
  { reason: "files", words: ["check", "--kubeconfig", "my"], offered: ["my config.yaml"] },
  { reason: "words of a command", words: ["compliance", ""], offered: ["report"] },
  { reason: "files after a word", words: ["audit", "verify", "my"], offered: ["my config.yaml"] },
  { reason: "commands to be explained", words: ["help", "che"], offered: ["check"] },
  { reason: "shells", words: ["completion", ""], offered: ["bash", "zsh", "fish", "kubectl"] },
  {
    reason: "a switch that is on by default, as it is switched off",
    words: ["up", "--no-ex"],
    offered: ["--no-examples"],
  },
  { reason: "a command that is not there", words: ["sttus", ""], offered: [] },
];

for (const { reason, words, offered: expected } of CASES) {
  test(`bash offers ${reason}`, { skip: withoutBash }, async () => {
    assert.deepEqual(await offered(...words), expected);
  });
}

test("bash offers every command, and every flag of each", { skip: withoutBash }, async () => {
  const names = [...commands.map(({ name }) => name), "help"];
  assert.deepEqual(await offered(""), names);
  const { options } = commands.find(({ name }) => name === "check") ?? assert.fail();
  const flags = await offered("check", "--");
  for (const { name } of options) assert.ok(flags.includes(`--${name}`), name);
});

test("kubectl is told the same, and whether files may follow", { skip: withoutBash }, async () => {
  const told = async (...words: readonly string[]): Promise<string> =>
    (await execute(scriptOf("kubectl"), [...words], { cwd: join(folder, "place") })).stdout;
  assert.equal(await told("che"), "check\n:4\n");
  assert.equal(await told("status", "--output", ""), "table\nwide\njson\n:4\n");
  assert.equal(await told("status", "--output=w"), "--output=wide\n:4\n");
  assert.equal(await told("check", "--kubeconfig", "my"), "my config.yaml\n:0\n");
  assert.equal(await told("status", "-n", ""), ":4\n");
});

for (const [shell, flag] of [
  ["bash", "-n"],
  ["zsh", "-n"],
  ["fish", "--no-execute"],
] as const) {
  const program = await findOnPath(shell);
  test(`${shell} finds nothing wrong with its script`, {
    skip: program === undefined && `no ${shell} here`,
  }, async () => {
    const { stderr } = await execute(program ?? "", [flag, scriptOf(shell)]);
    assert.equal(stderr, "");
  });
}

test("a shell that is not known", async () => {
  const { code, stderr } = await sayKeyturn(["completion", "tcsh"]);
  assert.equal(code, 2);
  assert.equal(stderr, 'keyturn: "tcsh" is not one of bash, zsh, fish, kubectl\n');
  assert.match((await sayKeyturn(["completion"])).stderr, /for which shell\?/);
});

/** Of commands that ask for more than a first word before they look at their flags. */
const WHOLE_CALLS: Readonly<Record<string, readonly string[]>> = {
  audit: ["verify", "audit.log"],
  credentials: ["set", "orders", "-f", "-"],
  import: ["crossplane-btp", "--all"],
};

test("what is offered for a flag is what the command takes", async () => {
  for (const { name, options, words } of commands) {
    for (const { name: flag, choices, value } of options) {
      if (choices === undefined || value === "NAMES") continue;
      const given = WHOLE_CALLS[name] ?? words?.first?.slice(0, 1) ?? [];
      const call = [name, ...given, `--${flag}`, "nonsense"];
      const { code, stderr } = await sayKeyturn(call);
      assert.equal(code, 2, `${call.join(" ")}: ${stderr}`);
      assert.ok(stderr.includes(`--${flag} must be one of ${choices.join(", ")}, not`), `${call.join(" ")}: ${stderr}`);
    }
  }
});
