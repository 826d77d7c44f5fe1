import assert from "node:assert/strict";
import { test } from "node:test";
import { podLabels } from "../../bind/instance-objects.ts";
import { acceptKey, addKey, EMPTY_RING, type KeyRing, removeKey } from "../../bind/key-ring.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { RndcRefused } from "../../rndc/errors.ts";
import { generateRndcKey } from "../../rndc/key.ts";
import { InstanceRingGate } from "./instance-ring-gate.ts";

const { signal } = new AbortController();

test("the servers of an instance are asked about keys that come and keys that go", async (context) => {
  const { kube, clock, random, server } = embeddedCluster();
  context.after(() => server.stop());
  const metadata = { name: "web-0", namespace: "default", labels: podLabels("web") };
  const spec = { containers: [{ name: "named", image: "bind9" }] };
  const pod = await kube.create<KubeObject>(podType, { apiVersion: "v1", kind: "Pod", metadata, spec });
  await kube.replace<KubeObject>(podType, { ...pod, status: { podIP: "10.0.0.1" } }, { subresource: "status" });
  const added = (ring: KeyRing, name: string): KeyRing =>
    addKey(ring, {
      id: name,
      key: generateRndcKey(name, "hmac-sha256", random),
      createdAt: clock.now(),
      marks: undefined,
    });
  const ring = removeKey(added(acceptKey(added(added(EMPTY_RING, "old"), "current"), "current"), "next"), "old");
  const known = new Set(["current", "old"]);
  const gate = new InstanceRingGate({
    kube,
    clock,
    random,
    send: async ({ key }) => {
      if (!known.has(key.name)) throw new RndcRefused("hung up");
      return { text: "" };
    },
  });
  const ask = () => gate.ask({ namespace: "default", name: "web" }, ring, signal);
  assert.deepEqual(await ask(), { accepted: [], refused: [] });
  await clock.advance(120_000);
  assert.match((await ask()).complaint ?? "", /not every server accepts next: web-0 /);
  known.add("next").delete("old");
  assert.deepEqual(await ask(), { accepted: ["next"], refused: ["old"] });
});
