import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import type { Command } from "./command.ts";
import { parseFlags } from "./parse-flags.ts";

const command: Command = {
  name: "try",
  summary: "",
  options: [
    { name: "data-dir", value: "DIR", description: "", default: "here" },
    { name: "ephemeral", description: "" },
    { name: "examples", description: "", isOnByDefault: true },
    { name: "output", short: "o", value: "FORMAT", description: "" },
  ],
  run: async () => 0,
};

test("flags are read in the ways people write them", () => {
  const table: readonly (readonly [
    words: string[],
    check: (flags: ReturnType<typeof parseFlags>) => unknown,
    expected: unknown,
    reason: string,
  ])[] = [
    [[], (flags) => flags.text("data-dir"), "here", "the default of a value"],
    [[], (flags) => flags.isOn("examples"), true, "a switch that is on by default"],
    [["--no-examples"], (flags) => flags.isOn("examples"), false, "switched off"],
    [["--examples=false"], (flags) => flags.isOn("examples"), false, "switched off with a value"],
    [["--ephemeral"], (flags) => flags.isOn("ephemeral"), true, "switched on"],
    [["--data-dir", "there"], (flags) => flags.text("data-dir"), "there", "a value as the next word"],
    [["--data-dir=there"], (flags) => flags.text("data-dir"), "there", "a value after an equals sign"],
    [["-o", "json"], (flags) => flags.text("output"), "json", "a short flag"],
    [["-h"], (flags) => flags.isOn("help"), true, "help is understood by every command"],
  ];
  for (const [words, check, expected, reason] of table)
    assert.equal(check(parseFlags(command, words)), expected, reason);
});

test("mistakes are one line that names the flag and the remedy", () => {
  const table: readonly (readonly [words: string[], message: RegExp])[] = [
    [["--ephemerel"], /unknown flag --ephemerel, did you mean --ephemeral\?/],
    [["--no-exmples"], /did you mean --no-examples\?/],
    [["--no-data-dir"], /unknown flag --no-data-dir/],
    [["--data-dir"], /--data-dir needs a value: --data-dir DIR/],
    [["--data-dir="], /--data-dir needs a value/],
    [["--ephemeral=yes"], /--ephemeral is a switch/],
    [["extra"], /unexpected argument "extra"/],
    [["-x"], /unknown flag -x/],
  ];
  for (const [words, message] of table) {
    assert.throws(
      () => parseFlags(command, words),
      (error) => error instanceof UsageError && message.test(error.message) && !error.message.includes("\n"),
      words.join(" "),
    );
  }
});

test("any words are flags or a usage error", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (words) => {
      try {
        parseFlags(command, words);
      } catch (error) {
        assert.ok(error instanceof UsageError, String(error));
      }
    }),
  );
});

test("words are taken where a command has some, and a flag may be given again", () => {
  const taking: Command = { ...command, words: { usage: "KIND NAME", max: 2 } };
  const flags = parseFlags(taking, ["binding", "-o", "a", "orders", "-o=b"]);
  assert.deepEqual(flags.words, ["binding", "orders"]);
  assert.deepEqual(flags.texts("output"), ["a", "=b"]);
  assert.equal(flags.text("output"), "=b", "the last one counts where there can be only one");
  assert.deepEqual(parseFlags(taking, ["--", "-x"]).words, ["-x"], "what follows -- is no flag");
  assert.deepEqual(parseFlags(taking, []).texts("data-dir"), ["here"], "the default of a list");
  assert.throws(() => parseFlags(taking, ["a", "b", "c"]), /unexpected argument "c"/);
});
