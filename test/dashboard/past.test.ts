import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyNoBrowser } from "./chromium.ts";
import { assertSound, axeFindings, useStage } from "./stage.ts";

const DAY_MS = 86_400_000;

describe("the timeline of another time than now", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();

  it("has the keys and the windows of the past, by a link that is opened afresh", async () => {
    const server = await stage.serve({ count: 40, lively: 0 });
    const from = new Date(Date.now() - 182 * DAY_MS).toISOString();
    const watched = await stage.enter(server, `/timeline?span=1mo&from=${from}`);
    const { page } = watched;
    await page.locator(".track path.bar-gone").first().waitFor({ state: "attached" });
    await page.locator(".track path.window").first().waitFor({ state: "attached" });
    assert.equal(await page.locator(".present .now").count(), 0, "the present is out of sight");
    const askedAnew = page.waitForResponse((answer) => answer.url().endsWith("/api/futures"));
    await page.reload();
    assert.equal((await askedAnew).status(), 200);
    await page.locator(".track path.bar-gone").first().waitFor({ state: "attached" });
    assertSound(watched, server);
  });

  it("says of windows that they are too close to tell apart, and shades them where one looks nearer", async () => {
    const server = await stage.serve({ count: 40, lively: 0 });
    const watched = await stage.enter(server, "/timeline?span=2y", { viewport: { width: 1440, height: 900 } });
    const { page } = watched;
    await page.locator(".track path.windows-rail").first().waitFor({ state: "attached" });
    assert.equal(await page.locator(".track path.window").count(), 0);
    await page.getByRole("list", { name: "Legend" }).getByText("windows, too close to tell apart").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: /^1 w$/ }).click();
    await page.locator(".track path.window").first().waitFor({ state: "attached" });
    assertSound(watched, server);
  });
});
