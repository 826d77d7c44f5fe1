import type { CompletedCommand, CompletedFlag } from "./completion-model.ts";

/** For fish: `keyturn completion fish | source`, or a file `completions/keyturn.fish`. */
export const fishScript = (commands: readonly CompletedCommand[]): string =>
  ["# fish completion for keyturn", "complete -c keyturn -f", ...commands.flatMap(commandLines), ""].join("\n");

function commandLines(command: CompletedCommand): readonly string[] {
  const { name, summary, flags, first, takesFiles } = command;
  const isHere = `__fish_seen_subcommand_from ${name}`;
  const isFirst = `${isHere}; and not __fish_seen_subcommand_from ${first.join(" ")}`;
  return [
    line("__fish_use_subcommand", [`-a ${name}`, `-d ${quoted(summary)}`]),
    ...(first.length > 0 ? [line(isFirst, [`-a ${quoted(first.join(" "))}`])] : []),
    ...(takesFiles ? [line(isHere, ["-F"])] : []),
    ...flags.map((flag) => line(isHere, flagWords(flag))),
  ];
}

function flagWords({ long, short, description, value }: CompletedFlag): readonly string[] {
  const names = [`-l ${long.slice(2)}`, ...(short ? [`-s ${short.slice(1)}`] : [])];
  const said = `-d ${quoted(description)}`;
  if (!value) return [...names, said];
  if (value.isFile) return [...names, "-r -F", said];
  return [...names, "-x", ...(value.choices.length > 0 ? [`-a ${quoted(choiceWords(value))}`] : []), said];
}

/** A list goes on after its last comma. */
const choiceWords = ({ choices, isList }: { readonly choices: readonly string[]; readonly isList: boolean }): string =>
  isList ? `(__fish_append , ${choices.join(" ")})` : choices.join(" ");

const line = (condition: string, words: readonly string[]): string =>
  `complete -c keyturn -n ${quoted(condition)} ${words.join(" ")}`;

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`;
