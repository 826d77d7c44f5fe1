import { type Command, EXIT_CODES, type OptionSpec } from "../../src/cli/command.ts";
import { commonOptions } from "../../src/cli/parse-flags.ts";
import { cell, code, table } from "./table.ts";

/**
 * `docs/reference/cli.md`: every command with its flags, defaults and exit codes, from the tables that the program itself
 * reads its call by. Pure.
 */
export function cliReference(commands: readonly Command[]): string {
  const index = commands.map(({ name, summary }) => [`[${code(name)}](#keyturn-${name})`, cell(summary)]);
  return `${[
    INTRODUCTION,
    table(["command", "what it does"], index),
    "## Exit codes",
    "What went wrong is one line on stderr.",
    table(["code", "when"], exits),
    ...commands.flatMap(section),
  ].join("\n\n")}\n`;
}

const INTRODUCTION = `# Reference: the commands

Every command, flag, default and exit code, made from the tables of the program by \`npm run generate:reference\`; a test compares this page with them. \`keyturn COMMAND --help\` says the same. What the commands print, and which rights they need, is in [the commands](../cli.md).`;

const exits = [
  [code(String(EXIT_CODES.done)), "It was done. What runs until it is stopped ends with it, too."],
  [code(String(EXIT_CODES.failed)), "It failed, or what the command says below."],
  [code(String(EXIT_CODES.wrong)), "The call was wrong, or the server it means cannot be used."],
  [
    code(String(EXIT_CODES.interrupted)),
    "It was interrupted before it was done: `rotate --wait`, `credentials`, `import`.",
  ],
];

function section(command: Command): readonly string[] {
  const { name, summary, description, words, options, failsWhen, isInterruptible, examples = [] } = command;
  const usage = ["keyturn", name, words?.usage ?? "", "[FLAGS]"].filter((word) => word !== "").join(" ");
  const ends = [
    ...(failsWhen === undefined ? [] : [`- ${code(String(EXIT_CODES.failed))}: ${failsWhen}`]),
    ...(isInterruptible ? [`- ${code(String(EXIT_CODES.interrupted))}: it was interrupted.`] : []),
  ];
  return [
    `## keyturn ${name}`,
    summary,
    fenced("text", [usage]),
    ...(description === undefined ? [] : [description.replaceAll("\n", " ").replaceAll("<", "&lt;")]),
    table(["flag", "what it does", "default"], [...options, ...commonOptions].map(flagRow)),
    ...(ends.length === 0 ? [] : [`Ends with:\n\n${ends.join("\n")}`]),
    ...(examples.length === 0
      ? []
      : [
          fenced(
            "sh",
            examples.flatMap(({ command: line, what }) => [`# ${what}`, line]),
          ),
        ]),
  ];
}

const FENCE = "```";
const fenced = (language: string, lines: readonly string[]): string =>
  [FENCE.concat(language), ...lines, FENCE].join("\n");

function flagRow(spec: OptionSpec): readonly string[] {
  const name = spec.isOnByDefault ? `--no-${spec.name}` : `--${spec.name}`;
  const written = `${spec.short ? `-${spec.short}, ` : ""}${name}${spec.value ? ` ${spec.value}` : ""}`;
  const isTold = spec.choices?.every((choice) => spec.description.includes(choice)) ?? true;
  const choices = spec.choices && !isTold ? ` One of ${spec.choices.map(code).join(", ")}.` : "";
  return [code(written), `${cell(spec.description)}${choices}`, spec.default === undefined ? "" : code(spec.default)];
}
