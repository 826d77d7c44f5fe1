import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type FakeServer, type FakeServerOptions, startFakeServer } from "../../dashboard/dev/fake-server.ts";
import { buildDashboard, isDashboardCurrent } from "../../tools/dashboard-build.ts";
import { root } from "../../tools/run.ts";
import { openBrowser, openPage, type WatchedPage } from "./browser.ts";

/**
 * Where stories of the page are played: a browser, and a server with a made-up cluster for each story. What a story does not
 * expect fails it: an error in the page, a request to another host.
 */
export interface Stage {
  /** A server of one's own, closed when the file is over. */
  serve(options?: FakeServerOptions): Promise<FakeServer>;
  /** A page that has come in by a link of the server, and has read everything. */
  enter(server: FakeServer, path?: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  /** A page that has not gone anywhere yet. */
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
}

export function useStage(): Stage {
  let browser: Browser | undefined;
  const servers: FakeServer[] = [];
  let folder = join(root, "dist", "page");
  let own: string | undefined;
  before(async () => {
    if (!isDashboardCurrent(folder)) {
      // Files are tried at the same time: one that is built for another would change under its feet.
      own = await mkdtemp(join(tmpdir(), "keyturn-page-"));
      folder = own;
      await buildDashboard(folder);
    }
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    for (const server of servers) await server.close();
    if (own !== undefined) await rm(own, { recursive: true });
  });
  const open = async (options: BrowserContextOptions = {}): Promise<WatchedPage> => {
    if (!browser) throw new Error("there is no browser yet");
    return openPage(browser, options);
  };
  return {
    open,
    serve: async (options = {}) => {
      const server = await startFakeServer({ folder, ...options });
      servers.push(server);
      return server;
    },
    enter: async (server, path = "/", options = {}) => {
      const watched = await open(options);
      const [origin, hash] = server.newLink().split("/#");
      await watched.page.goto(`${origin}${path}#${hash}`);
      await watched.page.locator(".connection", { hasText: "Live" }).waitFor();
      return watched;
    },
  };
}

/** It has thrown nothing, logged no error, and asked nobody but its server. */
export function assertSound({ complaints, hosts }: WatchedPage, server: { readonly url: string }): void {
  assert.deepEqual(complaints, []);
  assert.deepEqual([...hosts], [new URL(server.url).host]);
}

/** What axe-core finds, a line for each. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Not by a script element, which the page's own policy would refuse.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html)
        .join(" | ")}`,
  );
}
