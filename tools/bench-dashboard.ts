import { join } from "node:path";
import { parseArgs } from "node:util";
import { startFakeServer } from "../dashboard/dev/fake-server.ts";
import { DashboardWorld } from "../test/bench/dashboard-world.ts";
import { type Findings, reportFigures } from "../test/bench/figures.ts";
import { inRealWorld } from "../test/bench/real-server.ts";
import { Worst } from "../test/bench/worst.ts";
import { openBrowser } from "../test/dashboard/browser.ts";
import { whyNoBrowser } from "../test/dashboard/chromium.ts";
import { measureDashboard } from "../test/dashboard/dashboard-bench.ts";
import { measurePages, noteSizes, type Site } from "../test/dashboard/page-speed.ts";
import { buildDist } from "./build-dist.ts";
import { buildDashboard, isDashboardCurrent } from "./dashboard-build.ts";
import { writeEvidence } from "./evidence.ts";
import { root } from "./run.ts";

/**
 * `npm run bench:dashboard [-- --count N --runs N] [--made-up]`: how quick the page is in a real browser, and what it costs
 * the operator that serves it, on a real control plane with three keys a credential. The worst of all runs counts. With
 * `--made-up` only the page, on a made-up cluster and within a minute, for whoever works on it. Only a whole one is held
 * against the goals and kept.
 */
const [COUNT, RUNS, TURNS] = [10_000, 3, 10];
const { values } = parseArgs({
  options: {
    count: { type: "string", default: String(COUNT) },
    runs: { type: "string", default: String(RUNS) },
    "made-up": { type: "boolean", default: false },
  },
});
const [count, runs] = [Number(values.count), Number(values.runs)];
const obstacle = count > 0 && runs > 0 ? whyNoBrowser() : "--count and --runs are numbers";
if (obstacle !== undefined) {
  console.error(obstacle);
  process.exit(2);
}

const folder = join(root, "dist", "page");
const isWhole = count === COUNT && runs === RUNS && !values["made-up"];
const { figures, details } = values["made-up"] ? await measureMadeUp() : await measureReal();
if (isWhole) writeEvidence("bench-dashboard", { machine: "2 cores, shared", figures, ...details });
reportFigures("dashboard", isWhole ? figures : figures.map(({ name, value }) => ({ name, value })));

async function measureReal(): Promise<Findings> {
  await buildDist();
  const worst = new Worst();
  noteSizes(folder, worst);
  // An idle operator gives memory back at most every fifteen seconds.
  const sizes = { count, runs, turns: TURNS, restMs: isWhole ? 20_000 : 2000 };
  const found = await inRealWorld(DashboardWorld.open, (world) => measureDashboard(world, sizes));
  return { figures: [...worst.figures, ...found.figures], details: found.details };
}

async function measureMadeUp(): Promise<Findings> {
  if (!isDashboardCurrent(folder)) await buildDashboard(folder);
  const worst = new Worst();
  noteSizes(folder, worst);
  const server = await startFakeServer({ folder, count });
  const browser = await openBrowser();
  try {
    const [first] = server.world.credentials.values();
    const site: Site = {
      url: server.url,
      credentialPath: `/credential/${first?.row.id}`,
      search: first?.row.name ?? "",
      enter: async (page) => {
        await page.goto(server.newLink());
        await page.locator(".connection", { hasText: "Live" }).waitFor();
      },
    };
    for (let run = 0; run < runs; run++) await measurePages(browser, site, worst);
  } finally {
    await browser.close();
    await server.close();
  }
  return { figures: worst.figures, details: {} };
}
