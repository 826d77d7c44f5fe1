import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import type { OnScene } from "./scene.ts";

const FREEZE = "keyturn.dev/freeze";

const told = (page: Page, line: RegExp): Promise<void> => page.locator(".progress").getByText(line).waitFor();

/** What a credential is done to with buttons, and what comes of it in the cluster and outside. */
export function tellActingStories(on: OnScene): void {
  test("freeze holds rotations back until it is taken back", async () => {
    const { cast } = on();
    const visit = await on().enter(`/credential/${cast.id}`);
    const { page, keys } = visit;
    await visit.heading("Keys");
    await keys.enter(/^Freeze$/);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("No new rotation begins until it is unfrozen").waitFor();
    await visit.look();
    await keys.enter(/^Freeze$/);
    await page.getByText("Ready, frozen").first().waitFor();
    await page.getByText(/^Rotate now: .*frozen/).waitFor();
    assert.equal(await cast.annotation(FREEZE), "true");
    await keys.enter(/^Unfreeze$/);
    await dialog.getByText("Rotations begin again.").waitFor();
    await keys.enter(/^Unfreeze$/);
    await told(page, /not frozen any more/);
    await page.getByText("Ready, frozen").waitFor({ state: "detached" });
    assert.equal(await cast.annotation(FREEZE), undefined);
    await visit.leave();
  });

  test("rotate now says and draws what will happen, tells it as it happens, and makes one key", async () => {
    const { cast } = on();
    const visit = await on().enter(`/credential/${cast.id}`);
    const { page, keys } = visit;
    await visit.heading("Keys");
    const before = await cast.status();
    const outside = await cast.keysOutside();
    await keys.enter(/^Rotate now$/);
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`A new key is made now, published in the Secret ${cast.secret}`).waitFor();
    await dialog.getByText(`The key ${before.activeName} goes on working, and is deleted at`).waitFor();
    await dialog.locator(".track path.bar-foreseen").waitFor({ state: "attached" });
    await visit.look();
    await keys.press("Escape");
    // Not by its role, which it has lost as soon as it is closed: the page has yet to hear of that.
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.equal(await keys.focused(), "Rotate now", "focus is back");
    assert.ok(!visit.between.asked.includes("POST /api/action"), "nothing was asked for");

    await keys.press("Enter");
    await dialog.getByText("A new key is made now").waitFor();
    await keys.enter(/^Rotate now$/);
    await told(page, /^key story-db-\S+ is being made$/);
    await page.locator(".steps [aria-current=step]").waitFor();
    await visit.look();
    await told(page, /^key story-db-\S+ is active$/);
    assert.match((await page.locator('[role="status"][aria-live]').textContent()) ?? "", /is active/);
    await page.getByRole("row", { name: new RegExp(`retired ${before.activeName}`) }).waitFor();
    await page.getByRole("row", { name: /^active story-db-\S+ .*forced/ }).waitFor();

    const after = await cast.status();
    assert.equal(after.sequence, before.sequence + 1);
    assert.deepEqual(
      after.retired.map(({ id }) => id),
      [before.activeId],
    );
    assert.deepEqual((await cast.keysOutside()).toSorted(), [...outside, after.activeId].toSorted(), "one more");
    assert.equal((await cast.secretMarks())["keyturn.dev/key-id"], after.activeId);
    assert.equal(visit.between.asked.filter((one) => one === "POST /api/action").length, 1);
    await visit.leave();
  });

  test("a key is declared compromised only by typing the name, and goes at once", async () => {
    const { cast } = on();
    const visit = await on().enter(`/credential/${cast.id}`);
    const { page, keys } = visit;
    await visit.heading("Keys");
    const { activeId = "", activeName } = await cast.status();
    await keys.enter(/^Compromised/);
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`The key ${activeName} is deleted as soon as that is published`).waitFor();
    const confirm = dialog.getByRole("button", { name: "Replace it without overlap" });
    assert.equal(await confirm.isDisabled(), true);
    await keys.tabTo(/^To go on, type its name/);
    await keys.type("something-else");
    await keys.press("Enter");
    assert.ok(!visit.between.asked.includes("POST /api/action"), "nothing was asked for");
    await visit.look();
    await keys.type(cast.name);
    await keys.press("Enter");
    await told(page, /^key story-db-\S+ is active$/);
    await eventually(
      "the key to be gone outside",
      async () => !(await cast.keysOutside()).includes(activeId) || undefined,
    );
    const after = await cast.status();
    assert.ok((await cast.keysOutside()).includes(after.activeId ?? ""));
    await page.getByRole("row", { name: /^active story-db-\S+ .*compromised/ }).waitFor();
    await visit.leave();
  });

  test("two pages that do the same at once make one key, and one of them is told so", async () => {
    const { cast } = on();
    const visits = await Promise.all([1, 2].map(() => on().enter(`/credential/${cast.id}`)));
    for (const { page, keys } of visits) {
      await page.getByRole("button", { name: "Rotate now" }).waitFor();
      await keys.enter(/^Rotate now$/);
      await page.getByRole("dialog").getByText("A new key is made now").waitFor();
      await keys.tabTo(/^Rotate now$/);
    }
    const before = await cast.status();
    const outside = await cast.keysOutside();
    await Promise.all(visits.map(({ keys }) => keys.press("Enter")));
    const refused = visits.map(({ page }) =>
      page
        .getByRole("dialog")
        .getByText(/: nothing was changed/)
        .waitFor(),
    );
    const made = visits.map(({ page }) => told(page, /is active$/));
    await Promise.all([Promise.any(refused), Promise.any(made)]);
    const after = await cast.status();
    assert.equal(after.sequence, before.sequence + 1);
    assert.equal((await cast.keysOutside()).length, outside.length + 1);
    for (const visit of visits) await visit.leave();
  });
}
