import { rm } from "node:fs/promises";
import { join } from "node:path";
import { compileInto } from "./compile.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { root } from "./run.ts";

/** `npm run build`: what ships, compiled into dist/, and the page. */
const folder = join(root, "dist");
await rm(folder, { recursive: true, force: true });
const { code } = await compileInto(folder);
if (code === 0) await buildDashboard(join(folder, "page"));
process.exitCode = code;
