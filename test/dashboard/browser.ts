import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM } from "./chromium.ts";

/**
 * A real browser for stories of the page: the chromium of the machine, with an empty profile, and nothing that it would ask
 * of other hosts by itself. Every page is listened to: what it throws, what it logs as an error, what its own policy forbids
 * it, and whom it asks.
 */
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

export interface OpenOptions extends BrowserContextOptions {
  /** Whoever is there has keys alone: a pointer that is pressed is a complaint. */
  readonly hasNoMouse?: boolean;
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in it, line by line. */
  readonly complaints: readonly string[];
  /** All that it has written to its console. */
  readonly said: readonly string[];
  /** The hosts that it has asked. */
  readonly hosts: ReadonlySet<string>;
}

/** A failed request is no complaint: stories break connections on purpose. */
const EXPECTED = /Failed to load resource|net::ERR_/;

export async function openPage(browser: Browser, options: OpenOptions = {}): Promise<WatchedPage> {
  const { hasNoMouse = false, ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...rest });
  const page = await context.newPage();
  const complaints: string[] = [];
  const said: string[] = [];
  const hosts = new Set<string>();
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    said.push(message.text());
    if (message.type() === "error" && !EXPECTED.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  await page.exposeBinding("complain", (_, line: string) => void complaints.push(line));
  await page.addInitScript(listen, hasNoMouse);
  return { page, context, complaints, said, hosts };
}

declare global {
  /** To whoever listens to the page. */
  function complain(line: string): void;
}

/** Within the page, before anything of its own. */
function listen(hasNoMouse: boolean): void {
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) =>
    complain(`policy: ${effectiveDirective} forbids ${blockedURI} (${sourceFile}:${lineNumber})`),
  );
  if (hasNoMouse) addEventListener("pointerdown", () => complain("a pointer was pressed"), true);
}
