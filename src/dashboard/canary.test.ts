import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { deploymentType } from "../restart/workload-kinds.ts";
import { dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import { openKube } from "./viewer-kube.fixture.ts";

const CANARY = "canary-7f3a91c2d4";
const FORMS = [CANARY, Buffer.from(CANARY).toString("base64"), Buffer.from(CANARY).toString("hex")];

/** A Secret that is published, with the canary in its data; and one of the audit log's own. */
async function putSecrets(kube: Kube): Promise<void> {
  await kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "default",
      name: "orders-secret",
      labels: { "keyturn.dev/owner-uid": "x" },
      annotations: { "keyturn.dev/key-id": "orders-id", "keyturn.dev/fingerprint": "f.abc" },
    },
    stringData: { password: CANARY },
  } as never);
}

const workload = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "web",
            image: "web",
            env: [{ name: "TOKEN", value: CANARY }],
            envFrom: [{ secretRef: { name: "orders-secret" } }],
          },
        ],
      },
    },
  },
};

/** Something that goes wrong with the canary in its words, in a way that nobody has foreseen. */
const brokenLists = (kube: Kube): Kube => ({
  ...openKube(kube),
  list: (type, options) =>
    type.kind === "Event" ? Promise.reject(new Error(`a body was ${CANARY}`)) : kube.list(type, options),
});

test("nothing that the dashboard says has key material in it, whatever goes wrong", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-canary-"));
  t.after(() => rm(folder, { recursive: true }));
  const log = join(folder, "audit.log");
  await writeFile(log, `{"audit":1,"at":"2026-01-01T00:00:00Z","object":{"kind":"ServiceBinding","name":"orders"}}\n`);
  for (const kubeOf of [(kube: Kube) => kube, brokenLists]) {
    const world = await dashboardWorld({ kubeOf, auditPaths: [log] });
    await putSecrets(world.kube);
    await world.kube.create<KubeObject>(deploymentType, workload);
    const forProvider = { name: "orders", serviceInstanceId: "i", parameters: { password: CANARY } };
    await putBinding(world.kube, "orders", { spec: { forProvider } });
    const page = await world.live();
    await page.until((message) => "rows" in message && message.rows.some(({ id }) => id === "ServiceBinding/orders"));
    const id = "ServiceBinding/orders";
    const until = Date.UTC(2030, 0, 1);
    const { json } = await world.ask(`/api/credential?id=${id}`);
    const seen = json.seen ?? { uid: "", sequence: 0 };
    const answers = [
      await world.ask("/"),
      await world.ask("/api/way-in"),
      await world.ask(`/api/credential?id=${id}`),
      await world.ask(`/api/last-failure?id=${id}`),
      ...["rotate", "compromised", "freeze", "unfreeze"].map((action) =>
        world.ask(`/api/preview?id=${id}&action=${action}&until=${until}`),
      ),
      await world.ask("/api/futures", { body: { ids: [id], until, sight: { from: 0, until } } }),
      await world.ask("/api/consumers?namespace=default&name=orders-secret"),
      await world.ask("/api/workloads?namespace=default"),
      await world.ask("/api/evidence"),
      await world.ask("/api/action", { body: { id, action: "rotate", seen } }),
      await world.ask("/api/session", { body: { token: CANARY } }),
      await world.ask(`/api/nothing?${CANARY}`),
    ];
    const texts = (await Promise.all(answers)).map(({ text }) => text);
    const headers = (await Promise.all(answers)).map((answer) => JSON.stringify([...answer.headers]));
    await page.leave();
    const said = [...texts, ...headers, page.text()];
    assert.ok(said.join("").includes("orders-secret"), "it was looked at");
    for (const form of FORMS) {
      for (const text of said) assert.ok(!text.includes(form), text.slice(0, 500));
      assert.ok(![...world.model.entries()].some(({ seed }) => seed.includes(form)), "nor is it kept");
    }
    await world.close();
  }
});
