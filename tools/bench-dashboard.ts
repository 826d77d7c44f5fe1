import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { type FakeServer, startFakeServer } from "../dashboard/dev/fake-server.ts";
import { openBrowser, openPage } from "../test/dashboard/browser.ts";
import { loadTimes, longestTask, scrollThrough, watchLoad, zoomThrough } from "../test/dashboard/measure.ts";
import { buildDashboard, isDashboardCurrent } from "./dashboard-build.ts";
import { root } from "./run.ts";

/**
 * `npm run bench:dashboard [-- --count N --runs N]`: how quick the page is in a real browser, on a made-up cluster with three
 * keys a credential. The worst of all runs, a line a figure, with the goal beside it; ends with 1 where one is missed.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "10000" }, runs: { type: "string", default: "3" } },
});
const folder = join(root, "dist", "page");
if (!isDashboardCurrent(folder)) await buildDashboard(folder);

interface Figure {
  readonly value: number;
  readonly goal: number;
  readonly unit: "ms" | "KB";
  readonly beside: string;
}

const worst = new Map<string, Figure>();
function note(
  what: string,
  value: number,
  goal: number,
  options: { unit?: Figure["unit"]; beside?: string } = {},
): void {
  const { unit = "ms", beside = "" } = options;
  const before = worst.get(what);
  if (before === undefined || value > before.value) worst.set(what, { value, goal, unit, beside });
}

/** The goal is for the page: what it works itself. How long that took is said beside it. */
async function noteTask(page: Page, what: string, act: () => Promise<unknown>): Promise<void> {
  const { workMs, wallMs } = await longestTask(page, act);
  note(`${what}: longest task`, workMs, 100, { beside: `, ${wallMs.toFixed(0)} ms by the clock` });
}

function noteSizes(): void {
  const scripts = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js"));
  const contents = scripts.map((name) => readFileSync(join(folder, "assets", name)));
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0) / 1000;
  note("script, gzip", sum(contents.map((content) => gzipSync(content, { level: 9 }).length)), 150, { unit: "KB" });
  note("script, brotli", sum(contents.map((content) => brotliCompressSync(content).length)), 150, { unit: "KB" });
}

async function measurePage(browser: Browser, server: FakeServer, path: string): Promise<void> {
  const { page, context } = await openPage(browser);
  await watchLoad(page);
  await noteTask(page, `${path}, loading`, async () => {
    const times = await loadTimes(page, server.newLink().replace("/#", `${path}#`));
    note(`${path}, first content`, times.firstContentMs, 1500);
    note(`${path}, interactive`, times.interactiveMs, 2500);
  });
  if (path !== "/") await noteTask(page, `${path}, scrolling`, () => scrollThrough(page, 120));
  if (path === "/timeline") await noteTask(page, `${path}, zooming`, () => zoomThrough(page, 120));
  if (path === "/credentials") {
    await noteTask(page, `${path}, searching`, () =>
      page.locator("[data-search]").pressSequentially("ledger-db", { delay: 30 }),
    );
  }
  await context.close();
}

async function measureChanges(browser: Browser, server: FakeServer): Promise<void> {
  const { page } = await openPage(browser);
  const [credential] = server.world.credentials.values();
  if (!credential) throw new Error("there is no credential");
  await page.goto(server.newLink().replace("/#", `/credentials?q=${credential.row.name}#`));
  await page.locator(".credentials .name").first().waitFor();
  for (let turn = 0; turn < 10; turn++) {
    const name = `shown-${turn}`;
    const key = { id: name, name, state: "active" as const, createdAt: Date.now() };
    const startedAt = Date.now();
    server.world.change(credential, { ...credential.row, keys: [key] });
    server.tell();
    await page.getByText(name, { exact: true }).first().waitFor();
    note("a change is shown", Date.now() - startedAt, 500);
  }
}

noteSizes();
const server = await startFakeServer({ folder, count: Number(values.count) });
const browser = await openBrowser();
for (let run = 0; run < Number(values.runs); run++) {
  for (const path of ["/", "/timeline", "/credentials"]) await measurePage(browser, server, path);
}
await measureChanges(browser, server);
await browser.close();
await server.close();
for (const [what, { value, goal, unit, beside }] of worst) {
  const text = `${value.toFixed(unit === "KB" ? 1 : 0)} ${unit}`;
  console.log(
    `${value <= goal ? "ok  " : "MISS"} ${what.padEnd(40)} ${text.padStart(9)} (goal ${goal} ${unit}${beside})`,
  );
}
process.exitCode = [...worst.values()].some(({ value, goal }) => value > goal) ? 1 : 0;
