import { join } from "node:path";
import { buildDashboard, isDashboardCurrent } from "./dashboard-build.ts";
import { root } from "./run.ts";

/** `npm run build:dashboard [-- --if-stale]`: the page, as plain files in dist/page/. */
const folder = join(root, "dist", "page");
if (!process.argv.includes("--if-stale") || !isDashboardCurrent(folder)) await buildDashboard(folder);
