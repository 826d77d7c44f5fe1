import type { Page } from "playwright-core";
import type { DashboardWorld } from "../bench/dashboard-world.ts";
import { type Figure, type Findings, figure, inOneLine } from "../bench/figures.ts";
import { percentile } from "../bench/punctuality.ts";
import { Worst } from "../bench/worst.ts";
import { openBrowser, openPage } from "./browser.ts";
import { measurePages, type Site } from "./page-speed.ts";
import { measureChanges } from "./shown-changes.ts";

export interface DashboardSizes {
  readonly count: number;
  /** How often an operator is started without a dashboard, and with one. */
  readonly runs: number;
  /** How many changes each page is shown. */
  readonly turns: number;
  /** How long an operator is left alone before its memory is read. */
  readonly restMs: number;
}

/** The first of all bindings: no other name begins with its name. */
const MEASURED = "binding-0";

/**
 * The page of an operator in a browser, for somebody with a token of the cluster, and what that costs the operator: it is
 * started without a dashboard and with one, by turns, and its memory read in the same way, the second time with a page
 * open that has all rows.
 */
export async function measureDashboard(world: DashboardWorld, sizes: DashboardSizes): Promise<Findings> {
  const { count, runs, turns, restMs } = sizes;
  const worst = new Worst();
  const populated = await world.populate(count);
  console.log(`made ${count} credentials: ${JSON.stringify(populated)}`);
  const [plain, serving]: [number[], number[]] = [[], []];
  for (let run = 1; run <= runs; run++) {
    await world.startPlain(count);
    plain.push(await world.residentAtRest(restMs));
    const site = siteOf(world, await world.startServing(count));
    const browser = await openBrowser();
    try {
      await measurePages(browser, site, worst);
      const { page } = await openPage(browser);
      await site.enter(page);
      serving.push(await world.residentAtRest(restMs));
      if (run === runs) await measureChanges(browser, site, worst, { place: world.rotation, name: MEASURED, turns });
    } finally {
      await browser.close();
    }
    console.log(`run ${run}: RSS in MB ${plain.at(-1)} without a dashboard, ${serving.at(-1)} with one`);
    console.log(JSON.stringify(worst.figures.filter(({ goal }) => goal !== undefined)));
  }
  const [before, after] = [percentile(plain, 0.5), percentile(serving, 0.5)];
  const memory: readonly Figure[] = [
    figure(`${count} credentials, without a dashboard: RSS in MB, median`, before),
    figure(`${count} credentials, with a dashboard and a page: RSS in MB, median`, after),
    figure("what the dashboard adds: MB, between medians", after - before, "<= 40"),
  ];
  const details = { ...populated, plainMegabytes: inOneLine(plain), servingMegabytes: inOneLine(serving) };
  return { figures: [...worst.figures, ...memory], details };
}

const siteOf = (world: DashboardWorld, url: string): Site => ({
  url,
  credentialPath: `/credential/ServiceBinding/${MEASURED}`,
  search: MEASURED,
  enter: (page) => enterWith(page, url, world.token),
});

/** As somebody would, who has made a token. */
async function enterWith(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Look at the cluster" }).click();
  await page.locator(".connection", { hasText: "Live" }).waitFor();
}
