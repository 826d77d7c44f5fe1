import assert from "node:assert/strict";
import { test } from "node:test";
import type { OnScene } from "./scene.ts";
import type { Visit } from "./visit.ts";

const panel = ({ page }: Visit, title: string) =>
  page.locator("section.panel", { has: page.getByRole("heading", { name: title, exact: true }) });

/** Everything about one credential. */
export function tellCredentialStories(on: OnScene): void {
  test("a credential has its keys, its Secret without values, consumers, history and the words of explain", async () => {
    const { cast } = on();
    const visit = await on().enter("/");
    const { page, keys } = visit;
    await visit.walk("Credentials");
    await keys.tabTo(/^Search names, Secrets and keys$/);
    await keys.type(cast.name);
    await page.waitForFunction(() => document.querySelectorAll(".credentials .grid-row").length === 1);
    await visit.look();
    await keys.enter(new RegExp(`^${cast.name}$`));
    await visit.heading(cast.name);
    await panel(visit, "Keys").waitFor();

    const { activeId = "", activeName = "" } = await cast.status();
    const marks = await cast.secretMarks();
    const text = async (title: string): Promise<string> => (await panel(visit, title).textContent()) ?? "";
    assert.equal(await panel(visit, "In the protocol").count(), 0, "nothing is under way");
    assert.match(await text("Keys"), new RegExp(`active${activeName}.*first key`));
    const explained = await text("What happens next, and why");
    for (const fact of [
      /NowNothing to do/,
      /Next rotationAt \d{4}-\d\d-\d\d \d\d:/,
      new RegExp(`Active key${activeName}`),
    ]) {
      assert.match(explained, fact);
    }
    const secret = await text("Secret");
    const [namespace, secretName] = cast.secret.split("/");
    assert.ok(secret.includes(`${secretName} ${namespace}`) && secret.includes(activeId), secret);
    assert.ok(secret.includes(marks["keyturn.dev/fingerprint"] ?? assert.fail("it bears none")), "the fingerprint");
    assert.match(secret, /Published\d{4}-\d\d-\d\d/);
    const consumers = panel(visit, "Consumers").getByRole("row", { name: new RegExp(`^${cast.workload} `) });
    // Its pods may have been made before the Secret was written, or within the same second: both is told of.
    const runsOn =
      /^story Deploymentvolumeyes(?:on (?:the current|an older)|nobody can tell on which) value, 2 podscomplete/;
    assert.match((await consumers.textContent()) ?? "", runsOn);
    assert.match(await text("History"), /is active, the first one|The key became the active one/);
    await panel(visit, "Keys over time").locator(".track path.bar-live").waitFor({ state: "attached" });
    const legend = panel(visit, "Keys over time").getByRole("list", { name: "Legend" });
    await legend.getByText("active", { exact: true }).waitFor();
    assert.equal(await legend.getByText("held back").count(), 0, "only what is in sight is explained");
    await visit.look();

    await keys.tabTo(/^Keys of story-db over time/);
    await keys.press("-");
    await page.waitForURL(/span=/);
    await visit.leave();
  });
}
