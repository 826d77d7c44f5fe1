import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { Forbidden, Unreachable } from "../../src/kube/errors.ts";
import { connect } from "../conformance/connect.ts";
import { configMaps, namespaces, pods } from "../conformance/kinds.ts";
import { configMap } from "../conformance/manifests.ts";
import { buildClusterTools } from "./build.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

const isAsked = process.env.KEYTURN_TEST_CLUSTER === "yes";
const skip = !isAsked && "needs a real control plane: npm run test:cluster";

async function dataSurvivesRestart(cluster: ControlPlane): Promise<void> {
  const admin = await connect(cluster.kubeconfig);
  try {
    await admin.kube.create(configMaps, configMap("default", "kept", { k: "v" }));
    await cluster.stopApiServer();
    await assert.rejects(admin.kube.list(namespaces), Unreachable);
    await cluster.startApiServer();
    const kept = await admin.kube.get(configMaps, { namespace: "default", name: "kept" });
    assert.deepEqual(kept.data, { k: "v" });
  } finally {
    await admin.close();
  }
}

async function accountIsBoundByItsRole(cluster: ControlPlane): Promise<void> {
  const access = { namespace: "watched", name: "reader", clusterRole: "view" };
  const first = await cluster.serviceAccountKubeconfig(access);
  assert.equal(await cluster.serviceAccountKubeconfig(access), first, "asking twice is no error");
  const reader = await connect(first);
  try {
    assert.deepEqual((await reader.kube.list(pods, { namespace: "watched" })).items, []);
    await assert.rejects(reader.kube.create(configMaps, configMap("watched", "a")), Forbidden);
  } finally {
    await reader.close();
  }
}

test("a control plane restarts its API server, binds accounts to roles, and leaves nothing behind", {
  skip,
}, async () => {
  const cluster = await startControlPlane(await buildClusterTools(() => {}));
  try {
    await dataSurvivesRestart(cluster);
    await accountIsBoundByItsRole(cluster);
  } finally {
    await cluster.stop();
  }
  assert.equal(existsSync(cluster.directory), false);
  await assert.rejects(fetch(cluster.server), "nobody listens any more");
});
