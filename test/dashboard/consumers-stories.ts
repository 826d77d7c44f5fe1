import assert from "node:assert/strict";
import { test } from "node:test";
import type { OnScene } from "./scene.ts";

/** From a Secret to workloads and back. */
export function tellConsumersStories(on: OnScene): void {
  test("one goes from a Secret to who uses it, to its credential, and from a workload back", async () => {
    const { cast } = on();
    const visit = await on().enter("/");
    const { page, keys } = visit;
    await visit.walk("Consumers");
    await keys.tabTo(/^Namespace$/);
    await keys.press("p");
    const workloads = page.locator("section.panel", { has: page.locator("#workloads") });
    await workloads.getByText(cast.workload, { exact: true }).waitFor();
    await visit.look();

    await keys.tabTo(/^Search Secrets$/);
    await keys.type("story");
    const [namespace, secretName] = cast.secret.split("/");
    const secretHeading = `${secretName} ${namespace}`;
    await keys.enter(new RegExp(`^${secretName}$`));
    await visit.heading(secretHeading);
    // It was restarted for the latest key, and the page finds that out by itself.
    await page.getByRole("row", { name: /^story Deployment .* yes on the current value, / }).waitFor();
    const { activeId } = await cast.status();
    assert.equal((await cast.secretMarks())["keyturn.dev/key-id"], activeId);
    await visit.look();
    await keys.enter(new RegExp(`^${cast.name} ServiceBinding$`));
    await visit.heading(cast.name);

    await visit.open("/consumers?namespace=play");
    await workloads.getByText(cast.workload, { exact: true }).waitFor();
    const used = workloads.locator("li", { hasText: /story\s+Deployment/ });
    assert.match((await used.textContent()) ?? "", /uses story-db$/);
    await keys.tabTo(/^Search Secrets$/);
    // The Secrets come before, with their credentials; what comes after those of the last one is a workload's.
    await keys.type("nobody-is-called-this");
    await keys.tabTo(new RegExp(`^${secretName}$`));
    await keys.press("Enter");
    await visit.heading(secretHeading);
    await visit.leave();
  });
}
