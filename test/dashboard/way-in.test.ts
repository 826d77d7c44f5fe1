import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLUSTER_TOKEN } from "../../dashboard/dev/fake-server.ts";
import { whyNoBrowser } from "./chromium.ts";
import { assertSound, axeFindings, useStage } from "./stage.ts";

describe("the way into the page", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();

  it("is a link, which leaves the address at once, works once, and then for this tab", async () => {
    const server = await stage.serve({ count: 20 });
    const watched = await stage.open();
    const { page } = watched;
    const link = server.newLink().replace("/#", "/credentials?sort=name#");
    await page.goto(link);
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    assert.equal(page.url(), `${server.url}/credentials?sort=name`, "no token stands in the address");
    await page.reload();
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    const other = await stage.open();
    await other.page.goto(link);
    await other.page.getByText("This link was used already").waitFor();
    assert.ok(await other.page.getByText("keyturn dashboard", { exact: true }).isVisible(), "says what to do");
    assert.deepEqual(await axeFindings(other.page), []);
    assert.equal(other.page.url().includes("token"), false);
    assertSound(watched, server);
    assertSound(other, server);
  });

  it("says what to do where somebody comes without a link, or after the server has started anew", async () => {
    const server = await stage.serve({ count: 20 });
    const watched = await stage.open();
    await watched.page.goto(`${server.url}/timeline`);
    await watched.page.getByText("The way in is the link").waitFor();
    const inside = await stage.enter(server);
    server.expire();
    server.cut();
    await inside.page.getByText("This session is over").waitFor();
    assert.equal(await inside.page.getByText("lively-1").count(), 0, "nothing that was told stays");
  });

  it("is a fresh link also where the page is open, and only what stands behind the sign changes", async () => {
    const server = await stage.serve({ count: 20 });
    const watched = await stage.enter(server);
    server.expire();
    server.cut();
    await watched.page.getByText("This session is over").waitFor();
    await watched.page.goto(server.newLink());
    await watched.page.locator(".connection", { hasText: "Live" }).waitFor({ timeout: 5000 });
    assert.equal(watched.page.url(), `${server.url}/`, "no token stands in the address");
    assertSound(watched, server);
  });

  it("leads to the address that was wanted, whether the link is opened beside it or appended to it", async () => {
    const server = await stage.serve({ count: 20 });
    const { page, context } = await stage.open();
    await page.goto(`${server.url}/credentials?sort=name`);
    await page.getByText("The link then leads to the page that you wanted").waitFor();
    const tab = await context.newPage();
    await tab.goto(server.newLink());
    await tab.locator(".connection", { hasText: "Live" }).waitFor();
    assert.equal(tab.url(), `${server.url}/credentials?sort=name`);
    await tab.getByRole("heading", { name: "Credentials" }).first().waitFor();
    const [, hash = ""] = server.newLink().split("#");
    await page.goto(`${server.url}/credentials?sort=name#${hash}`);
    await page.locator(".connection", { hasText: "Live" }).waitFor();
    assert.equal(page.url(), `${server.url}/credentials?sort=name`);
  });

  it("says nothing of a connection once the session is over", async () => {
    const server = await stage.serve({ count: 20 });
    const { page } = await stage.enter(server);
    server.refuse(503);
    server.cut();
    await page.getByText("Connection lost").waitFor();
    server.expire();
    server.refuse(undefined);
    await page.getByText("This session is over").waitFor();
    assert.doesNotMatch((await page.locator("body").textContent()) ?? "", /connection is lost/i);
  });

  it("is a token of the cluster, which may be wrong, and may expire", async () => {
    const server = await stage.serve({ count: 20, wayIn: "cluster-token" });
    const watched = await stage.open();
    const { page } = watched;
    await page.goto(`${server.url}/credentials`);
    const field = page.getByLabel("Token");
    await field.waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await field.fill("two words");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("This is no token").waitFor();
    await field.fill("wrong");
    await page.getByRole("button", { name: "Look at the cluster" }).click();
    await page.getByText("Your token is not valid any more").waitFor();
    await field.fill(`  ${CLUSTER_TOKEN}\n`);
    await page.getByRole("button", { name: "Look at the cluster" }).click();
    await page.getByText("lively-1").first().waitFor();
    const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
    assert.deepEqual(stored, [0, 1, ""], "in this tab, and nowhere else");
    server.expire();
    server.cut();
    await page.getByText("Your token is not valid any more").waitFor();
    assertSound(watched, server);
  });

  it("is one clear line where nobody answers, and goes on when somebody does", async () => {
    const server = await stage.serve({ count: 20 });
    const watched = await stage.open();
    server.refuse(421);
    await watched.page.goto(server.url);
    await watched.page.getByText("The server does not answer to this address").waitFor();
    server.refuse(undefined);
    await watched.page.getByRole("button", { name: "Try again" }).click();
    await watched.page.getByText("The way in is the link").waitFor();
  });
});
