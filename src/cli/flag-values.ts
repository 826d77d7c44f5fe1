import { UsageError } from "../base/errors.ts";
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
