import assert from "node:assert/strict";
import { test } from "node:test";
import type { OnScene } from "./scene.ts";

/** Every key as a bar, as far as time goes. */
export function tellTimelineStories(on: OnScene): void {
  test("the timeline has a bar for each key and the future, is zoomed and moved, and goes from key to key", async () => {
    const { cast } = on();
    const visit = await on().enter("/");
    const { page, keys } = visit;
    await visit.walk("Timeline");
    await page.locator(".track").first().waitFor();
    await visit.look();

    await keys.tabTo(/^Search names, Secrets and keys$/);
    await keys.type(cast.name);
    await page.waitForURL(/q=story-db/);
    const row = page.locator(".timeline .grid-row");
    await page.waitForFunction(() => document.querySelectorAll(".timeline .grid-row").length === 1);
    await keys.enter(/^1 mo$/);
    await page.waitForURL(/span=1mo/);
    await row.locator("path.bar-live").waitFor({ state: "attached" });
    await row.locator("path.bar-foreseen").waitFor({ state: "attached" });
    await page.locator(".present .now").waitFor({ state: "attached" });
    assert.match(
      (await row.locator(".track").getAttribute("aria-label")) ?? "",
      /^active key \S+, made .*; rotation in /,
    );

    await keys.tabTo(new RegExp(`^${cast.name}$`));
    await keys.press("+");
    await page.waitForURL(/span=1296000s/);
    await keys.press("-", "-");
    await page.waitForURL(/span=5184000s/);
    await keys.press("ArrowRight");
    await page.waitForURL(/from=/);
    await keys.press("0");
    await page.waitForURL((url) => !url.search.includes("from="));

    await keys.press("Shift+ArrowRight");
    const { activeName } = await cast.status();
    const title = page.locator(".card-title");
    assert.equal(await title.textContent(), `${activeName}active`);
    const said = page.locator('[role="status"][aria-live]');
    assert.match((await said.textContent()) ?? "", /made .*\dZ, .*to be replaced/);
    await keys.press("Shift+ArrowRight");
    await page.locator(".card-title", { hasText: "to come" }).waitFor();
    assert.match((await said.textContent()) ?? "", /to be made .*\dZ/);
    await visit.look();

    await keys.press("Enter");
    await visit.heading(cast.name);
    await visit.leave();
  });

  test("on a telephone the timeline has its legend, and buttons that a thumb meets", async () => {
    const visit = await on().enter("/", { viewport: { width: 390, height: 844 } });
    const { page, keys } = visit;
    await visit.walk("Timeline");
    await page.locator(".track").first().waitFor();
    const legend = page.getByRole("list", { name: "Legend" });
    assert.equal(await legend.count(), 0, "it is folded");
    await keys.enter(/^Legend$/);
    await legend.getByText("deleted since").waitFor();
    for (const button of await page.getByRole("group", { name: "Time in sight" }).getByRole("button").all()) {
      const { width = 0, height = 0 } = (await button.boundingBox()) ?? {};
      assert.ok(Math.min(width, height) >= 36, `${await button.textContent()}: ${width} by ${height}`);
    }
    await visit.look();
    await visit.leave();
  });
}
