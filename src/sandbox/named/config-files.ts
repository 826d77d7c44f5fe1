import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Where named reads its configuration from. */
export interface ConfigFiles {
  /** Undefined where there is no such file. */
  read(path: string): string | undefined;
  /** The paths that an `include` means, sorted; none where nothing is there. Only the last part may have wildcards. */
  match(pattern: string): readonly string[];
}

/** Files below a folder; paths that do not begin at the root are taken from there. */
export function folderFiles(folder: string): ConfigFiles {
  return {
    read: (path) => unlessMissing(() => readFileSync(resolve(folder, path), "utf8")),
    match(pattern) {
      const path = resolve(folder, pattern);
      const names = unlessMissing(() => readdirSync(dirname(path))) ?? [];
      return names
        .filter(matcherOf(basename(path)))
        .sort()
        .map((name) => join(dirname(path), name));
    },
  };
}

/** `*` and `?`, neither of which stands for a dot at the beginning. */
function matcherOf(pattern: string): (name: string) => boolean {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const shape = new RegExp(`^${escaped}$`);
  return (name) => shape.test(name) && (!name.startsWith(".") || pattern.startsWith("."));
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
