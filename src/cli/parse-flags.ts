import { parseArgs } from "node:util";
import { UsageError } from "../base/errors.ts";
import type { Command, Flags, OptionSpec } from "./command.ts";

/** Options that every command understands. */
export const commonOptions: readonly OptionSpec[] = [{ name: "help", short: "h", description: "Show this page." }];

/** Checks the words after a command's name against its options. Every mistake is one line that says what to do. */
export function parseFlags(command: Command, words: readonly string[]): Flags {
  const specs = [...command.options, ...commonOptions];
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(specs.map((spec) => [spec.name, parseSpec(spec)])),
    strict: false,
    allowNegative: true,
    allowPositionals: true,
    tokens: true,
  });
  const given: string[] = [];
  const values = new Map<string, readonly (string | boolean)[]>();
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (given.push(token.value) > (command.words?.max ?? 0)) {
        throw mistake(command, `unexpected argument "${token.value}"`);
      }
      continue;
    }
    const written = token.rawName.replace(/^--?/, "");
    const isNegative = written.startsWith("no-") && !byName.has(written);
    const name = isNegative ? written.slice(3) : token.name;
    const spec = byName.get(name);
    if (!spec || (isNegative && spec.value !== undefined)) throw unknownFlag(command, token.rawName, specs);
    const value = flagValue(command, spec, { given: token.value, isNegative });
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const texts = (name: string): readonly string[] => {
    const standard = byName.get(name)?.default;
    const all = values.get(name) ?? (standard === undefined ? [] : [standard]);
    return all.filter((value) => typeof value === "string");
  };
  return {
    words: given,
    text: (name) => texts(name).at(-1),
    texts,
    isOn: (name) => (values.get(name)?.at(-1) ?? byName.get(name)?.isOnByDefault ?? false) === true,
  };
}

function parseSpec(spec: OptionSpec): { type: "string" | "boolean"; short?: string } {
  return { type: spec.value === undefined ? "boolean" : "string", ...(spec.short && { short: spec.short }) };
}

function flagValue(
  command: Command,
  spec: OptionSpec,
  { given, isNegative }: { readonly given: string | undefined; readonly isNegative: boolean },
): string | boolean {
  if (spec.value === undefined) {
    if (given === undefined) return !isNegative;
    if (given === "true" || given === "false") return (given === "true") !== isNegative;
    throw mistake(command, `--${spec.name} is a switch and takes no value`);
  }
  if (given === undefined || given === "")
    throw mistake(command, `--${spec.name} needs a value: --${spec.name} ${spec.value}`);
  return given;
}

function unknownFlag(command: Command, flag: string, specs: readonly OptionSpec[]): UsageError {
  const near = closest(
    flag,
    specs.map((spec) => (spec.isOnByDefault ? `--no-${spec.name}` : `--${spec.name}`)),
  );
  return mistake(command, `unknown flag ${flag}${near ? `, did you mean ${near}?` : ""}`);
}

const mistake = (command: Command, what: string): UsageError =>
  new UsageError(`${what} (keyturn ${command.name} --help lists the flags)`);

/** The candidate that a typing mistake of at most two letters away would have meant. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const scored = candidates.map((candidate) => ({ candidate, distance: distance(word, candidate) }));
  const best = scored.sort((a, b) => a.distance - b.distance)[0];
  return best && best.distance <= 2 ? best.candidate : undefined;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
