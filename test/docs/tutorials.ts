import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The tutorials, and how each of them starts. */
export const folder = join(import.meta.dirname, "..", "..");
export const tutorials = globSync("docs/tutorials/*.md", { cwd: folder }).sort();
export const read = (file: string): string => readFileSync(join(folder, file), "utf8");
export const START = "npm ci && npm start";
