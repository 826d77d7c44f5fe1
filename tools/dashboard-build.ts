import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.ts";

/** Builds the page into a folder of its own. Vite is loaded only here: it takes longer than to find that nothing is to do. */
export async function buildDashboard(folder: string): Promise<void> {
  const { build } = await import("vite");
  await build({
    configFile: join(root, "dashboard", "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: true },
  });
}

/** Where servers of this checkout have it from. */
export const SERVED_PAGE: string = join(root, "dist", "page");

/** As `npm start` does it: only where something has changed. */
export async function ensureDashboard(): Promise<void> {
  if (!isDashboardCurrent(SERVED_PAGE)) await buildDashboard(SERVED_PAGE);
}

/** What the page is made from. */
const SOURCES = [
  "dashboard/{src,public}/**/*",
  "dashboard/*",
  "src/{dashboard/wire,insight/words/when,base/instant}.ts",
  "package-lock.json",
];

/** Whether what was built is newer than all that it was built from. */
export function isDashboardCurrent(folder: string): boolean {
  const page = join(folder, "index.html");
  if (!existsSync(page)) return false;
  const builtAt = statSync(page).mtimeMs;
  return globSync(SOURCES, { cwd: root }).every((file) => statSync(join(root, file)).mtimeMs <= builtAt);
}
