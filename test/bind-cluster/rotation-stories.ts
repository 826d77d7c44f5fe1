import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { inlineSecret, keyFile, LONG_SECRET } from "../../src/bind/bind-objects.fixture.ts";
import { KEYS_FILE } from "../../src/bind/render-ring.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import { isSame } from "../reconcile/rndc-key-world.ts";
import type { BindScene } from "./bind-scene.ts";
import { type BindStory, story } from "./story.ts";

/** An old key lives for so long beside the new one. */
const OVERLAP = { overlap: "2s" } as const;
/** Rotated only when somebody says that the key is older than it is. */
export const ON_DEMAND = { autoRotate: true, rotateAfter: "1h", ...OVERLAP } as const;
/** Long enough for whatever is to happen to have happened. */
const A_WHILE_MS = 2_500;

const OTHER_SECRET = Buffer.from("another-secret-of-32-bytes-long!").toString("base64");

export const createCluster = (scene: BindScene, rndcKeys: object, parts: object = { primary: { replicas: 1 } }) =>
  scene.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys }, ...parts } });

export const KEY = "dns-primary-0-rndc";

/** Those that mount a Secret, by what no other one has. */
export const podsOf = (scene: BindScene, secret: string): readonly string[] => scene.pods(secret).map(({ uid }) => uid);

/** The one instance gets a second pod. */
export async function doubled(scene: BindScene): Promise<void> {
  const isMade = async (): Promise<boolean> => (await scene.get("Bind9Instance", "dns-primary-0")) !== undefined;
  await scene.until("the instance", isMade);
  await scene.patch("Bind9Instance", "dns-primary-0", { spec: { replicas: 2 } });
}

export const rotationStories: readonly BindStory[] = [
  story("plan", "two primaries and a secondary are rotated by plan, each on its own", async (scene) => {
    const parts = { primary: { replicas: 2 }, secondary: { replicas: 1 } };
    await createCluster(scene, { autoRotate: true, rotateAfter: "3s", ...OVERLAP }, parts);
    const keys = [KEY, "dns-primary-1-rndc", "dns-secondary-0-rndc"];
    for (const key of keys) await scene.pastSequence(key, 2);
    await scene.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { autoRotate: false } } } });
    for (const key of keys) await scene.atRest(key, 1);
    const secrets = await Promise.all(keys.map(async (key) => (await scene.published(key)).secret.reveal().toString()));
    assert.equal(new Set(secrets).size, keys.length, "each instance has a key of its own");
  }),

  story(
    "shared",
    "an inline key of three instances is published once the last of them knows it",
    async (scene, stage) => {
      const parts = { primary: { replicas: 2 }, secondary: { replicas: 1 } };
      await createCluster(scene, { ...ON_DEMAND, secret: inlineSecret("office") }, parts);
      await scene.atRest("office", 3);
      const first = await scene.published("office");
      assert.equal(first.name, "bindy-operator", "the key that was written out is the first one");
      const late = `${scene.namespace}/dns-secondary-0`;
      stage.kubelet.delays.set(late, Infinity);
      await scene.age("office");
      await scene.until("a key to be added", async () => (await scene.ring("office")).length === 2);
      await sleep(A_WHILE_MS);
      assert.ok(isSame(await scene.published("office"), first), "one of them does not know it yet");
      stage.kubelet.delays.delete(late);
      await scene.pastSequence("office", 1);
      await scene.atRest("office", 3);
      await scene.refusedEverywhere("office", first);
    },
  ),

  story("followed", "a key of the user's is followed: the new one joins, then the old one leaves", async (scene) => {
    const fileOf = (secret: string, name: string) => ({
      stringData: { "rndc.key": keyFile(secret, "hmac-sha256", name) },
    });
    await scene.create("Secret", "mine", fileOf(LONG_SECRET, "mine-1"));
    await createCluster(scene, { secretRef: { name: "mine" } });
    await scene.until("the user's key to be accepted", async () => (await scene.letIn("mine")) === 1);
    const old = await scene.published("mine");
    const changed = await scene.patch("Secret", "mine", fileOf(OTHER_SECRET, "mine-2"));
    await scene.until("the changed key to be accepted", async () => (await scene.letIn("mine")) === 1);
    await scene.until("the ring to be at rest", async () => (await scene.ring(KEY)).length === 1);
    await scene.refusedEverywhere("mine", old);
    const { metadata } = (await scene.get("Secret", "mine")) ?? changed;
    assert.equal(metadata.resourceVersion, changed.metadata.resourceVersion, "the user's Secret is never touched");
  }),

  story("stolen", "a compromised key is refused as soon as its successor is published", async (scene) => {
    await createCluster(scene, { ...ON_DEMAND, overlap: "1h" });
    await scene.atRest(KEY, 1);
    const stolen = await scene.published(KEY);
    await scene.patch("RndcKey", KEY, { metadata: { annotations: { "keyturn.dev/compromised": "yes" } } });
    await scene.pastSequence(KEY, 1);
    await scene.atRest(KEY, 1);
    await scene.refusedEverywhere(KEY, stolen);
  }),

  story(
    "broken",
    "a ring that named cannot read keeps the old key, and the condition says why",
    async (scene, stage) => {
      await createCluster(scene, ON_DEMAND);
      await scene.atRest(KEY, 1);
      const before = await scene.published(KEY);
      const instance = `${scene.namespace}/dns-primary-0`;
      stage.kubelet.spoil(instance, (files) => ("acl.conf" in files ? { ...files, [KEYS_FILE]: "key {" } : files));
      await scene.age(KEY);
      const isSaid = async (): Promise<boolean> =>
        /not every server accepts .*dns-primary-0/.test(await scene.condition("RndcKey", KEY, "Synced"));
      await scene.until("the condition to say why", isSaid);
      const isToldOn = async (): Promise<boolean> =>
        (await scene.condition("Bind9Instance", "dns-primary-0", "Synced")).startsWith("False KeyNotReady");
      await scene.until("its instance to say so, too", isToldOn);
      assert.ok(isSame(await scene.published(KEY), before), "the old key stays");
      stage.kubelet.heal(instance);
      await scene.pastSequence(KEY, 1);
      await scene.atRest(KEY, 1);
      await scene.refusedEverywhere(KEY, before);
    },
  ),

  story(
    "replaced",
    "a named that dies and a pod that is replaced in mid-rotation end up with the others",
    async (scene, stage) => {
      await createCluster(scene, ON_DEMAND);
      await doubled(scene);
      await scene.until("both replicas", async () => scene.pods(KEY).filter(({ isReady }) => isReady).length === 2);
      await scene.atRest(KEY, 2);
      stage.kubelet.delays.set(`${scene.namespace}/dns-primary-0`, 1_000);
      await scene.age(KEY);
      await scene.until("a key to be added", async () => (await scene.ring(KEY)).length === 2);
      const [first, second] = scene.pods(KEY);
      first?.crash();
      if (second) await stage.kube.delete(podType, { namespace: scene.namespace, name: second.name });
      await scene.pastSequence(KEY, 1);
      await scene.atRest(KEY, 2);
      stage.kubelet.delays.delete(`${scene.namespace}/dns-primary-0`);
      await scene.rotate(KEY, 2);
    },
  ),

  story(
    "restart",
    "with the strategy Restart both replicas have the new key once the rollout is over",
    async (scene, stage) => {
      stage.guard.excuse(`${scene.namespace}/${KEY}`);
      await createCluster(scene, { ...ON_DEMAND, overlap: undefined, strategy: "Restart" });
      await doubled(scene);
      await scene.atRest(KEY, 2);
      const before = podsOf(scene, KEY);
      await scene.rotate(KEY, 2);
      assert.deepEqual(
        podsOf(scene, KEY).filter((pod) => before.includes(pod)),
        [],
        "every pod is another one",
      );
    },
  ),
];
