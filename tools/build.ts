import { rm } from "node:fs/promises";
import { join } from "node:path";
import { compileInto } from "./compile.ts";
import { root } from "./run.ts";

/** `npm run build`: what ships, compiled into dist/. */
const folder = join(root, "dist");
await rm(folder, { recursive: true, force: true });
process.exitCode = (await compileInto(folder)).code;
