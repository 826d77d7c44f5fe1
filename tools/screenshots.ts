import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { type DashboardWorld, dashboardWorld } from "../src/dashboard/dashboard-world.fixture.ts";
import { readPageFiles } from "../src/dashboard/page-files.ts";
import { openBrowser, openPage } from "../test/dashboard/browser.ts";
import { whyNoBrowser } from "../test/dashboard/chromium.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { root } from "./run.ts";
import { writeAudit } from "./screenshots/audit.ts";
import { palettePng } from "./screenshots/palette-png.ts";
import { raiseScene } from "./screenshots/scene.ts";
import { DARK, PAPER, PRINTED, SHOTS, type Shot, SIZES } from "./screenshots/shots.ts";

/**
 * `npm run screenshots [-- --only NAME] [--out DIR]`: every page of the dashboard at three sizes, light and in part dark, of a
 * made-up cluster at an instant that is always the same, served by the real server. They are in docs/images/dashboard.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    out: { type: "string", default: join(root, "docs", "images", "dashboard") },
  },
});
const obstacle = whyNoBrowser();
if (obstacle !== undefined) {
  console.error(obstacle);
  process.exit(2);
}

const NOW = Date.UTC(2026, 10, 18, 9, 41, 12);

const folder = await mkdtemp(join(tmpdir(), "keyturn-screenshots-"));
const ends = new AsyncDisposableStack();
const taken = join(folder, "taken");
let bytes = 0;
try {
  await takeAll();
} finally {
  await ends.disposeAsync();
}

async function takeAll(): Promise<void> {
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  await buildDashboard(join(folder, "page"));
  const scene = await raiseScene(NOW);
  ends.defer(() => scene.stop());
  const log = join(folder, "audit.log");
  await writeAudit(log, scene.kube, NOW);
  const world = await dashboardWorld({
    on: scene,
    page: await readPageFiles(join(folder, "page")),
    auditPaths: [log],
    cluster: "prod-eu10",
    operator: {
      seenFrom: "operator",
      version: "0.2.0",
      leader: { identity: "keyturn-7c9d5b8f6-x2x4q", renewedAt: NOW - 1300, isThis: true },
      queues: [{ controller: "btp", waiting: 0, working: 1 }],
      lastDriftCheckAt: NOW - 4 * 60_000,
      clockSkewMs: 120,
    },
  });
  ends.defer(() => world.close());
  // The watches have read everything once a moment has passed.
  await scene.clock.advance(1000);
  scene.clock.jump(-1000);
  const browser = await openBrowser();
  ends.defer(() => browser.close());

  await mkdir(taken);
  const shots = SHOTS.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
  for (const size of ["wide", "middling", "narrow"] as const) {
    const [width, height] = SIZES[size];
    for (const colorScheme of size === "wide" ? (["light", "dark"] as const) : (["light"] as const)) {
      const meant = shots.filter(
        ({ name, sizes = [size] }) => sizes.includes(size) && (colorScheme === "light" || DARK.includes(name)),
      );
      const page = await enter(browser, world, { viewport: { width, height }, colorScheme });
      for (const shot of meant) {
        const name = [shot.name, size, ...(colorScheme === "dark" ? ["dark"] : [])].join("-");
        await keep(name, await take(page, world, shot));
      }
      await page.context().close();
    }
  }
  if (values.only.length === 0 || values.only.includes(PRINTED.name)) {
    const page = await enter(browser, world, { viewport: PAPER, colorScheme: "light" });
    await keep(PRINTED.name, await take(page, world, PRINTED));
  }
  await replaceOld();
  console.log(`${(bytes / 1000).toFixed(0)} KB in ${values.out}`);
}

/** Only once all are taken: half of them helps nobody. */
async function replaceOld(): Promise<void> {
  await mkdir(values.out, { recursive: true });
  if (values.only.length === 0) {
    for (const name of await readdir(values.out)) if (name.endsWith(".png")) await rm(join(values.out, name));
  }
  for (const name of await readdir(taken)) await copyFile(join(taken, name), join(values.out, name));
}

async function keep(name: string, picture: Buffer): Promise<void> {
  const png = palettePng(picture);
  await writeFile(join(taken, `${name}.png`), png);
  bytes += png.length;
}

async function enter(
  from: Browser,
  { server, link }: DashboardWorld,
  options: Parameters<typeof openPage>[1],
): Promise<Page> {
  const { page } = await openPage(from, { ...options, reducedMotion: "reduce", timezoneId: "UTC" });
  await page.clock.setFixedTime(NOW);
  await page.goto(`${server.url}/#token=${link()}`);
  await page.locator(".connection", { hasText: "Live" }).waitFor();
  return page;
}

async function take(page: Page, { server }: DashboardWorld, { path, shown, button, isPrinted }: Shot): Promise<Buffer> {
  await page.goto(server.url + path);
  await page.locator(".connection", { hasText: "Live" }).waitFor();
  if (button !== undefined) await page.getByRole("button", { name: button }).click();
  await page.locator(shown).first().waitFor();
  if (isPrinted) await page.emulateMedia({ media: "print" });
  return page.screenshot({ animations: "disabled", caret: "hide" });
}
