import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { putBinding } from "../../src/dashboard/dashboard-world.fixture.ts";
import { ensureDashboard } from "../../tools/dashboard-build.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { startKeyturn } from "../support/keyturn-process.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { openBrowser } from "./browser.ts";
import { whyNoBrowser } from "./chromium.ts";
import { KeyMaterial } from "./key-material.ts";
import { Visit } from "./visit.ts";

interface Ready {
  readonly dashboard: { readonly url: string; readonly link: string };
}

/** The page of `keyturn dashboard`, in a browser: what it is where nobody may change anything, and where no cluster is. */
describe("the page of keyturn dashboard", { skip: whyNoBrowser() ?? false, concurrency: 1, timeout: 120_000 }, () => {
  const ends = new AsyncDisposableStack();
  const cluster = { kubeconfig: "" };
  let browser: Browser;
  let material: KeyMaterial;
  before(async () => {
    await ensureDashboard();
    const server = await embeddedTarget().start();
    ends.defer(() => server.stop());
    const kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    await installDefinitions(kube);
    await putBinding(kube, "orders");
    cluster.kubeconfig = server.kubeconfig;
    material = await KeyMaterial.watch(kube);
    ends.defer(() => material.stop());
    browser = await openBrowser();
    ends.defer(() => browser.close());
  });
  after(() => ends.disposeAsync());

  /** By the link that it prints. */
  async function enter(kubeconfig: string): Promise<Visit> {
    const command = await startKeyturn<Ready>({
      words: ["dashboard", "--kubeconfig", kubeconfig],
      readyFile: join(scratchFolder(), "ready.json"),
    });
    ends.defer(async () => void (await command.stop("SIGTERM")));
    const { url, link } = command.ready.dashboard;
    const visit = await Visit.begin({ browser, material, ends, url });
    await visit.page.goto(link);
    await visit.live();
    return visit;
  }

  test("without --changes there is no button, and a forged request changes nothing", async () => {
    const visit = await enter(cluster.kubeconfig);
    const { page } = visit;
    await visit.open("/credential/ServiceBinding/orders");
    await page.getByText("Changes are switched off for this page.").waitFor();
    assert.equal(await page.getByRole("button", { name: /Rotate now|Compromised|Freeze/ }).count(), 0);
    await visit.look();
    const status = await page.evaluate(
      async (token) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const seen = { uid: "", sequence: 1 };
        const body = JSON.stringify({ id: "ServiceBinding/orders", action: "freeze", seen });
        return (await fetch("/api/action", { method: "POST", headers, body })).status;
      },
      await visit.token(),
    );
    assert.equal(status, 403);
    await visit.leave();
  });

  test("a cluster that does not answer is said on every page, and nothing else is said of it", async () => {
    const kubeconfig = join(scratchFolder(), "kubeconfig");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "x",
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1", "insecure-skip-tls-verify": true } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const visit = await enter(kubeconfig);
    const { page } = visit;
    const places: readonly (readonly [path: string, line: string | RegExp])[] = [
      ["/", "Nothing was read yet"],
      ["/timeline", "Nothing was read yet."],
      ["/credentials", "Nothing was read yet."],
      ["/consumers", "Nothing was read yet."],
      ["/credential/ServiceBinding/orders", /^The cluster does not answer: GET .*servicebindings\/orders/],
      ["/consumers/shop/orders", /^The cluster does not answer: GET .*secrets/],
      ["/evidence", /^The cluster does not answer: GET /],
    ];
    for (const [path, line] of places) {
      await visit.open(path);
      await page.getByText(line).first().waitFor();
      await page.getByText(/may be out of date, or not all there is. ServiceBinding: the cluster does not/).waitFor();
      const text = (await page.locator("body").textContent()) ?? "";
      assert.doesNotMatch(text, /no credentials yet|Nothing is overdue|not any more|is published yet|as that of/, path);
      await visit.look();
    }
    await visit.leave();
  });
});
