import type { Flags } from "./command.ts";

/** Flags as they would have been read. */
export const flagsOf = (values: Readonly<Record<string, string>>): Flags => ({
  words: [],
  text: (name) => values[name],
  texts: (name) => (values[name] === undefined ? [] : [values[name]]),
  isOn: () => false,
});
