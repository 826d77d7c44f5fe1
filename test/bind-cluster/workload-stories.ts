import assert from "node:assert/strict";
import { fieldAt } from "../../src/bind/fields.ts";
import { PATHS } from "../../src/bind/named-conf.ts";
import { RCODE } from "../../src/sandbox/named/dns/numbers.ts";
import { addText } from "../rndc/dns-client.ts";
import type { BindScene } from "./bind-scene.ts";
import type { BindStage } from "./bind-stage.ts";
import { createCluster, doubled, KEY, ON_DEMAND, podsOf } from "./rotation-stories.ts";
import { type BindStory, story } from "./story.ts";

const INSTANCE = "dns-primary-0";
const RESTART = { ...ON_DEMAND, overlap: undefined, strategy: "Restart" } as const;

/** How often a workload was found not to get restarted for a key. */
const stuckRestarts = ({ namespace }: BindScene, stage: BindStage): Promise<number> =>
  stage.counted("bindy_rndc_key_rotation_errors_total", { namespace, secret: KEY, error: "RestartStuck" });

/** How often the pod template was another one. */
async function revisionOf(scene: BindScene): Promise<number> {
  const { annotations } = (await scene.get("Deployment", INSTANCE))?.metadata ?? {};
  return Number(annotations?.["deployment.kubernetes.io/revision"]);
}

/** A named.conf of somebody who was there before us, with what our documentation asks for. */
const THEIR_CONF = `options {
	directory "${PATHS.work}";
	pid-file none;
	session-keyfile none;
	listen-on port 1053 { any; };
	listen-on-v6 port 1053 { any; };
	recursion no;
	dnssec-validation no;
};
include "/etc/keyturn/ring/keys.conf";
include "/etc/keyturn/ring/controls.conf";
include "/etc/keyturn/ring/acl.conf";
`;

/** Theirs: two pods with that configuration, and with both Secrets of the key mounted as directories. */
function theirs(secretName: string): object {
  const labels = { app: "office" };
  const volumes = [
    { name: "config", configMap: { name: "office" } },
    { name: "key", secret: { secretName } },
    { name: "ring", secret: { secretName: `${secretName}-ring` } },
  ];
  const volumeMounts = [
    { name: "config", mountPath: PATHS.config },
    { name: "key", mountPath: PATHS.key },
    { name: "ring", mountPath: PATHS.ring },
  ];
  const containers = [{ name: "named", image: "theirs", volumeMounts }];
  return {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers, volumes } },
  };
}

const usedInstead = (kind: "Deployment" | "StatefulSet"): BindStory =>
  story(
    `their-${kind.toLowerCase()}`,
    `a ${kind} that was there before is rotated with overlap, and none of its pods is restarted`,
    async (scene) => {
      const secret = "old-rndc";
      await scene.create("Bind9Cluster", "dns", { spec: {} });
      const deploymentRef = { name: "office", ...(kind !== "Deployment" && { kind }) };
      const rndcKeys = { ...ON_DEMAND, strategy: "Overlap" };
      await scene.create("Bind9Instance", "old", {
        spec: { clusterRef: "dns", role: "primary", deploymentRef, rndcKeys },
      });
      await scene.create("ConfigMap", "office", { data: { "named.conf": THEIR_CONF } });
      const spec = { ...theirs(secret), ...(kind !== "Deployment" && { serviceName: "office" }) };
      await scene.create(kind, "office", { spec });
      await scene.atRest(secret, 2);
      const before = podsOf(scene, secret);
      await scene.rotate(secret, 2);
      assert.deepEqual(podsOf(scene, secret), before, "nobody was restarted");
      const key = await scene.published(secret);
      for (const { dnsPlace, name } of scene.pods(secret)) {
        const { rcode, isAuthentic } = await addText(dnsPlace, "office", name, { key });
        assert.deepEqual([rcode, isAuthentic], [RCODE.NOERROR, true], `${name} takes updates that it signs`);
      }
    },
  );

/** Who runs the pods, and what becomes of a key when it does not do so well. */
export const workloadStories: readonly BindStory[] = [
  story(
    "stuck",
    "a rollout for a key that does not come to its end is told of, counted and begun again",
    async (scene, stage) => {
      stage.guard.excuse(`${scene.namespace}/${KEY}`);
      await createCluster(scene, RESTART);
      await scene.atRest(KEY, 1);
      await scene.patch("Deployment", INSTANCE, { spec: { progressDeadlineSeconds: 3 } });
      const old = await scene.published(KEY);
      const instance = `${scene.namespace}/${INSTANCE}`;
      stage.kubelet.held.add(instance);
      await scene.age(KEY);
      const why = new RegExp(`^False KeyNotReady .*Deployment ${instance} \\(its rollout does not come to an end`);
      const isSaid = async (): Promise<boolean> => why.test(await scene.condition("RndcKey", KEY, "Synced"));
      await scene.until("the condition to name the workload", isSaid);
      assert.ok((await stuckRestarts(scene, stage)) >= 1, "it is counted");
      const events = await stage.eventsIn(scene.namespace);
      assert.ok(
        events.some((event) => event.startsWith("KeyNotReady: ") && event.includes(instance)),
        events.join("\n"),
      );
      await scene.until("the next attempt, which fails, too", async () => (await stuckRestarts(scene, stage)) >= 2);
      assert.ok((await revisionOf(scene)) >= 3, "made, restarted, and begun again");
      stage.kubelet.held.delete(instance);
      await scene.atRest(KEY, 1);
      await scene.refusedEverywhere(KEY, old);
      const isOver = async (): Promise<boolean> => (await scene.condition("RndcKey", KEY, "Synced")).startsWith("True");
      await scene.until("nothing to be complained of", isOver);
    },
  ),

  usedInstead("Deployment"),
  usedInstead("StatefulSet"),

  story(
    "set",
    "a Deployment takes the place of a StatefulSet while it serves, and the other way round",
    async (scene) => {
      await createCluster(scene, ON_DEMAND, { workload: "StatefulSet", primary: { replicas: 1 } });
      await doubled(scene);
      await scene.atRest(KEY, 2);
      const before = podsOf(scene, KEY);
      await scene.rotate(KEY, 2);
      assert.deepEqual(podsOf(scene, KEY), before, "nobody was restarted");
      for (const [former, next] of [
        ["StatefulSet", "Deployment"],
        ["Deployment", "StatefulSet"],
      ] as const) {
        await scene.patch("Bind9Cluster", "dns", { spec: { workload: next } });
        const isMoved = async (): Promise<boolean> =>
          (await scene.get(former, INSTANCE)) === undefined && (await scene.isAtRest(KEY, 2));
        await scene.until(`a ${next} to have taken its place`, isMoved);
      }
      await scene.rotate(KEY, 2);
    },
  ),

  story(
    "set-restart",
    "a StatefulSet with the strategy Restart has the new key once its rollout is over",
    async (scene, stage) => {
      stage.guard.excuse(`${scene.namespace}/${KEY}`);
      await createCluster(scene, RESTART, { workload: "StatefulSet", primary: { replicas: 1 } });
      await doubled(scene);
      await scene.atRest(KEY, 2);
      const [before, names] = [podsOf(scene, KEY), scene.pods(KEY).map(({ name }) => name)];
      await scene.rotate(KEY, 2);
      const after = podsOf(scene, KEY);
      assert.ok(!after.some((pod) => before.includes(pod)), "every pod is another one");
      assert.deepEqual(
        scene
          .pods(KEY)
          .map(({ name }) => name)
          .sort(),
        names.sort(),
        "under the same names",
      );
    },
  ),

  story("strategies", "from one strategy to the other and back, and each of them rotates", async (scene, stage) => {
    stage.guard.excuse(`${scene.namespace}/${KEY}`);
    await createCluster(scene, ON_DEMAND);
    await scene.atRest(KEY, 1);
    for (const strategy of ["Restart", "Overlap"]) {
      const isRing = strategy === "Overlap";
      const rndcKeys = { strategy, overlap: isRing ? ON_DEMAND.overlap : null };
      await scene.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys } } });
      await scene.until(`all to have come to ${strategy}`, async () => {
        const spec = fieldAt(await scene.get("Deployment", INSTANCE), ["spec", "template", "spec"]);
        return JSON.stringify(spec).includes(`${KEY}-ring`) === isRing && (await scene.isAtRest(KEY, 1));
      });
      await scene.rotate(KEY, 1);
    }
  }),
];
