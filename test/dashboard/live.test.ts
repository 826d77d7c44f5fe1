import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FakeServer } from "../../dashboard/dev/fake-server.ts";
import { whyNoBrowser } from "./chromium.ts";
import { assertSound, axeFindings, useStage } from "./stage.ts";

/** Fails by the time-out of the test. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !isSo(); turn++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(isSo());
}

describe("what the page shows", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();

  /** One that nothing happens to by itself. */
  const quiet = (server: FakeServer) => {
    const found = [...server.world.credentials.values()].find(({ row }) => row.name === "quiet");
    if (found) return found;
    const [any] = server.world.credentials.values();
    assert.ok(any);
    const row = {
      ...any.row,
      id: "ServiceBinding/quiet",
      name: "quiet",
      secret: "shop/quiet",
      phase: "Ready" as const,
    };
    const made = { ...any, row: { ...row, keys: row.keys.filter(({ state }) => state === "active") }, history: [] };
    delete made.wish;
    server.world.credentials.set(row.id, made);
    server.world.change(made, { ...made.row, frequencyMs: 1e9, rotationAt: Date.now() + 1e9 });
    return made;
  };

  it("changes by itself, within half a second, on every page", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = quiet(server);
    const pages = await Promise.all(
      ["/", "/credentials?q=quiet", "/timeline?q=quiet", "/credential/ServiceBinding/quiet"].map((path) =>
        stage.enter(server, path),
      ),
    );
    const trouble = { reason: "ProviderUnavailable", message: "it cannot serve now", group: "failing" } as const;
    server.world.change(credential, { ...credential.row, troubles: [trouble] });
    const startedAt = Date.now();
    server.tell();
    const shown = [".reason", ".state.tone-trouble", ".state.tone-trouble", ".notice.tone-trouble"];
    await Promise.all(
      pages.map(({ page }, index) =>
        page
          .locator(shown[index] ?? "")
          .first()
          .waitFor(),
      ),
    );
    // Four pages share this machine, with whatever else runs on it.
    assert.ok(Date.now() - startedAt < 2000, `${Date.now() - startedAt} ms`);
    server.world.remove("ServiceBinding/quiet");
    server.tell();
    await pages[1]?.page.getByText("No credential is like that").waitFor();
    await pages[3]?.page.getByText("This credential is not there, or not any more").waitFor();
    for (const page of pages) assertSound(page, server);
  });

  it("says that the connection is lost, and heals without a reload", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = quiet(server);
    const watched = await stage.enter(server, "/credentials?q=quiet");
    const { page } = watched;
    await page.getByRole("link", { name: "quiet" }).waitFor();
    server.refuse(503);
    server.cut();
    await page.getByText("Connection lost").waitFor();
    await page.getByText("What you see is as it was").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    assert.ok(await page.getByRole("link", { name: "quiet" }).isVisible(), "what was there stays in sight");
    server.world.change(credential, { ...credential.row, isFrozen: true });
    server.refuse(undefined);
    // It may come back by itself before anybody could press it.
    await page
      .getByRole("button", { name: "Try now" })
      .click({ timeout: 5000 })
      .catch(() => {});
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    await page.getByText("Ready, frozen").waitFor();
    assert.equal(await page.getByText("What you see is as it was").count(), 0);
    assertSound(watched, server);
  });

  it("holds no stream while nobody looks, keeps what was there in sight, and is told anew at once", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = quiet(server);
    const watched = await stage.enter(server, "/credentials?q=quiet");
    const { page } = watched;
    await page.getByRole("link", { name: "quiet" }).waitFor();
    const turn = (isHidden: boolean): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await turn(true);
    await until(() => server.open === 0);
    server.world.change(credential, { ...credential.row, isFrozen: true });
    assert.ok(await page.getByRole("link", { name: "quiet" }).isVisible());
    await turn(false);
    await page.getByText("Ready, frozen").waitFor();
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
    await until(() => server.open === 0);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
    await until(() => server.open === 1);
    assertSound(watched, server);
  });

  it("leaves connections for everything else, however many pages of one browser are in sight", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const watched = await stage.enter(server, "/credentials");
    const session = await watched.page.evaluate(() => ({ ...sessionStorage }));
    await watched.context.addInitScript((entries) => {
      for (const [name, value] of Object.entries(entries)) sessionStorage.setItem(name, value);
    }, session);
    const others = await Promise.all(Array.from({ length: 6 }, () => watched.context.newPage()));
    for (const page of others) await page.goto(`${server.url}/evidence`);
    for (const page of others) await page.locator(".report").first().waitFor();
    const crowded = others.at(-1);
    assert.ok(crowded);
    await crowded.getByText("This browser keeps four pages of this dashboard up to date").waitFor();
    assert.equal(server.open, 4);
    for (const page of [watched.page, ...others.slice(0, 3)]) await page.close();
    await crowded.locator(".connection", { hasText: "Live" }).waitFor({ timeout: 20_000 });
  });

  it("says that the cluster is silent, with what is live and what is old", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const watched = await stage.enter(server);
    server.world.silentSince = Date.now() - 20_000;
    server.world.change(quiet(server), { ...quiet(server).row, isFrozen: true });
    server.tell();
    await watched.page.locator(".connection", { hasText: "Page live, cluster not heard" }).waitFor();
    await watched.page.getByText("The cluster does not answer. The cluster was heard last").waitFor();
    await watched.page.getByText("nothing was heard of the cluster for").waitFor();
    assert.deepEqual(await axeFindings(watched.page), []);
    assertSound(watched, server);
  });

  it("has all of its places in sight on a telephone, and the current one on anything narrower", async () => {
    const server = await stage.serve({ count: 5, lively: 0 });
    for (const width of [375, 280]) {
      const { page, context } = await stage.enter(server, "/evidence", { viewport: { width, height: 700 } });
      const current = page.locator('nav a[aria-current="page"]');
      await current.waitFor();
      const [nav, last] = [await page.locator("nav").boundingBox(), await current.boundingBox()];
      assert.ok(nav && last && last.x + last.width <= nav.x + nav.width + 0.5, `${width}: ${JSON.stringify(last)}`);
      const isCut = await page.locator("nav").evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
      assert.ok(width < 375 || !isCut, "all of them");
      await context.close();
    }
  });

  it("is only text, whatever things are called, and whatever their dates", async () => {
    const server = await stage.serve({ count: 5, isNasty: true });
    for (const path of [
      "/",
      "/credentials?q=nasty",
      "/timeline?q=nasty",
      "/timeline?q=nasty&span=2y&from=0001-01-01",
      "/evidence",
      "/consumers?namespace=nasty",
    ]) {
      const watched = await stage.enter(server, path);
      await watched.page.locator(".overview .figures, .grid-row .name, .report, #workloads").first().waitFor();
      assert.equal(await watched.page.locator("main img, main script, main b").count(), 0, path);
      assert.doesNotMatch(await watched.page.title(), /^1$/);
      assertSound(watched, server);
      await watched.context.close();
    }
    const ids = [...server.world.credentials.keys()].filter((id) => id.includes("nasty"));
    const watched = await stage.enter(server, "/credentials?q=nasty");
    const { page } = watched;
    for (const id of ids) {
      await page.evaluate(
        (to) => {
          history.pushState(null, "", to);
          dispatchEvent(new PopStateEvent("popstate"));
        },
        `/credential/${id.split("/").map(encodeURIComponent).join("/")}`,
      );
      await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
      assert.doesNotMatch((await page.locator("main").textContent()) ?? "", /NaN|Invalid Date|undefined|\[object/, id);
    }
    assert.ok(
      (await page.evaluate(() => document.querySelectorAll("*").length)) < 3000,
      "five hundred keys are not all drawn",
    );
    assertSound(watched, server);
  });

  it("is one clear line where something cannot be drawn, and the rest works", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = quiet(server);
    const watched = await stage.enter(server, "/credentials?q=quiet");
    const { page } = watched;
    await page.getByRole("link", { name: "quiet" }).waitFor();
    const { namespace: _, ...row } = credential.row;
    server.world.change(credential, { ...row, secret: 7 as never });
    server.tell();
    await page.getByText("Something in what the server has sent cannot be drawn").waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.locator(".overview .figures").waitFor();
  });

  it("is the same for whoever is given the address", async () => {
    const server = await stage.serve({ count: 60 });
    const first = await stage.enter(server, "/timeline");
    await first.page.getByLabel("Search names, Secrets and keys").fill("db");
    await first.page.locator("select").last().selectOption("name");
    await first.page.getByRole("button", { name: "1 d", exact: true }).click();
    await first.page.getByRole("button", { name: "Later" }).click();
    await first.page.waitForURL(/q=db.*sort=name.*span=1d.*from=/);
    const address = new URL(first.page.url());
    const second = await stage.enter(server, address.pathname + address.search);
    const namesOf = (page: typeof first.page) => page.locator(".timeline .grid-row .name").allTextContents();
    await second.page.locator(".track").first().waitFor();
    assert.deepEqual(await namesOf(second.page), await namesOf(first.page));
    const axisOf = (page: typeof first.page) => page.locator(".axis text").allTextContents();
    assert.deepEqual(await axisOf(second.page), await axisOf(first.page));
  });
});
