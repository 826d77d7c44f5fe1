import { isUtf8 } from "node:buffer";
import { access, constants, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, UsageError } from "../base/errors.ts";
import type { World } from "./command.ts";

/** What a person hands in: a file, or what is piped in (`-`). Whatever is wrong with it is one line that names it. */
export async function textIn(file: string, world: World): Promise<string> {
  if (file === "-") return world.stdin.readAll();
  let bytes: Buffer;
  try {
    bytes = await readFile(resolve(world.workingDirectory, file));
  } catch (error) {
    throw unreadable(`-f ${file}`, error);
  }
  if (!isUtf8(bytes)) throw new UsageError(`-f ${file}: is not text in UTF-8`);
  return bytes.toString();
}

/**
 * Says what cannot be read before anything else is asked for. It opens nothing: whoever writes to a named pipe would take
 * that for all there is to be read.
 */
export async function ensureReadable(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (file === "-") continue;
    try {
      await access(file, constants.R_OK);
    } catch (error) {
      throw unreadable(file, error);
    }
    if ((await stat(file)).isDirectory()) throw new UsageError(`${file}: ${WHY_UNREADABLE.EISDIR}`);
  }
}

const unreadable = (what: string, error: unknown): UsageError =>
  new UsageError(`${what}: ${whyUnreadable(error)}`, error);

const WHY_UNREADABLE = {
  ENOENT: "there is no such file",
  EISDIR: "is a folder: give the files in it",
  EACCES: "may not be read",
} as const satisfies Readonly<Record<string, string>>;

function whyUnreadable(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  const words: Readonly<Record<string, string>> = WHY_UNREADABLE;
  return words[String(code)] ?? `cannot be read: ${messageOf(error)}`;
}
