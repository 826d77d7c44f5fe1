import { globSync } from "node:fs";
import { chmod, copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { root, runCommand } from "./run.ts";

/** `npm run build`: what ships, compiled into dist/. Type stripping is refused inside node_modules, so packages need it. */
await rm(join(root, "dist"), { recursive: true, force: true });
const { code } = await runCommand("tsc", ["-p", "tsconfig.build.json"]);
if (code === 0) {
  // Read at run time, so the compiler does not know of them.
  const exclude = ["**/recorded/**"];
  for (const file of globSync("**/*.generated.json", { cwd: join(root, "src"), exclude })) {
    await copyFile(join(root, "src", file), join(root, "dist", file));
  }
  await chmod(join(root, "dist", "main.js"), 0o755);
}
process.exitCode = code;
