import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { root } from "../../tools/run.ts";
import { tellAllStories } from "./all-stories.ts";
import { whyNoBrowser } from "./chromium.ts";
import { StartScene } from "./start-scene.ts";

/** The page that `npm start` shows, in a browser, by keyboard alone. */
describe("the page of npm start", { skip: whyNoBrowser() ?? false, concurrency: 1, timeout: 240_000 }, () => {
  const ends = new AsyncDisposableStack();
  let scene: StartScene;
  before(async () => {
    scene = await StartScene.open(ends);
  });
  after(() => ends.disposeAsync());

  test("what is told of here is what npm start starts", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    assert.equal(scripts.prestart, "node tools/build-dashboard.ts --if-stale");
    assert.equal(scripts.start, "node src/main.ts up");
    assert.match(scene.printed, /^ {2}dashboard {3}http:\/\/127\.0\.0\.1:\d+\/#token=\S+$/m);
  });

  tellAllStories(() => scene);

  test("its link works once, and the next one is printed", async () => {
    const link = await scene.link();
    const first = await scene.arrive();
    await first.page.goto(link);
    await first.live();
    assert.equal(first.page.url(), `${scene.url}/`, "no token stands in the address");
    const second = await scene.arrive();
    await second.page.goto(link);
    await second.page.getByText("This link was used already").waitFor();
    await second.look();
    await scene.follow(second, "/");
    await second.live();
    for (const visit of [first, second]) await visit.leave();
  });

  test("when it is stopped the page says so, and when it is back it asks for the new link", async () => {
    const { cast } = scene;
    const visit = await scene.enter(`/credential/${cast.id}`);
    const { page } = visit;
    const before = await cast.status();
    await scene.stop();
    await page.getByText("Connection lost").waitFor();
    assert.ok(await page.getByRole("heading", { name: cast.name }).isVisible(), "what was there stays in sight");
    await scene.start();
    await page.getByText("This session is over. Open the link that the terminal shows").waitFor();
    assert.equal(await page.getByText(cast.name).count(), 0, "nothing that was told stays");
    await visit.look();
    // In the same tab, where only what stands behind the sign changes: no browser loads the page anew for that.
    await scene.follow(visit, `/credential/${cast.id}`);
    await visit.live();
    await page.getByRole("row", { name: new RegExp(`^active ${before.activeName}`) }).waitFor();
    await visit.leave();
  });
});
