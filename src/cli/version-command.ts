import type { Command } from "./command.ts";
import { readChoice } from "./flag-values.ts";

export const versionCommand: Command = {
  name: "version",
  summary: "Print the version.",
  options: [{ name: "output", short: "o", value: "FORMAT", description: "text or json.", default: "text" }],
  run: async (flags, world) => {
    const format = readChoice(flags, "output", ["text", "json"]);
    world.stdout.write(
      format === "json" ? `${JSON.stringify({ version: world.version })}\n` : `keyturn ${world.version}\n`,
    );
    return 0;
  },
};
