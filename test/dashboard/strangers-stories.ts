import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { askRaw } from "./ask-raw.ts";
import type { OnScene } from "./scene.ts";

/** Requests that somebody else sends, with a token that is good. */
export function tellStrangersStories(on: OnScene): void {
  test("a forged Host or Origin is refused in spite of a good token, and changes nothing", async () => {
    const { cast, url } = on();
    const visit = await on().enter("/");
    const { host, hostname, port } = new URL(url);
    const own = { host, authorization: `Bearer ${await visit.token()}` };
    const before = await cast.object();
    const { sequence } = await cast.status();
    const body = { id: cast.id, action: "freeze", seen: { uid: before.metadata.uid, sequence } };
    const table: readonly (readonly [reason: string, headers: Record<string, string>, status: number])[] = [
      ["a name that was made to lead here", { ...own, host: `rebound.example:${port}` }, 421],
      ["a name that begins with ours", { ...own, host: `${hostname}.example:${port}` }, 421],
      ["no name at all", { ...own, host: "" }, 421],
      ["a page of somebody else's", { ...own, origin: "http://elsewhere.example" }, 403],
      ["a page on another port", { ...own, origin: `http://${hostname}:1` }, 403],
      ["a page without an origin", { ...own, origin: "null" }, 403],
      ["what a browser says of another site", { ...own, "sec-fetch-site": "cross-site" }, 403],
      ["what a browser says of another port", { ...own, "sec-fetch-site": "same-site" }, 403],
      ["no token", { host }, 401],
      ["a token that is made up", { host, authorization: "Bearer made-up" }, 401],
      ["a form", { ...own, "content-type": "text/plain" }, 415],
    ];
    for (const [reason, headers, status] of table) {
      assert.equal(await askRaw({ url, path: "/api/action", headers, body }), status, reason);
      const isOfBody = status === 415;
      if (!isOfBody) assert.equal(await askRaw({ url, path: "/api/evidence", headers }), status, reason);
    }
    assert.equal(await askRaw({ url, path: "/api/evidence", headers: own }), 200, "our own name");
    const { metadata } = await cast.object();
    assert.deepEqual(metadata.annotations, before.metadata.annotations);
    await visit.leave();
  });

  test("a page of another origin gets nothing out of a browser, and cannot show ours as its own", async (t) => {
    const { cast, url } = on();
    const visit = await on().enter("/");
    const token = await visit.token();
    const elsewhere = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>elsewhere</title>");
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    t.after(() => elsewhere.close());
    const page = await visit.page.context().newPage();
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
    const answers = await page.evaluate(
      ([to, bearer]) => {
        const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
        const told = (asking: Promise<Response>): Promise<string> =>
          asking.then(
            ({ status, type }) => `${type} ${status}`,
            () => "refused",
          );
        return Promise.all([
          told(fetch(`${to}/api/evidence`, { headers })),
          told(fetch(`${to}/api/way-in`)),
          told(fetch(`${to}/api/action`, { method: "POST", headers, body: "{}" })),
          told(fetch(`${to}/api/action`, { method: "POST", mode: "no-cors", body: "{}" })),
        ]);
      },
      [url, token] as const,
    );
    assert.deepEqual(answers, ["refused", "refused", "refused", "refused"]);
    await page.evaluate((src) => document.body.append(Object.assign(document.createElement("iframe"), { src })), url);
    await page.waitForFunction(() => frames.length === 1);
    await page.waitForLoadState("load");
    const [frame] = page.mainFrame().childFrames();
    await frame?.waitForURL(/^chrome-error:/);
    assert.equal(await cast.annotation("keyturn.dev/freeze"), undefined);
    await page.close();
    await visit.abandon();
  });
}
