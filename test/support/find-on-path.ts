import { access, constants } from "node:fs/promises";
import path from "node:path";

/** The program's full path, or undefined where PATH has none. */
export async function findOnPath(program: string): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(directory, program);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (directory !== "" && isThere) return file;
  }
  return undefined;
}
