import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { pickTarget } from "../support/pick-target.ts";
import { tellAllStories } from "./all-stories.ts";
import { whyNoBrowser } from "./chromium.ts";
import { OperatorScene } from "./operator-scene.ts";
import type { Visit } from "./visit.ts";

/** The page that an operator serves on the real server, in a browser, by keyboard alone, to people with rights of their own. */
const target = await pickTarget();
const whyNot =
  target.name === "real"
    ? whyNoBrowser()
    : "only the real server asks for rights: npm run test:cluster -- --only dashboard";

const OVER = "Your token is not valid any more. Paste another one.";
const BUTTONS = /^(?:Rotate now|Compromised|Freeze|Unfreeze)/;

/** All that stands on the page. */
const textOf = async ({ page }: Visit): Promise<string> => (await page.locator("body").textContent()) ?? "";

describe("the page of an operator", { skip: whyNot ?? false, concurrency: 1, timeout: 300_000 }, () => {
  const ends = new AsyncDisposableStack();
  let scene: OperatorScene;
  before(async () => {
    scene = await OperatorScene.open(target, ends);
  });
  after(() => ends.disposeAsync());

  tellAllStories(() => scene);

  test("nobody is let in whom the cluster does not know, and a mistake is one line", async () => {
    const visit = await scene.arrive("/timeline");
    const { page } = visit;
    await page.getByRole("heading", { name: "Who are you?" }).waitFor();
    await visit.look();
    await scene.signIn(visit, "two words");
    await page.getByText("This is no token").waitFor();
    await scene.signIn(visit, "made-up");
    await page.getByText(OVER).waitFor();
    await visit.look();
    await scene.signIn(visit, await scene.installation.tokenOf("editor"));
    await visit.live();
    await page.locator(".track").first().waitFor();
    assert.equal(visit.address, "/timeline", "one is where one wanted to go");
    const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
    assert.deepEqual(kept, [0, 1, ""], "in this tab, and nowhere else");
    await visit.leave();
  });

  test("one who may read one namespace sees that one, on every page", async () => {
    const { cast, namespaces } = scene;
    const [own, other] = namespaces;
    const visit = await scene.enterAs("reader");
    const { page } = visit;
    const foreign = new RegExp(`${other}|${cast.name}|${cast.broken}|${cast.held}|${cast.soon}`);
    const assertOwn = async (): Promise<void> => {
      assert.doesNotMatch(await textOf(visit), foreign, visit.address);
      await visit.look();
    };
    await page.getByRole("heading", { level: 1, name: "The one credential is in order" }).waitFor();
    const kinds = page.locator("section", { has: page.locator("#kinds") }).getByRole("row");
    assert.deepEqual(await kinds.locator("a").allTextContents(), ["RndcKey"]);
    assert.match(await textOf(visit), new RegExp(`RndcKey\\.keyturn\\.dev: you may list them only in ${own}`));
    await assertOwn();
    await visit.walk("Timeline");
    await page.locator(".track").waitFor();
    assert.deepEqual(await page.locator(".timeline .name").allTextContents(), [`dns ${own}`]);
    await assertOwn();
    await visit.walk("Credentials");
    await page.locator(".credentials .name").first().waitFor();
    assert.deepEqual(await page.locator(".credentials .name").allTextContents(), [`dns ${own}`]);
    await assertOwn();
    await visit.walk("Consumers");
    await page.locator("#workloads").waitFor();
    assert.deepEqual(await page.locator("select option").allTextContents(), [`${own} (1)`]);
    await page.getByText("Not looked at:").waitFor();
    await assertOwn();
    await visit.walk("Evidence");
    await page.locator("table.report").waitFor();
    assert.deepEqual(await page.locator("table.report tbody th").allTextContents(), [`dns ${own} RndcKey`]);
    await page.getByText("You may not read the key of the audit log, so it was not verified.").waitFor();
    await assertOwn();
    await visit.keys.enter(new RegExp(`^dns ${own} RndcKey$`));
    await visit.heading("Keys");
    await assertOwn();
    assert.doesNotMatch(visit.between.answers(), foreign, "nothing else was told");
    for (const id of [`RndcKey/${other}/dns`, cast.id, "RndcKey/nowhere/dns"]) {
      await visit.open(`/credential/${id}`);
      await page.getByText("This credential is not there, or not any more.").waitFor();
      await visit.look();
    }
    await visit.leave();
  });

  test("one who may not patch has no button, and is refused what is forged", async () => {
    const { cast, url } = scene;
    const visit = await scene.enterAs("looker", `/credential/${cast.id}`);
    const { page } = visit;
    await visit.heading("Keys");
    await page.getByText("You may not change this: the API server says so.").waitFor();
    assert.equal(await page.getByRole("button", { name: BUTTONS }).count(), 0);
    await visit.look();
    const before = await cast.object();
    const outside = await cast.keysOutside();
    const { sequence } = await cast.status();
    for (const action of ["rotate", "compromised", "freeze"]) {
      const body = JSON.stringify({ id: cast.id, action, seen: { uid: before.metadata.uid, sequence } });
      const answer = await page.evaluate(
        async ([to, token, text]) => {
          const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
          const response = await fetch(`${to}/api/action`, { method: "POST", headers, body: text });
          return [response.status, await response.text()] as const;
        },
        [url, await visit.token(), body] as const,
      );
      assert.equal(answer[0], 403, action);
      assert.match(answer[1], /cannot patch/, "the API server says so");
    }
    assert.deepEqual((await cast.object()).metadata.annotations, before.metadata.annotations);
    assert.deepEqual(await cast.keysOutside(), outside);
    await visit.leave();
  });

  test("a token that is over ends the page with one line, and another one opens it again", async () => {
    const { cast, installation } = scene;
    await installation.admit("leaver", { rules: scene.everything });
    const visit = await scene.enterAs("leaver", "/evidence");
    const { page, keys } = visit;
    await page.locator("table.report").waitFor();
    await installation.dismiss("leaver");
    await keys.tabTo(/^Reload$/);
    // The server remembers for a few seconds whose a token was.
    await eventually("the token to be over", async () => {
      await keys.press("Enter");
      return (await page.getByText(OVER).count()) > 0 || undefined;
    });
    assert.doesNotMatch(await textOf(visit), new RegExp(cast.name), "nothing that was told stays");
    await visit.look();
    await scene.signIn(visit, await installation.tokenOf("editor"));
    await visit.live();
    await page.locator("table.report").waitFor();
    await visit.leave();
  });

  test("an operator that was killed is missed, and the page goes on with the next one by itself", async () => {
    const { cast } = scene;
    const visit = await scene.enter(`/credential/${cast.id}`);
    const { page } = visit;
    await visit.heading("Keys");
    const stayed = await visit.stays();
    await scene.kill();
    await page.getByText("Connection lost").waitFor();
    await cast.annotate({ "keyturn.dev/freeze": "true" });
    await scene.start();
    await visit.live();
    await page.getByText("Ready, frozen").first().waitFor();
    await cast.annotate({ "keyturn.dev/freeze": null });
    await page.getByText("Ready, frozen").waitFor({ state: "detached" });
    await stayed();
    await visit.leave();
  });
});
