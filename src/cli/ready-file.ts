import { rm } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { Flags, OptionSpec, World } from "./command.ts";
import { writePrivateFile } from "./private-file.ts";

export const readyFileOption: OptionSpec = {
  name: "ready-file",
  value: "FILE",
  description: "Write JSON to FILE once everything is up (for scripts).",
};

/** Tells scripts that what they have started is up, and where; gone again when it stops. */
export interface ReadyFile {
  write(content: Readonly<Record<string, unknown>>): Promise<void>;
}

/** A file of an earlier run would tell a script where things were: it goes first, which also shows that it can be written. */
export async function prepareReadyFile(flags: Flags, world: World, shutdown: Shutdown): Promise<ReadyFile | undefined> {
  const file = flags.text(readyFileOption.name);
  if (file === undefined) return undefined;
  const path = isAbsolute(file) ? file : resolve(world.workingDirectory, file);
  try {
    // Tried out beside it: a script that waits for the file must never find an empty one.
    const trial = `${path}.trial`;
    await writePrivateFile(trial, "");
    await rm(trial);
    await rm(path, { force: true });
  } catch (error) {
    throw new UsageError(`cannot write --ready-file ${path}: ${messageOf(error)}`, error);
  }
  return {
    write: async (content) => {
      await writePrivateFile(path, `${JSON.stringify({ ...content, processId: world.processId }, null, 2)}\n`);
      shutdown.addStep({ name: "ready file", boundMs: 100, run: () => rm(path, { force: true }) });
    },
  };
}
