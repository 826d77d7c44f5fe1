import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/**
 * A real browser for stories of the page: the chromium of the machine, with an empty profile, and nothing that it would ask
 * of other hosts by itself. Every page is listened to: what it throws, what it logs as an error, and whom it asks.
 */
export const CHROMIUM = process.env.KEYTURN_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Why stories cannot be tried here; undefined where they can. */
export const whyNoBrowser = (): string | undefined =>
  existsSync(CHROMIUM)
    ? undefined
    : `there is no chromium at ${CHROMIUM} (Debian: apt install chromium; or name one in KEYTURN_TEST_CHROMIUM)`;

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, headless: true, chromiumSandbox: false, args: FLAGS });

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in it, line by line. */
  readonly complaints: readonly string[];
  /** The hosts that it has asked. */
  readonly hosts: ReadonlySet<string>;
}

/** A failed request is no complaint: stories break connections on purpose. */
const EXPECTED = /Failed to load resource|net::ERR_/;

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !EXPECTED.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  return { page, context, complaints, hosts };
}
