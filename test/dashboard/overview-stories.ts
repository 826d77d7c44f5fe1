import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { OnScene } from "./scene.ts";

/** What somebody sees first. */
export function tellOverviewStories(on: OnScene): void {
  test("the overview has problems first, then what comes, the counts, and how the operator is", async () => {
    const { cast, kube } = on();
    const visit = await on().enter("/");
    const { page, keys } = visit;
    await page.getByRole("heading", { level: 1, name: /credentials have problems$/ }).waitFor();
    await page.getByRole("heading", { name: /^Held back by a consumer/ }).waitFor();
    const order = await page.locator("main h2, main h3").allTextContents();
    const places = [
      /^Problems/,
      /Failing/,
      /Held back by a consumer/,
      /^Coming up/,
      /^In the next hour/,
      /within a day$/,
      /within 30 days$/,
      /^Kinds/,
      /^Operator/,
    ].map((heading) => order.findIndex((text) => heading.test(text)));
    assert.ok(!places.includes(-1), `${order}`);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      `${order}`,
    );

    const failing = page.locator(".trouble-group", { hasText: "Failing" });
    await failing.getByRole("link", { name: cast.broken }).waitFor();
    const held = page.locator(".trouble-group", { hasText: "Held back by a consumer" });
    assert.match((await held.textContent()) ?? "", new RegExp(`${cast.held}.*Deployment ${cast.namespace}/late`));
    const hour = page.locator(".coming", { hasText: "In the next hour" });
    assert.match(
      (await hour.locator(".sum").textContent()) ?? "",
      /^[1-9]\d* credentials? rotates? next(, \d+ retired keys? go(es)?)?$/,
    );
    const month = page.locator(".coming", { hasText: "within 30 days" });
    await month.getByRole("link", { name: cast.name }).waitFor();
    const { items } = await kube.list(serviceBinding);
    const kind = page.getByRole("row", { name: /^ServiceBinding/ });
    assert.match((await kind.textContent()) ?? "", new RegExp(`^ServiceBinding${items.length}2 problems$`));

    const fact = (name: string) =>
      page.locator("dl.facts dt", { hasText: name }).locator("xpath=following-sibling::dd[1]");
    assert.match((await fact("Leader").textContent()) ?? "", /^this process|\(this one\)/);
    assert.match((await fact("Watches").textContent()) ?? "", /^all \d+ are up to date$/);
    assert.match((await fact("Queue").textContent()) ?? "", /nothing waits|in progress/);
    assert.match((await fact("Last drift check").textContent()) ?? "", /ago|unknown|now/);
    // It is the same clock; a machine with much else to do hears of it late.
    assert.match(
      (await fact("Clock").textContent()) ?? "",
      /^(?:agrees with the API server|\ds away from the API server's)$/,
    );
    await visit.look();

    await keys.enter(new RegExp(`^${cast.broken}`));
    await visit.heading(cast.broken);
    await page.locator(".notice.tone-trouble").first().waitFor();
    assert.equal(visit.address, `/credential/ServiceBinding/${cast.broken}`);
    await visit.look();
    await visit.leave();
  });
}
