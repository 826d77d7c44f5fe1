import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { connect } from "../support/connect.ts";
import { startKeyturnUp } from "../support/keyturn-up.ts";
import { runKeyturn } from "../support/run-keyturn.ts";

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};
const marker = { namespace: "default", name: "marker" };

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-up-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadlineAt = Date.now() + 15_000; !(await holds()); await sleep(50)) {
    assert.ok(Date.now() < deadlineAt, `not in time: ${what}`);
  }
}

const readyReplicas = async (kube: Kube): Promise<number> => {
  const orders = await kube.get(deployments, { namespace: "shop", name: "orders" });
  return (orders.status as { readonly readyReplicas?: number } | undefined)?.readyReplicas ?? 0;
};

test("up shows where it is, brings the examples to life, and Ctrl-C leaves cleanly", async (context) => {
  const up = await startKeyturnUp({ dataDirectory: folderFor(context), flags: [] });
  const kube = await connect(up.ready.kubeconfig);
  await until("the example's pods are ready", async () => (await readyReplicas(kube)) === 2);
  assert.equal((await fetch(`${up.ready.metrics}/readyz`)).status, 200);
  assert.match(
    await (await fetch(`${up.ready.metrics}/metrics`)).text(),
    /keyturn_watch_cached_objects\{controller="btp",kind="ServiceBinding/,
  );
  await kube.close();
  assert.equal(await up.stop("SIGINT"), 0);
  const { stdout, stderr } = up.output();
  for (const line of [
    /Keyturn is up/,
    /export KUBECONFIG=/,
    /\+ Deployment shop\/orders/,
    /Pod shop\/orders-\S+ {2}Running/,
  ]) {
    assert.match(stdout, line);
  }
  assert.doesNotMatch(stdout + stderr, /an example, not a secret/, "the content of a Secret must not be shown");
  assert.match(stderr, /binding observed/);
});

test("state, address and kubeconfig survive a restart; what was deleted stays deleted", async (context) => {
  const dataDirectory = folderFor(context);
  const first = await startKeyturnUp({ dataDirectory, flags: [] });
  const before = await connect(first.ready.kubeconfig);
  await before.create<KubeObject>(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: marker });
  await before.delete(deployments, { namespace: "shop", name: "orders" });
  assert.equal(await first.stop("SIGTERM"), 0);
  assert.equal(statSync(first.ready.kubeconfig).mode & 0o777, 0o600);
  const second = await startKeyturnUp({ dataDirectory, flags: [] });
  assert.equal(second.ready.api, first.ready.api);
  // The same client as before the restart: nothing that was handed out has become invalid.
  await before.get(configMaps, marker);
  await assert.rejects(before.get(deployments, { namespace: "shop", name: "orders" }), NotFound);
  await before.close();
  assert.equal(await second.stop("SIGINT"), 0);
});

test("--no-examples starts empty", async (context) => {
  const up = await startKeyturnUp({ dataDirectory: folderFor(context) });
  const kube = await connect(up.ready.kubeconfig);
  assert.deepEqual((await kube.list(deployments)).items, []);
  await kube.close();
  await up.stop("SIGINT");
});

test("--ephemeral keeps nothing", async (context) => {
  const up = await startKeyturnUp({ dataDirectory: folderFor(context), flags: ["--ephemeral", "--no-examples"] });
  assert.ok(existsSync(up.ready.kubeconfig));
  await up.stop("SIGINT");
  assert.equal(existsSync(up.ready.kubeconfig), false);
});

test("a second up on the same folder says so in one line", async (context) => {
  const dataDirectory = folderFor(context);
  const up = await startKeyturnUp({ dataDirectory });
  const { code, stderr } = await runKeyturn(["up", "--data-dir", dataDirectory]);
  await up.stop("SIGINT");
  assert.equal(code, 2);
  assert.match(stderr, /^keyturn: .* is in use by another process: stop that one, or choose another --data-dir\n$/);
});
