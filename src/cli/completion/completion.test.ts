import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "../command.ts";
import { bashScript } from "./bash-script.ts";
import { completionModel } from "./completion-model.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

const show: Command = {
  name: "show",
  summary: "Show what's there. And more of it.",
  words: { usage: "[KIND] FILE...", max: 2, first: ["apple", "pear"] },
  options: [
    { name: "output", short: "o", value: "FORMAT", description: "How: text or [json].", choices: ["text", "json"] },
    { name: "only", value: "NAMES", description: "Which.", choices: ["a", "b"] },
    { name: "kubeconfig", value: "FILE", description: "Where." },
    { name: "data-dir", value: "DIR", description: "Where to." },
    { name: "for", value: "DURATION", description: "How long." },
    { name: "examples", description: "With examples.", isOnByDefault: true },
  ],
  run: async () => 0,
};

const model = completionModel([show]);

test("what is completed is what the table of commands has", () => {
  assert.deepEqual(
    model.map(({ name, summary, first, takesFiles }) => ({ name, summary, first, takesFiles })),
    [
      { name: "show", summary: "Show what's there.", first: ["apple", "pear"], takesFiles: true },
      { name: "help", summary: "Show the page of a command.", first: ["show"], takesFiles: false },
    ],
  );
  const flags = Object.fromEntries((model[0]?.flags ?? []).map(({ long, value }) => [long, value]));
  assert.deepEqual(Object.keys(flags), [
    "--output",
    "--only",
    "--kubeconfig",
    "--data-dir",
    "--for",
    "--no-examples",
    "--help",
  ]);
  assert.deepEqual(flags["--only"], { name: "NAMES", choices: ["a", "b"], isList: true, isFile: false });
  assert.equal(flags["--no-examples"], undefined, "a switch takes no value");
});

test("fish is told of every command and flag, in its own quotes", () => {
  const script = fishScript(model);
  for (const line of [
    "complete -c keyturn -n '__fish_use_subcommand' -a show -d 'Show what\\'s there.'",
    "complete -c keyturn -n '__fish_seen_subcommand_from show; and not __fish_seen_subcommand_from apple pear' -a 'apple pear'",
    "complete -c keyturn -n '__fish_seen_subcommand_from show' -l output -s o -x -a 'text json' -d 'How: text or [json].'",
    "complete -c keyturn -n '__fish_seen_subcommand_from show' -l only -x -a '(__fish_append , a b)' -d 'Which.'",
    "complete -c keyturn -n '__fish_seen_subcommand_from show' -l kubeconfig -r -F -d 'Where.'",
    "complete -c keyturn -n '__fish_seen_subcommand_from show' -l no-examples -d 'With examples.'",
  ]) {
    assert.ok(script.split("\n").includes(line), `${line}\nis not in\n${script}`);
  }
});

test("zsh is told of every command and flag, with what means something to it escaped", () => {
  const script = zshScript(model);
  for (const part of [
    "'show:Show what'\\''s there.'",
    "'(--output -o)'{--output=,-o+}'[How\\: text or \\[json\\].]:FORMAT:(text json)'",
    "'--only=[Which.]:NAMES:_values -s , NAMES a b'",
    "'--kubeconfig=[Where.]:FILE:_files'",
    "'--data-dir=[Where to.]:DIR:_files -/'",
    "'--for=[How long.]:DURATION: '",
    "'--no-examples[With examples.]'",
    "'(--help -h)'{--help,-h}'[Show this page.]'",
    "'1:word:(apple pear)'",
    "'*:file:_files'",
  ]) {
    assert.ok(script.includes(part), `${part}\nis not in\n${script}`);
  }
});

test("no script has a quote that is left open", () => {
  for (const script of [bashScript(model), zshScript(model)]) {
    const plain = script.replaceAll("'\\''", "");
    assert.equal((plain.match(/"/g)?.length ?? 0) % 2, 0, script);
  }
});
