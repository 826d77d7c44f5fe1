import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { visible } from "../../src/insight/words/visible.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { Fields } from "../families/family.ts";
import type { OnScene } from "./scene.ts";

const MARKUP = `<img src="http://elsewhere.invalid/x" onerror="alert(1)"><script>alert(2)</script>\u202e"'&lt;b&gt;`;

const keyOf = (createdDate: string, name = "key"): Fields => ({
  atProvider: { id: "id", name, createdDate, sequence: 1, madeFrom: "m" },
  sequence: 1,
});

/** As little as a key can be: ten thousand of them have to fit into what etcd takes. */
const manyKeys = Array.from({ length: 10_000 }, (_, index) => ({
  id: `i${index}`,
  name: `k${index}`,
  createdDate: "2025-01-01T00:00:00Z",
  deletionDate: "2099-01-01T00:00:00Z",
}));

const NASTY: Readonly<Record<string, Fields | undefined>> = {
  "nasty-bare": undefined,
  "nasty-markup": {
    ...keyOf("2026-01-01T00:00:00Z", MARKUP),
    retiredKeys: [{ id: MARKUP, name: MARKUP, createdDate: "2025-01-01T00:00:00Z", heldFor: MARKUP }],
    conditions: [
      {
        type: "Synced",
        status: "False",
        reason: "Markup",
        message: MARKUP,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
  "nasty-past": keyOf("0001-01-01T00:00:01Z"),
  "nasty-future": keyOf("9999-12-31T23:59:59Z"),
  "nasty-many": { ...keyOf("2025-02-01T00:00:00Z"), retiredKeys: manyKeys },
};

/** Paused from the beginning: no operator puts right what is wrong with it. */
async function put(kube: Kube, name: string, status: Fields | undefined): Promise<void> {
  await kube.create<KubeObject>(serviceBinding, {
    apiVersion: apiVersionOf(serviceBinding),
    kind: serviceBinding.kind,
    metadata: { name, annotations: { "crossplane.io/paused": "true", "note.example/x": MARKUP } },
    spec: {
      rotation: { frequency: "288h", ttl: "336h" },
      forProvider: {
        name,
        serviceInstanceId: "00000000-0000-4000-8000-000000000109",
        parameters: { [MARKUP]: MARKUP },
      },
      writeConnectionSecretToRef: { namespace: "play", name },
    },
  });
  if (!status) return;
  await kube.patch(serviceBinding, { name }, { type: "merge", body: { status } }, { subresource: "status" });
}

/** Whatever things are called, and whatever their dates. */
export function tellBadInputStories(on: OnScene): void {
  test("markup, no status, absurd dates and ten thousand keys are text on a page that is whole", async (t) => {
    const { kube } = on();
    for (const [name, status] of Object.entries(NASTY)) {
      t.after(() => kube.delete(serviceBinding, { name }));
      await put(kube, name, status);
    }
    const visit = await on().enter("/credentials?q=nasty");
    const { page } = visit;
    const assertPlain = async (): Promise<void> => {
      const { address } = visit;
      assert.equal(await page.locator("main img, main script, main b, main iframe").count(), 0, address);
      assert.doesNotMatch(
        (await page.locator("main").textContent()) ?? "",
        /NaN|Invalid Date|undefined|\[object/,
        address,
      );
      const elements = await page.evaluate(() => document.querySelectorAll("*").length);
      assert.ok(elements < 3000, `${address}: ${elements} elements`);
    };
    await page.waitForFunction((count) => document.querySelectorAll(".grid-row").length === count, 5);
    await assertPlain();
    await visit.open("/timeline?q=nasty");
    await page.locator(".track").nth(4).waitFor();
    await assertPlain();
    await visit.open("/timeline?q=nasty&span=2y&from=0001-01-01");
    await page.locator(".track").nth(4).waitFor();
    await assertPlain();
    for (const name of Object.keys(NASTY)) {
      await visit.open(`/credential/ServiceBinding/${name}`);
      await visit.heading("Keys");
      await assertPlain();
    }
    await visit.open("/credential/ServiceBinding/nasty-markup");
    await page.getByText(visible(MARKUP)).first().waitFor();
    await visit.look();
    await visit.open("/evidence");
    await page.locator("table.report").waitFor();
    await assertPlain();
    await visit.leave();
  });
}
