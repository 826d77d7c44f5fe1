import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../../src/api/bind/cluster-bind9-provider.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { inlineSecret, keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { podLabels } from "../../src/bind/instance-objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deploymentType, kindOf } from "../../src/restart/workload-kinds.ts";
import { BindRightsWorld } from "./bind-rights-world.ts";
import { assertRights } from "./used-rights.ts";

const otherSecret = Buffer.from("ABCDEF0123456789abcdef0123456789").toString("base64");
const forced = (value: string) => ({ metadata: { annotations: { "rndckey.keyturn.dev/force-rotation": value } } });

const mounting = (name: string, secretName: string) => ({
  replicas: 1,
  selector: { matchLabels: podLabels(name) },
  template: {
    metadata: { labels: podLabels(name) },
    spec: {
      containers: [{ name: "named", image: "bind9" }],
      volumes: [{ name: "key", secret: { secretName } }],
    },
  },
});

/** A provider, and a cluster with a shared key that changes, is scaled, and then leaves each instance its own. */
async function clusters(world: BindRightsWorld): Promise<void> {
  await world.make(clusterBind9Provider, "platform", { spec: { namespace: "net", primary: { replicas: 1 } } });
  await world.change(clusterBind9Provider, "platform", { spec: { global: { recursion: true } } });
  const shared = { secret: inlineSecret("shared") };
  await world.make(bind9Cluster, "dns", { spec: { global: { rndcKeys: shared }, primary: { replicas: 2 } } });
  const rotated = { secret: inlineSecret("shared", keyFile(otherSecret)), autoRotate: true, rotateAfter: "2h" };
  await world.change(bind9Cluster, "dns", { spec: { global: { rndcKeys: rotated, recursion: true } } });
  await world.change(bind9Cluster, "dns", { spec: { primary: { replicas: 1 } } });
  // Which is put right again.
  await world.change(bind9Instance, "dns-primary-0", { spec: { role: "secondary" } });
  await world.change(bind9Cluster, "dns", { spec: { global: { rndcKeys: { secret: null, strategy: "Restart" } } } });
  await world.pass(60_000);
}

/** An instance whose key is its own, then written out, then somebody else's, which changes; and what runs it, there and back. */
async function instances(world: BindRightsWorld): Promise<void> {
  const place = { clusterRef: "dns", role: "secondary" };
  await world.make(bind9Instance, "solo", { spec: { ...place, rndcKeys: { secret: inlineSecret("written") } } });
  const other = { secret: inlineSecret("written", keyFile(otherSecret)), autoRotate: true, rotateAfter: "2h" };
  await world.change(bind9Instance, "solo", { spec: { rndcKeys: other, recursion: true, port: 5353 } });
  await world.make(secretType, "mine", { stringData: { "rndc.key": keyFile() } });
  await world.change(bind9Instance, "solo", { spec: { rndcKeys: { secret: null, secretRef: { name: "mine" } } } });
  await world.pass(60_000);
  await world.change(secretType, "mine", { stringData: { "rndc.key": keyFile(otherSecret) } });
  await world.pass(30_000);
  await world.change(bind9Instance, "solo", { spec: { rndcKeys: { secretRef: null } } });
  await world.pass(60_000);
  await world.change(bind9Instance, "solo", { spec: { workload: "StatefulSet" } });
  await world.pass(60_000);
  await world.change(bind9Instance, "solo", { spec: { recursion: false } });
  await world.change(bind9Instance, "solo", { spec: { workload: "Deployment" } });
  await world.pass(60_000);
  await world.make(deploymentType, "theirs", { spec: mounting("theirs", "mine") });
  const following = { rndcKeys: { secretRef: { name: "mine" } }, deploymentRef: { name: "theirs" } };
  await world.make(bind9Instance, "guest", { spec: { ...place, ...following } });
  await world.change(secretType, "mine", { stringData: { "rndc.key": keyFile() } });
  await world.pass(60_000);
}

/** Keys that workloads of all kinds are restarted for, and one that is no longer. */
async function keys(world: BindRightsWorld): Promise<void> {
  const spec = { secret: { name: "office" }, keyName: "office", strategy: "Restart", instances: ["guest"] };
  await world.make(rndcKey, "office", { spec });
  for (const kind of ["Deployment", "StatefulSet", "DaemonSet"]) {
    const type = kindOf(kind)?.type ?? assert.fail(kind);
    await world.make(type, `office-${type.plural}`, { spec: mounting(`office-${type.plural}`, "office") });
  }
  await world.change(rndcKey, "office", forced("now"));
  await world.pass(60_000);
  world.marked = ["Deployment", "StatefulSet", "DaemonSet"].map((kind) => {
    const { plural } = kindOf(kind)?.type ?? assert.fail(kind);
    return `${kind}/net/office-${plural}`;
  });
  await world.change(rndcKey, "office", { spec: { strategy: "Overlap" } });
  await world.kube.delete(rndcKey, { namespace: "net", name: "office" });
  await world.pass(30_000);
}

test("the rights of the controllers for BIND are those that their calls need, no more and no fewer", async () => {
  const world = await BindRightsWorld.begin();
  await clusters(world);
  await instances(world);
  await keys(world);
  for (const name of ["bind9-provider", "bind9-cluster", "bind9-instance", "bind9-keys"]) {
    assertRights(name, world.rightsUsedBy(name));
  }
  await world.stop();
});
