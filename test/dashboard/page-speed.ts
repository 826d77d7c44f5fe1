import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import type { Worst } from "../bench/worst.ts";
import { openPage } from "./browser.ts";
import { loadTimes, longestTask, scrollThrough, watchLoad, zoomThrough } from "./measure.ts";

/** Where the page is served, and how somebody comes in. */
export interface Site {
  readonly url: string;
  /** A credential that is there: `/credential/ServiceBinding/orders`. */
  readonly credentialPath: string;
  /** What is typed to find few of all credentials. */
  readonly search: string;
  /** Lets a page in that has not gone anywhere yet. */
  enter(page: Page): Promise<void>;
}

interface Place {
  readonly name: string;
  readonly path: string;
  /** What somebody comes here for. */
  readonly shown: string;
  readonly acts?: Readonly<Record<string, (page: Page, site: Site) => Promise<void>>>;
}

const TURNS = 120;

const placesOf = ({ credentialPath }: Site): readonly Place[] => [
  { name: "overview", path: "/", shown: ".overview .figures" },
  { name: "timeline", path: "/timeline", shown: ".track", acts: { scrolling: scroll, zooming: zoom } },
  {
    name: "credentials",
    path: "/credentials",
    shown: ".credentials .name",
    acts: { scrolling: scroll, searching: search },
  },
  { name: "one credential", path: credentialPath, shown: ".chart .track", acts: { zooming: zoom } },
];

/**
 * Every page, opened by somebody who was never there: how long until there is something to see, and until all rows are
 * there and the page answers; and the longest task while it is loaded, scrolled, zoomed and searched. The goal is for what
 * a task works itself; how long that took by the clock, which others on the machine make longer, stands beside it.
 */
export async function measurePages(browser: Browser, site: Site, worst: Worst): Promise<void> {
  for (const place of placesOf(site)) await measurePlace(browser, site, place, worst);
}

async function measurePlace(browser: Browser, site: Site, { name, path, shown, acts }: Place, worst: Worst) {
  const { page, context, complaints } = await openPage(browser);
  const noteTask = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const { workMs, wallMs } = await longestTask(page, act);
    worst.note(`${name}, ${what}: longest task in ms`, workMs, "<= 100");
    worst.note(`${name}, ${what}: the same by the clock`, wallMs);
  };
  await site.enter(page);
  await forgetFiles(page);
  await watchLoad(page);
  await noteTask("loading", async () => {
    const { firstContentMs, interactiveMs } = await loadTimes(page, `${site.url}${path}`, shown);
    worst.note(`${name}: ms until the first content`, firstContentMs, "<= 1500");
    worst.note(`${name}: ms until interactive`, interactiveMs, "<= 2500");
  });
  for (const [what, act] of Object.entries(acts ?? {})) await noteTask(what, () => act(page, site));
  await context.close();
  if (complaints.length > 0) throw new Error(`the page ${path} complains: ${complaints.join("; ")}`);
}

/** Whoever comes for the first time has none of them. */
async function forgetFiles(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await session.detach();
}

async function scroll(page: Page): Promise<void> {
  await scrollThrough(page, TURNS);
  const scrolled = await page.locator(".grid-scroll").evaluate((element) => element.scrollTop);
  if (scrolled === 0) throw new Error("nothing was scrolled");
}

async function zoom(page: Page): Promise<void> {
  const before = page.url();
  await zoomThrough(page, ".track", TURNS);
  await page.waitForURL((url) => url.href !== before);
}

async function search(page: Page, site: Site): Promise<void> {
  await page.locator("[data-search]").pressSequentially(site.search, { delay: 30 });
  await page.locator(".credentials[aria-rowcount='2']").waitFor();
}

/** Of the scripts that were built, in KB, as a browser is sent them. */
export function noteSizes(folder: string, worst: Worst): void {
  const scripts = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js"));
  const contents = scripts.map((name) => readFileSync(join(folder, "assets", name)));
  const sum = (pack: (content: Buffer) => Buffer): number =>
    contents.reduce((total, content) => total + pack(content).length, 0) / 1000;
  worst.note(
    "scripts, gzip: KB",
    sum((content) => gzipSync(content, { level: 9 })),
    "<= 150",
  );
  worst.note(
    "scripts, brotli: KB",
    sum((content) => brotliCompressSync(content)),
    "<= 150",
  );
}
