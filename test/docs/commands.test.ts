import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { messageOf } from "../../src/base/errors.ts";
import { commands } from "../../src/cli/commands.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { readPage } from "./markdown.ts";

const folder = join(import.meta.dirname, "..", "..");
const files = globSync(
  ["README.md", "docs/*.md", "docs/{migration,tutorials,reference,explanation}/*.md", "examples/*.md"],
  { cwd: folder },
).sort();

/** Commands to be typed: lines of blocks, and code within a sentence. What shows the usage in brackets is none. */
function callsIn(file: string): readonly string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const lines = readPage(source).blocks.flatMap(({ language, text }) =>
    language === "yaml" || language === "json" ? [] : text.split("\n"),
  );
  const inline = [...source.matchAll(/`(keyturn [^`\n]+)`/g)].map(([, code = ""]) => code);
  return (
    [...lines, ...inline]
      // In a table a bar is escaped.
      .map((line) => line.replaceAll("\\|", "|"))
      .map((line) => /^(?:\$ )?keyturn (\w.*)$/.exec(line.trim())?.[1])
      .filter((call) => call !== undefined)
      .filter((call) => !/[[(…]/.test(call.replaceAll("$(", "")))
  );
}

/** The words of one call, up to where a shell would have it end. */
const wordsOf = (call: string): readonly string[] => {
  const [own = ""] = call.split(/ [|>#;] ?| &&/);
  return own.split(/\s+/).filter((word) => word !== "");
};

/** What is wrong with a call; undefined: nothing. */
function faultOf(call: string): string | undefined {
  const [name = "", ...words] = wordsOf(call);
  const command = commands.find((each) => each.name === name);
  if (!command) return name === "COMMAND" ? undefined : `there is no command ${name}`;
  try {
    parseFlags(command, words);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

test("every keyturn command on the pages has flags that there are", () => {
  const calls = files.flatMap((file) => callsIn(file).map((call) => ({ file, call })));
  assert.ok(calls.length > 60, `only ${calls.length} were found: has the search stopped working?`);
  const faults = calls.flatMap(({ file, call }) => {
    const fault = faultOf(call);
    return fault === undefined ? [] : [`${file}: keyturn ${call}: ${fault}`];
  });
  assert.deepEqual(faults, []);
});

test("a command that there is not, and a flag that there is not, are found", () => {
  assert.match(faultOf("spin") ?? "", /there is no command spin/);
  assert.match(faultOf("rotate sb orders --fast") ?? "", /unknown flag --fast/);
  assert.equal(faultOf("compliance report --max-period 90d > report.md"), undefined);
});

test("what is printed for kubectl is applied in the same way everywhere: by the server", () => {
  const sources = globSync("src/**/*.ts", { cwd: folder });
  const odd = [...files, ...sources].flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(
        /keyturn (?:crds|manifests)[^\n`]*kubectl apply (?!--server-side)[^\n`]*/g,
      ),
    ].map(([call]) => `${file}: ${call}`),
  );
  assert.deepEqual(odd, []);
});
