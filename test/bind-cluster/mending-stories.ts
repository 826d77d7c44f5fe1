import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { inlineSecret, keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { ringNameOf } from "../../src/bind/key-plan.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { RESTART_FOR_ANNOTATION } from "../../src/restart/annotations.ts";
import { daemonSets, statefulSets } from "../conformance/kinds.ts";
import type { BindScene } from "./bind-scene.ts";
import { createCluster, KEY, ON_DEMAND } from "./rotation-stories.ts";
import { type BindStory, story } from "./story.ts";

const INSTANCE = "dns-primary-0";
const SHARED = "shared";
const OTHER_SECRET = Buffer.from("a-third-secret-of-32-bytes-long!").toString("base64");

/** Somebody's who reads a key when it starts, and runs no named. */
const readerOf = ({ plural }: ResourceType): string => `${plural}-reader`;
const reader = (type: ResourceType, namespace: string): KubeObject => {
  const labels = { app: readerOf(type) };
  const containers = [{ name: "reader", image: "theirs", volumeMounts: [{ name: "key", mountPath: "/key" }] }];
  const volumes = [{ name: "key", secret: { secretName: KEY } }];
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { namespace, name: readerOf(type) },
    spec: {
      selector: { matchLabels: labels },
      // Nothing is scheduled to the node where pods of BIND are played.
      template: { metadata: { labels }, spec: { containers, volumes, nodeName: "node-1" } },
      ...(type === statefulSets && { serviceName: readerOf(type), replicas: 1 }),
    },
  };
};

/** The kind of whatever has made the ring that is called as the one of the instance's own key. */
const ringMaker = async (scene: BindScene): Promise<string | undefined> =>
  (await scene.get("Secret", ringNameOf(KEY)))?.metadata.ownerReferences?.find(({ controller }) => controller)?.kind;

const readers = (scene: BindScene): Promise<readonly KubeObject[]> =>
  Promise.all(
    [daemonSets, statefulSets].map((type) =>
      scene.stage.kube.get(type, { namespace: scene.namespace, name: readerOf(type) }),
    ),
  );

const generationOf = ({ metadata }: KubeObject): number => metadata.generation ?? 0;
const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[RESTART_FOR_ANNOTATION] !== undefined;

/** What somebody does to what is made, and what goes when it is wanted no more. */
export const mendingStories: readonly BindStory[] = [
  story(
    "shared",
    "a key that is written anew, another and none of ours, and instances that are edited and too many",
    async (scene, stage) => {
      stage.guard.excuse(`${scene.namespace}/${SHARED}`);
      const change = (spec: object) => scene.patch("Bind9Cluster", "dns", { spec });
      await createCluster(scene, { ...ON_DEMAND, secret: inlineSecret(SHARED) }, { primary: { replicas: 2 } });
      await scene.atRest(SHARED, 2);
      const rewritten = { secret: inlineSecret(SHARED, keyFile(OTHER_SECRET)), rotateAfter: "3h" };
      await change({ global: { rndcKeys: rewritten } });
      const isTold = async (): Promise<boolean> => (await scene.choice(INSTANCE)).rotateAfter === "3h";
      await scene.until("the policy to be the new one", isTold);
      await scene.until("the first key to be what is written now", async () => {
        const text = fieldAt(await scene.get("Secret", `${SHARED}-initial`), ["data", "rndc.key"]);
        return Buffer.from(String(text), "base64").toString().includes(OTHER_SECRET);
      });
      await scene.patch("Bind9Instance", INSTANCE, { spec: { role: "secondary" } });
      await scene.until("it to be a primary again", async () => {
        return fieldAt(await scene.get("Bind9Instance", INSTANCE), ["spec", "role"]) === "primary";
      });
      await change({ primary: { replicas: 1 } });
      const isGone = async (): Promise<boolean> => (await scene.get("Bind9Instance", "dns-primary-1")) === undefined;
      await scene.until("the second instance to go", isGone);
      await change({ global: { rndcKeys: { secret: null } } });
      await scene.until("the shared key to go", async () => (await scene.get("RndcKey", SHARED)) === undefined);
      await scene.atRest(KEY, 1);
      stage.guard.excuse(`${scene.namespace}/${KEY}`);
      await scene.create("Secret", "theirs", { stringData: { "rndc.key": keyFile() } });
      await change({ global: { rndcKeys: { secretRef: { name: "theirs" } } } });
      await scene.until("the instance's own key to go", async () => (await scene.get("RndcKey", KEY)) === undefined);
      await scene.until("the ring of theirs", async () => (await ringMaker(scene)) === "Bind9Instance");
      await change({ global: { rndcKeys: { secretRef: null } } });
      await scene.until("it to make room for the ring of a key of its own", async () => {
        return (await ringMaker(scene)) === "RndcKey";
      });
    },
  ),

  story(
    "edited",
    "a StatefulSet and a Service of a name server follow its spec, whatever others write",
    async (scene) => {
      await createCluster(scene, ON_DEMAND, { workload: "StatefulSet", primary: { replicas: 1 } });
      await scene.atRest(KEY, 1);
      await scene.patch("Bind9Instance", INSTANCE, { spec: { replicas: 2 } });
      await scene.atRest(KEY, 2);
      const port = async (): Promise<unknown> => fieldAt(await scene.get("Service", INSTANCE), ["spec", "ports"]);
      const before = JSON.stringify(await port());
      const selector = { "app.kubernetes.io/name": "somebody-else" };
      await scene.patch("Service", INSTANCE, { spec: { selector } });
      await scene.until("the Service to be mended", async () => {
        const now = JSON.stringify(fieldAt(await scene.get("Service", INSTANCE), ["spec", "selector"]));
        return !now.includes("somebody-else");
      });
      assert.equal(JSON.stringify(await port()), before);
      await scene.rotate(KEY, 2);
    },
  ),

  {
    ...story(
      "readers",
      "who reads a key when it starts is restarted for another one, while that is the strategy",
      async (scene, stage) => {
        stage.guard.excuse(`${scene.namespace}/${KEY}`);
        await createCluster(scene, { ...ON_DEMAND, overlap: undefined, strategy: "Restart" });
        await scene.atRest(KEY, 1);
        for (const type of [daemonSets, statefulSets]) await stage.kube.create(type, reader(type, scene.namespace));
        const before = (await readers(scene)).map(generationOf);
        await scene.rotate(KEY, 1);
        await scene.until("both to be restarted", async () => {
          return (await readers(scene)).every(
            ({ metadata }, index) => (metadata.generation ?? 0) > (before[index] ?? 0),
          );
        });
        await scene.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { strategy: "Overlap" } } } });
        await scene.until("nobody to be marked any more", async () => !(await readers(scene)).some(isMarked));
      },
    ),
    isReal: true,
  },
];
