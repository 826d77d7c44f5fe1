import assert from "node:assert/strict";
import { test } from "node:test";
import type { OnScene } from "./scene.ts";

/** The compliance report and the audit chain. */
export function tellEvidenceStories(on: OnScene): void {
  test("evidence is the report, to be printed, and the audit chain with its verification", async () => {
    const { cast } = on();
    const visit = await on().enter("/");
    const { page, keys } = visit;
    await visit.walk("Evidence");
    await page.locator("table.report").waitFor();
    const verdictOf = async (name: string): Promise<string> =>
      (await page.locator("table.report tr", { hasText: `${name} ServiceBinding` }).textContent()) ?? "";
    assert.match(await verdictOf(cast.name), /^In order/);
    assert.match(await verdictOf(cast.broken), /^Problem/);
    const audit = page.locator("section.panel", { has: page.locator("#audit") });
    assert.equal(await audit.locator("strong").textContent(), "Intact");
    assert.match((await audit.textContent()) ?? "", /[1-9]\d* lines/);
    await visit.look();

    await keys.tabTo(/^Longest allowed period$/);
    await keys.type("1d");
    await keys.press("Enter");
    await page.waitForURL(/maxPeriod=1d/);
    await page.getByText("periods of at most 1d").waitFor();
    assert.match(await verdictOf(cast.name), /^Over limit/);
    await keys.tabTo(/^Longest allowed period$/);
    await keys.type("soon");
    await keys.press("Enter");
    await page.getByText(/maxPeriod: .*soon/i).waitFor();
    await visit.look();

    await visit.open("/evidence");
    await page.locator("table.report").waitFor();
    await page.evaluate(() => {
      globalThis.print = () => document.body.setAttribute("data-printed", "yes");
    });
    await keys.enter(/^Print$/);
    await page.locator("body[data-printed]").waitFor();
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("header.top").isVisible(), false);
    assert.equal(await page.locator("table.report").isVisible(), true);
    assert.equal((await page.pdf()).subarray(0, 5).toString(), "%PDF-");
    await visit.leave();
  });
}
