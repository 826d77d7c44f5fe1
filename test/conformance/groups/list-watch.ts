import assert from "node:assert/strict";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { createListWatch, type ListWatch, type ListWatchOptions } from "../../../src/kube/list-watch.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../../src/kube/objects.ts";
import { ResourceCache } from "../../../src/kube/resource-cache.ts";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { settles } from "../expectations.ts";
import { configMaps, customResourceDefinitions, secrets } from "../kinds.ts";
import { configMap, kindManifest, secret } from "../manifests.ts";
import type { World } from "../world.ts";

interface Following {
  readonly cache: ResourceCache<KubeObject>;
  readonly listWatch: ListWatch;
  /** `type key` of every change that was told, in order. */
  readonly told: string[];
}

type Choices = Pick<ListWatchOptions<KubeObject>, "selection" | "tuning" | "metadataOnly">;

/** Runs the operator's own list-watch while `use` works, and waits at the end until it has stopped. */
async function following(
  world: World,
  type: ResourceType,
  choices: Choices,
  use: (following: Following) => Promise<void>,
): Promise<void> {
  const cache = new ResourceCache<KubeObject>();
  const told: string[] = [];
  const listWatch = createListWatch({
    kube: world.kube,
    type,
    cache,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    onDelta: (delta) => told.push(`${delta.type} ${delta.key.split("/").at(-1)}`),
    ...choices,
  });
  const stop = new AbortController();
  const running = listWatch.run(stop.signal);
  try {
    await use({ cache, listWatch, told });
  } finally {
    stop.abort();
    await running;
  }
}

const isSynced = (listWatch: ListWatch): Promise<true> =>
  eventually("the list-watch to be in step", async () => listWatch.state().synced || undefined);

async function assertSameAsServer(world: World, namespace: string, cache: ResourceCache<KubeObject>): Promise<void> {
  const { items } = await world.kube.list(configMaps, { namespace, labelSelector: "mine" });
  const version = (object: KubeObject): string => `${keyOf(object.metadata)} ${object.metadata.resourceVersion}`;
  assert.deepEqual(cache.list().map(version).sort(), items.map(version).sort());
}

const mine = { mine: "yes" };
const ways: readonly { readonly how: string; readonly tuning: NonNullable<Choices["tuning"]> }[] = [
  { how: "with WatchList", tuning: { watchList: true } },
  { how: "with lists in pages", tuning: { watchList: false, pageSize: 2 } },
  { how: "with watches that end all the time", tuning: { watchList: false, watchSeconds: [1, 1] } },
];

/** The list-watch that the operator stands on, against a server as it really answers. */
export const listWatch: BehaviourGroup = {
  name: "the operator's list-watch",
  behaviours: [
    ...ways.map(({ how, tuning }) =>
      behaviour(`the cache follows the server ${how}`, async (world) => {
        const namespace = await world.namespace();
        const names = ["a", "b", "c", "d", "e"];
        for (const name of names) await world.kube.create(configMaps, configMap(namespace, name, {}, mine));
        const choices = { selection: { namespace, labelSelector: "mine" }, tuning };
        await following(world, configMaps, choices, async ({ cache, listWatch: watching, told }) => {
          await isSynced(watching);
          assert.equal(cache.size, names.length);
          for (let n = 0; n < 5; n++) {
            for (const name of names) {
              await world.kube.patch(configMaps, { namespace, name }, { type: "merge", body: { data: { n: `${n}` } } });
            }
          }
          await world.kube.delete(configMaps, { namespace, name: "c" });
          await world.kube.create(configMaps, configMap(namespace, "f", {}, mine));
          await settles(() => assertSameAsServer(world, namespace, cache));
          assert.equal(told.filter((change) => change === "deleted c").length, 1);
          assert.equal(told.filter((change) => change.startsWith("added ")).length, names.length + 1);
        });
      }),
    ),
    behaviour("an object made again under its name is told as deleted and added", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a", {}, mine));
      const choices = { selection: { namespace, labelSelector: "mine" } };
      await following(world, configMaps, choices, async ({ cache, listWatch: watching, told }) => {
        await isSynced(watching);
        await world.kube.delete(configMaps, { namespace, name: "a" });
        await world.kube.create(configMaps, configMap(namespace, "a", {}, mine));
        await settles(() => assertSameAsServer(world, namespace, cache));
        assert.deepEqual(told, ["added a", "deleted a", "added a"]);
      });
    }),
    behaviour("Secrets are followed by label without their content", async (world) => {
      const namespace = await world.namespace();
      const labelled = { ...secret(namespace, "a", { stringData: { key: "canary" } }) };
      const metadata = { ...labelled.metadata, labels: mine };
      const choices = { selection: { namespace, labelSelector: "mine" }, metadataOnly: true };
      await following(world, secrets, choices, async ({ cache, listWatch: watching }) => {
        await isSynced(watching);
        await world.kube.create(secrets, { ...labelled, metadata });
        await world.kube.create(secrets, secret(namespace, "other", { stringData: { key: "canary" } }));
        const seen = await eventually("the Secret to be seen", async () => cache.get(`${namespace}/a`));
        assert.equal(seen.data, undefined);
        assert.equal(cache.size, 1);
      });
    }),
    behaviour("our own write is known to be missing until the watch has brought it", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", {}, mine));
      const choices = { selection: { namespace, labelSelector: "mine" } };
      await following(world, configMaps, choices, async ({ cache, listWatch: watching }) => {
        await isSynced(watching);
        const written = await world.kube.replace(configMaps, { ...made, data: { n: "1" } });
        cache.noteWrite(`${namespace}/a`, written.metadata.resourceVersion ?? "");
        await eventually("the write to come back", async () => cache.isCurrent(`${namespace}/a`) || undefined);
        assert.deepEqual(cache.get(`${namespace}/a`)?.data, { n: "1" });
      });
    }),
    behaviour("a kind that is not installed is picked up when it appears", async (world) => {
      const { manifest, type } = kindManifest(world.group(), { schema: { type: "object" }, kind: "Later" });
      const namespace = await world.namespace();
      await following(world, type, { selection: { namespace } }, async ({ cache, listWatch: watching }) => {
        await eventually("the server to say that it does not know the kind", async () => {
          return !watching.state().served || undefined;
        });
        world.removeAtEnd(customResourceDefinitions, manifest.metadata.name);
        await world.kube.create(customResourceDefinitions, manifest);
        await world.untilServed(type);
        const draft = { apiVersion: `${type.group}/v1`, kind: type.kind, metadata: { namespace, name: "a" } };
        await world.kube.create(type, draft);
        await eventually("the new object to be seen", async () => {
          watching.poke();
          return cache.get(`${namespace}/a`);
        });
      });
    }),
  ],
};
