import type { OptionSpec } from "./command.ts";

/** `-o`, with the formats there are; the first of them where nothing is said. */
export function outputOption(first: string, ...others: readonly string[]): OptionSpec {
  const formats = [first, ...others];
  const [last, ...rest] = formats.toReversed();
  return {
    name: "output",
    short: "o",
    value: "FORMAT",
    description: `${rest.toReversed().join(", ")} or ${last}.`,
    default: first,
    choices: formats,
  };
}
