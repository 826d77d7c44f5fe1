import { existsSync, globSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.ts";

/**
 * Builds the page into a folder. What is compiled of src/dashboard/ stands in the same one of dist/, so that only what an
 * earlier build of the page has left is taken away. Vite is loaded only here: it takes longer than to find that
 * nothing is to do.
 */
export async function buildDashboard(folder: string): Promise<void> {
  const { build } = await import("vite");
  rmSync(join(folder, "assets"), { recursive: true, force: true });
  await build({
    configFile: join(root, "dashboard", "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: false },
  });
}

/** What the page is made from. */
const SOURCES = ["dashboard/{src,public}/**/*", "dashboard/*", "src/dashboard/wire.ts", "package-lock.json"];

/** Whether what was built is newer than all that it was built from. */
export function isDashboardCurrent(folder: string): boolean {
  const page = join(folder, "index.html");
  if (!existsSync(page)) return false;
  const builtAt = statSync(page).mtimeMs;
  return globSync(SOURCES, { cwd: root }).every((file) => statSync(join(root, file)).mtimeMs <= builtAt);
}
