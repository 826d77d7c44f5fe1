import { buildDashboard, ensureDashboard, SERVED_PAGE } from "./dashboard-build.ts";

/** `npm run build:dashboard [-- --if-stale]`: the page, as plain files in dist/page/. */
await (process.argv.includes("--if-stale") ? ensureDashboard() : buildDashboard(SERVED_PAGE));
