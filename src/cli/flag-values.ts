import { parseDuration } from "../base/duration.ts";
import { messageOf, UsageError } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";
import { isNamespaceName } from "../base/object-names.ts";
import type { Flags } from "./command.ts";

/** Readers for the values of flags; each refuses nonsense in one line that names the flag. */
export function readChoice<T extends string>(flags: Flags, name: string, choices: readonly T[]): T {
  const value = flags.text(name);
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not "${value}"`);
  return choice;
}

export function readWholeNumber(
  flags: Flags,
  name: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = flags.text(name) ?? "";
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < range.min || number > range.max) {
    throw new UsageError(`--${name} must be a whole number from ${range.min} to ${range.max}, not "${value}"`);
  }
  return number;
}

/** A comma-separated list whose members are known; `*` stands for all. */
export function readList(flags: Flags, name: string, known: readonly string[]): readonly string[] {
  const members = (flags.text(name) ?? "").split(",").map((member) => member.trim());
  if (members.includes("*")) return known;
  for (const member of members) {
    if (!known.includes(member)) {
      throw new UsageError(`--${name}: "${member}" is not one of ${known.join(", ")} (or * for all)`);
    }
  }
  return members;
}

/** A length of time in milliseconds, longer than nothing. */
export function readDuration(flags: Flags, name: string): number {
  try {
    return parseDuration(flags.text(name) ?? "", { positive: true });
  } catch (error) {
    throw new UsageError(`--${name}: ${messageOf(error)}`, error);
  }
}

/** An instant, or undefined where the flag was not given. */
export function readInstant(flags: Flags, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const at = parseInstant(text) ?? parseInstant(`${text}T00:00:00Z`);
  if (at === undefined)
    throw new UsageError(`--${name}: "${text}" is not a date such as 2026-11-15T12:00:00Z or 2026-11-15`);
  return at;
}

/** The namespace that `--namespace` names; for commands that have a default for it. */
export function readNamespace(flags: Flags): string {
  return namespaceIn("namespace", flags.text("namespace") ?? "");
}

/** Refuses what cannot be a namespace, in the words of the flag that it was given with. */
export function namespaceIn(flag: string, name: string): string {
  if (isNamespaceName(name)) return name;
  throw new UsageError(`--${flag}: "${name}" cannot be a namespace: lower-case letters, digits and dashes`);
}
