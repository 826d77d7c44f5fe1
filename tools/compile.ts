import { globSync } from "node:fs";
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { type Finished, root, runCommand } from "./run.ts";

const compiler = join(root, "node_modules", "typescript", "bin", "tsc");

/** What ships, compiled into a folder. Type stripping is refused inside node_modules, so packages need it. */
export async function compileInto(folder: string): Promise<Finished> {
  const compiled = await runCommand(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", folder]);
  if (compiled.code !== 0) return compiled;
  // Read at run time, so the compiler does not know of them.
  for (const file of globSync("**/*.generated.json", { cwd: join(root, "src"), exclude: ["**/recorded/**"] })) {
    await copyFile(join(root, "src", file), join(folder, file));
  }
  await chmod(join(folder, "start.js"), 0o755);
  return compiled;
}
