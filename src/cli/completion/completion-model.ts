import type { Command, OptionSpec } from "../command.ts";
import { commonOptions } from "../parse-flags.ts";

/**
 * What can be completed, taken from the table of commands: the one source of every shell's script. Must not: know a shell.
 */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  /** What its first word can be. */
  readonly first: readonly string[];
  /** Its words are files, after the first one. */
  readonly takesFiles: boolean;
}

export interface CompletedFlag {
  /** `--output`; of a switch that is on by default `--no-examples`. */
  readonly long: string;
  /** `-o` */
  readonly short: string | undefined;
  readonly description: string;
  /** Undefined for switches. */
  readonly value: FlagValue | undefined;
}

export interface FlagValue {
  /** As the help calls it. */
  readonly name: string;
  readonly choices: readonly string[];
  /** Several of them, separated by commas. */
  readonly isList: boolean;
  readonly isFile: boolean;
}

/** Every command with its flags, and `help`, which takes the name of one. */
export function completionModel(commands: readonly Command[]): readonly CompletedCommand[] {
  const help: CompletedCommand = {
    name: "help",
    summary: "Show the page of a command.",
    flags: [],
    first: commands.map(({ name }) => name),
    takesFiles: false,
  };
  return [...commands.map(completedCommand), help];
}

const completedCommand = ({ name, summary, options, words }: Command): CompletedCommand => ({
  name,
  summary: firstSentence(summary),
  flags: [...options, ...commonOptions].map(completedFlag),
  first: words?.first ?? [],
  takesFiles: words?.usage.includes("FILE") ?? false,
});

const completedFlag = (spec: OptionSpec): CompletedFlag => ({
  long: spec.isOnByDefault ? `--no-${spec.name}` : `--${spec.name}`,
  short: spec.short === undefined ? undefined : `-${spec.short}`,
  description: firstSentence(spec.description),
  value: spec.value === undefined ? undefined : flagValue(spec.value, spec.choices ?? []),
});

/** In the help, one of a kind is NAME and several are NAMES. */
const flagValue = (name: string, choices: readonly string[]): FlagValue => ({
  name,
  choices,
  isList: name === "NAMES",
  isFile: name === "FILE" || name === "DIR",
});

/** A menu has no room for more. */
const firstSentence = (text: string): string => text.replace(/\. .*$/s, ".").replaceAll(/\s+/g, " ");

export const namesOf = ({ long, short }: CompletedFlag): readonly string[] => (short ? [long, short] : [long]);
