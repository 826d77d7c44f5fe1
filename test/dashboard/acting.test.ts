import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { FakeServer } from "../../dashboard/dev/fake-server.ts";
import { whyNoBrowser } from "./chromium.ts";
import { Keyboard } from "./keyboard.ts";
import { assertSound, axeFindings, useStage } from "./stage.ts";

/** Everything by keyboard alone: nobody here has a mouse. */
describe("by keyboard", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();
  const focused = (page: Page): Promise<string> => new Keyboard(page).focused();
  const tabTo = (page: Page, name: RegExp): Promise<void> => new Keyboard(page).tabTo(name);

  const ready = (server: FakeServer) => {
    const found = [...server.world.credentials.values()].find(
      ({ row }) =>
        row.phase === "Ready" && !row.troubles && !row.isFrozen && !row.isPaused && row.frequencyMs !== undefined,
    );
    assert.ok(found);
    return found;
  };

  it("one goes from page to page, past the navigation, and through a list", async () => {
    const server = await stage.serve({ count: 300, lively: 0 });
    const watched = await stage.enter(server);
    const { page } = watched;
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "content");
    await page.goto(`${server.url}/`);
    await page.locator(".overview .figures").waitFor();
    await tabTo(page, /^Credentials$/);
    await page.keyboard.press("Enter");
    await page.locator(".credentials .name").first().waitFor();
    assert.equal(await focused(page), "Credentials", "one is at the heading of the page");
    await tabTo(page, /-/);
    const first = await focused(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await focused(page), first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    assert.equal(await focused(page), first);
    await page.keyboard.press("End");
    const last = await focused(page);
    assert.equal(await page.locator('.grid-row[aria-rowindex="301"]').count(), 1, "the last row is there");
    await page.keyboard.press("PageUp");
    await page.keyboard.press("End");
    assert.equal(await focused(page), last);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    assert.equal(outline, "solid", "one sees where one is");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Keys over time" }).waitFor();
    await page.goBack();
    await page.locator(".credentials .name").first().waitFor();
    assertSound(watched, server);
  });

  it("one goes through time, and from key to key", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const watched = await stage.enter(server, "/timeline?span=1mo");
    const { page } = watched;
    await page.locator(".bar-foreseen").first().waitFor();
    await tabTo(page, /-(db|queue|cache|index|api|bucket)/);
    await page.keyboard.press("+");
    await page.waitForURL(/span=1296000s/);
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    await page.waitForURL(/span=5184000s/);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/from=/);
    await page.keyboard.press("0");
    await page.waitForURL((url) => !url.search.includes("from="));
    await page.keyboard.press("Shift+ArrowRight");
    await page.locator(".card").waitFor();
    const said = page.locator('[role="status"][aria-live]');
    assert.match((await said.textContent()) ?? "", /made .*\dZ/);
    const before = await page.locator(".card-title").textContent();
    await page.keyboard.press("Shift+ArrowRight");
    assert.notEqual(await page.locator(".card-title").textContent(), before);
    assertSound(watched, server);
  });

  it("one rotates a key: what will happen is said and drawn first, and then told as it happens", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = ready(server);
    const watched = await stage.enter(server, `/credential/${credential.row.id}`);
    const { page } = watched;
    const before = credential.row.keys.find(({ state }) => state === "active")?.name ?? "";
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    await tabTo(page, /^Rotate now$/);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("A new key is made and published now.").waitFor();
    await dialog.locator(".track").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    for (let turn = 0; turn < 6; turn++) {
      await page.keyboard.press("Tab");
      assert.ok(
        await page.evaluate(
          () =>
            document.activeElement === document.body ||
            document.querySelector("dialog")?.contains(document.activeElement),
        ),
        "focus stays in the dialog",
      );
    }
    await page.keyboard.press("Escape");
    // Not by its role, which it has lost as soon as it is closed: the page has yet to hear of that.
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.equal(await focused(page), "Rotate now", "focus is back");
    assert.equal(server.asked.includes("POST /api/action"), false, "nothing was done");
    await page.keyboard.press("Enter");
    await dialog.getByText("A new key is made and published now.").waitFor();
    await tabTo(page, /^Rotate now$/);
    await page.keyboard.press("Enter");
    await page
      .locator(".progress")
      .getByText(/is being made$/)
      .waitFor();
    await page.locator(".steps [aria-current=step]").waitFor();
    await page
      .locator(".progress")
      .getByText(/is active$/)
      .waitFor();
    assert.match((await page.locator('[role="status"][aria-live]').textContent()) ?? "", /is active/);
    await page.getByRole("row", { name: new RegExp(`retired ${before}`) }).waitFor();
    assert.equal(server.asked.filter((one) => one === "POST /api/action").length, 1);
    assertSound(watched, server);
  });

  it("one declares a key compromised only by typing its name, and freezes", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = ready(server);
    const watched = await stage.enter(server, `/credential/${credential.row.id}`);
    const { page } = watched;
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    await tabTo(page, /^Freeze$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("No new rotation begins").waitFor();
    await tabTo(page, /^Freeze$/);
    await page.keyboard.press("Enter");
    await page.getByText("Ready, frozen").first().waitFor();
    await page.getByText("Rotate now: it is frozen").waitFor();
    await tabTo(page, /^Compromised/);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("there is no overlap").waitFor();
    const confirm = dialog.getByRole("button", { name: "Replace it without overlap" });
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByRole("textbox").fill("something else");
    await page.keyboard.press("Enter");
    assert.equal(server.asked.filter((one) => one === "POST /api/action").length, 1, "only the freeze");
    await dialog.getByRole("textbox").fill(credential.row.name);
    await page.keyboard.press("Enter");
    await page
      .locator(".progress")
      .getByText(/is active$/)
      .waitFor();
    assertSound(watched, server);
  });

  it("two pages that do the same at once do it once", async () => {
    const server = await stage.serve({ count: 30, lively: 0 });
    const credential = ready(server);
    const pages = await Promise.all([1, 2].map(() => stage.enter(server, `/credential/${credential.row.id}`)));
    for (const { page } of pages) {
      await page.getByRole("button", { name: "Rotate now" }).click();
      await page.getByRole("dialog").getByText("A new key is made and published now.").waitFor();
    }
    const keys = credential.row.keys.length;
    await Promise.all(
      pages.map(({ page }) => page.getByRole("dialog").getByRole("button", { name: "Rotate now" }).dblclick()),
    );
    const refused = pages.map(({ page }) =>
      page.getByRole("dialog").getByText("It has changed meanwhile: nothing was done").waitFor(),
    );
    await Promise.any(refused);
    await Promise.any(
      pages.map(({ page }) =>
        page
          .locator(".progress")
          .getByText(/is active$/)
          .waitFor(),
      ),
    );
    assert.equal(credential.row.keys.length, keys + 1, "one key was made");
    for (const page of pages) assertSound(page, server);
  });

  it("nothing is offered to who may change nothing", async () => {
    const server = await stage.serve({ count: 30, mayChange: false });
    const watched = await stage.enter(server, `/credential/${ready(server).row.id}`);
    await watched.page.getByText("Changes are switched off for this page.").waitFor();
    assert.equal(await watched.page.getByRole("button", { name: "Rotate now" }).count(), 0);
    assertSound(watched, server);
  });
});

describe("on paper", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();

  it("the report is whole, and nothing else is there", async () => {
    const server = await stage.serve({ count: 400, lively: 0 });
    const watched = await stage.enter(server, "/evidence");
    const { page } = watched;
    await page.locator("table.report").waitFor();
    await page.evaluate(() => {
      globalThis.print = () => {
        document.title = "printed";
      };
    });
    await page.getByRole("button", { name: "Print" }).click();
    await page.waitForFunction(() => document.title === "printed");
    assert.equal(await page.locator("table.report tbody tr").count(), 400);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("header.top").isVisible(), false);
    assert.equal(await page.getByText("Intact", { exact: true }).isVisible(), true);
    assertSound(watched, server);
  });
});
