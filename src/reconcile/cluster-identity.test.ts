import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { seededRandom } from "../base/random.ts";
import { type EmbeddedCluster, embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Transport } from "../kube/transport.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { type ClusterIdentity, establishIdentity, onceIdentified } from "./cluster-identity.ts";

const namespaces: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const ref = { namespace: "default", name: "keyturn-fingerprint-key" };
const { signal } = new AbortController();
const SETTLED = { kind: "settled" } as const;

const establish = (kube: Kube, seed = 1, namespace = "default"): Promise<ClusterIdentity> =>
  establishIdentity({ kube, random: seededRandom(seed), namespace, signal });

const keySecret = (data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: ref,
  data,
});

test("a cluster is known by its kube-system, and the first to come makes the key of the fingerprints", async () => {
  const { kube } = embeddedCluster();
  const { metadata } = await kube.get(namespaces, { name: "kube-system" });
  const first = await establish(kube, 1);
  assert.equal(first.clusterId, metadata.uid);
  const secret = await kube.get(secretType, ref);
  assert.equal(secret.immutable, true);
  const { key } = secret.data as { readonly key: string };
  assert.equal(Buffer.from(key, "base64").length, 32);
  const second = await establish(kube, 2);
  assert.equal(second.fingerprinter.keyId, first.fingerprinter.keyId, "the next one finds it");
  assert.equal(second.fingerprinter.ofData({ a: "b" }), first.fingerprinter.ofData({ a: "b" }));
  assert.ok(!inspect(first, { depth: 9, showHidden: true }).includes(key), "the key does not show itself");
});

test("of two who come at once, one makes the key and both use it", async () => {
  const cluster = embeddedCluster();
  const [one, two] = await Promise.all([establish(cluster.kube, 1), establish(cluster.kube, 2)]);
  assert.equal(one.fingerprinter.keyId, two.fingerprinter.keyId);
});

/** Somebody else writes their key between our look and our write. */
function overtaken({ kube, clock, transport }: EmbeddedCluster, theirs: KubeObject): Kube {
  const slow: Transport = {
    send: async (request) => {
      if (request.method === "POST") await kube.create<KubeObject>(secretType, theirs);
      return transport.send(request);
    },
    close: async () => {},
  };
  return createKubeClient({ transport: slow, clock, userAgent: "keyturn/test" });
}

test("a key that turns up meanwhile counts, and is not replaced", async () => {
  const cluster = embeddedCluster();
  const theirs = Buffer.alloc(32, 9).toString("base64");
  const late = await establish(overtaken(cluster, keySecret({ key: theirs })), 1);
  assert.equal(late.fingerprinter.keyId, (await establish(cluster.kube, 2)).fingerprinter.keyId);
  assert.deepEqual((await cluster.kube.get(secretType, ref)).data, { key: theirs });
});

test("a key that is damaged is left alone, and the remedy is named without it", async () => {
  const table: readonly (readonly [data: Readonly<Record<string, string>>, reason: string])[] = [
    [{}, "no data"],
    [{ key: "" }, "empty"],
    [{ key: Buffer.from("canary-short").toString("base64") }, "too short"],
    [{ other: Buffer.alloc(32, 1).toString("base64") }, "under another name"],
  ];
  for (const [data, reason] of table) {
    const { kube } = embeddedCluster();
    await kube.create<KubeObject>(secretType, keySecret(data));
    await assert.rejects(establish(kube), (error) => {
      const { code, message } = error as { readonly code: string; readonly message: string };
      assert.equal(code, "FingerprintKeyDamaged", reason);
      assert.match(message, /default\/keyturn-fingerprint-key .* delete it, and a new one is made/);
      assert.ok(!inspect(error, { depth: 9 }).includes("canary"));
      return true;
    });
    assert.deepEqual((await kube.get(secretType, ref)).data ?? {}, data, `${reason}: it stays as it was`);
  }
});

test("without its namespace there is no identity, and the next try starts afresh", async () => {
  const { kube } = embeddedCluster();
  await assert.rejects(establish(kube, 1, "keyturn-system"), /keyturn-system/);
  await kube.create<KubeObject>(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "keyturn-system" },
  });
  assert.notEqual((await establish(kube, 1, "keyturn-system")).fingerprinter.keyId, "");
});

test("that its namespace is missing is said with the remedy, and work begins once it is there", async () => {
  const { kube } = embeddedCluster();
  const reconcile = onceIdentified({ kube, random: seededRandom(1), namespace: "ops" }, () => async () => SETTLED);
  await assert.rejects(reconcile("a", signal), {
    code: "OwnNamespaceMissing",
    message: /kubectl create namespace ops/,
  });
  await kube.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "ops" } });
  assert.deepEqual(await reconcile("a", signal), SETTLED);
});

test("a key whose Secret is gone is written down again, and what has come in its place is left alone", async () => {
  const { kube } = embeddedCluster();
  const { restoreKey } = await establish(kube);
  const { data } = await kube.get(secretType, ref);
  assert.equal(await restoreKey(signal), false, "it is there");
  await kube.delete(secretType, ref);
  assert.equal(await restoreKey(signal), true);
  assert.deepEqual((await kube.get(secretType, ref)).data, data);
  await kube.delete(secretType, ref);
  const theirs = { key: Buffer.alloc(32, 9).toString("base64") };
  await kube.create<KubeObject>(secretType, keySecret(theirs));
  assert.equal(await restoreKey(signal), false);
  assert.deepEqual((await kube.get(secretType, ref)).data, theirs);
});
