import assert from "node:assert/strict";
import { Gone } from "../../../src/kube/errors.ts";
import type { ObjectRef, ResourceType } from "../../../src/kube/objects.ts";
import type { WatchEvent } from "../../../src/kube/port.ts";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at } from "../expectations.ts";
import { configMaps, secrets } from "../kinds.ts";
import { configMap, secret } from "../manifests.ts";
import { makeWidget, widgets } from "../widgets.ts";
import type { World } from "../world.ts";

/** Every namespace gets this ConfigMap from the control plane, at a moment of its choosing. */
const own = "metadata.name!=kube-root-ca.crt";

async function versionNow(world: World, namespace: string): Promise<string> {
  return (await world.kube.list(configMaps, { namespace })).resourceVersion;
}

function objectOf(event: WatchEvent | undefined) {
  assert.ok(event !== undefined && event.type !== "BOOKMARK", `an object was expected, not ${event?.type}`);
  return event.object;
}

/** Makes so many changes of one object that a server which forgets at all forgets its beginnings. */
async function touch(world: World, type: ResourceType, ref: ObjectRef): Promise<void> {
  for (let n = 0; n < 200; n++) {
    await world.kube.patch(type, ref, { type: "merge", body: { metadata: { annotations: { n: world.unique("n") } } } });
  }
}

/** Changes as they happen, from any point that the server still remembers. */
export const watch: BehaviourGroup = {
  name: "watch",
  behaviours: [
    behaviour("create, update and delete come in order, with the state after each", async (world) => {
      const namespace = await world.namespace();
      const watching = world.watch(configMaps, {
        namespace,
        fieldSelector: own,
        resourceVersion: await versionNow(world, namespace),
      });
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { n: "1" }));
      const changed = await world.kube.replace(configMaps, { ...made, data: { n: "2" } });
      await world.kube.delete(configMaps, { namespace, name: "a" });
      const seen = [await watching.next(), await watching.next(), await watching.next()];
      assert.deepEqual(
        seen.map((event) => event?.type),
        ["ADDED", "MODIFIED", "DELETED"],
      );
      assert.deepEqual(objectOf(seen[0]), made);
      assert.deepEqual(objectOf(seen[1]), changed);
      const last = objectOf(seen[2]);
      assert.deepEqual(last.data, { n: "2" }, "a deletion carries the last state");
      const versions = seen.map((event) => BigInt(objectOf(event).metadata.resourceVersion ?? 0));
      assert.ok((versions[0] ?? 0n) < (versions[1] ?? 0n) && (versions[1] ?? 0n) < (versions[2] ?? 0n));
    }),
    behaviour("a watch resumes after the resourceVersion of any event", async (world) => {
      const namespace = await world.namespace();
      const start = await versionNow(world, namespace);
      for (const name of ["a", "b", "c"]) await world.kube.create(configMaps, configMap(namespace, name));
      const first = world.watch(configMaps, { namespace, fieldSelector: own, resourceVersion: start });
      const event = objectOf(await first.next());
      first.close();
      const resourceVersion = event.metadata.resourceVersion ?? "";
      const resumed = world.watch(configMaps, { namespace, fieldSelector: own, resourceVersion });
      assert.deepEqual(await resumed.nextChanges(2), ["ADDED b", "ADDED c"]);
    }),
    behaviour("a watch without a resourceVersion begins with the present state", async (world) => {
      const namespace = await world.namespace();
      for (const name of ["a", "b"]) await world.kube.create(configMaps, configMap(namespace, name));
      const watching = world.watch(configMaps, { namespace, fieldSelector: own });
      assert.deepEqual((await watching.nextChanges(2)).sort(), ["ADDED a", "ADDED b"]);
      await world.kube.create(configMaps, configMap(namespace, "c"));
      assert.equal(await watching.nextChange(), "ADDED c");
    }),
    behaviour("a watch with a label selector adds and deletes as objects move in and out", async (world) => {
      const namespace = await world.namespace();
      const start = await versionNow(world, namespace);
      const watching = world.watch(configMaps, { namespace, labelSelector: "on=yes", resourceVersion: start });
      const ref = { namespace, name: "a" };
      const label = (on: string | null) =>
        world.kube.patch(configMaps, ref, { type: "merge", body: { metadata: { labels: { on } } } });
      await world.kube.create(configMaps, configMap(namespace, "a"));
      await world.kube.create(configMaps, configMap(namespace, "other"));
      await label("yes");
      await world.kube.patch(configMaps, ref, { type: "merge", body: { data: { n: "1" } } });
      await label("no");
      await world.kube.delete(configMaps, ref);
      await world.kube.create(configMaps, configMap(namespace, "b", {}, { on: "yes" }));
      assert.deepEqual(await watching.nextChanges(4), ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b"]);
    }),
    behaviour("a watch with a field selector sees one object only", async (world) => {
      const namespace = await world.namespace();
      const start = await versionNow(world, namespace);
      const watching = world.watch(configMaps, { namespace, fieldSelector: "metadata.name=b", resourceVersion: start });
      for (const name of ["a", "b", "c"]) await world.kube.create(configMaps, configMap(namespace, name));
      await world.kube.delete(configMaps, { namespace, name: "b" });
      assert.deepEqual(await watching.nextChanges(2), ["ADDED b", "DELETED b"]);
    }),
    behaviour("a watch over all namespaces sees changes in each", async (world) => {
      const namespace = await world.namespace();
      const label = world.unique("run");
      const { resourceVersion } = await world.kube.list(configMaps, { limit: 1 });
      const watching = world.watch(configMaps, { labelSelector: `run=${label}`, resourceVersion });
      await world.kube.create(configMaps, configMap(namespace, "a", {}, { run: label }));
      await world.kube.create(configMaps, configMap("default", label, {}, { run: label }));
      assert.deepEqual(await watching.nextChanges(2), ["ADDED a", `ADDED ${label}`]);
      await world.kube.delete(configMaps, { namespace: "default", name: label });
    }),
    behaviour("a metadata-only watch carries no data", async (world) => {
      const namespace = await world.namespace();
      const { resourceVersion } = await world.kube.list(secrets, { namespace });
      const watching = world.watch(secrets, { namespace, metadataOnly: true, resourceVersion });
      await world.kube.create(secrets, secret(namespace, "a", { stringData: { key: "value" } }));
      const object = objectOf(await watching.next());
      assert.equal(object.metadata.name, "a");
      assert.equal(object.data, undefined);
    }),
    behaviour("WatchList sends the state, then a bookmark that says so, then changes", async (world) => {
      const namespace = await world.namespace();
      for (const name of ["a", "b"])
        await world.kube.create(configMaps, configMap(namespace, name, {}, { mine: "yes" }));
      const watching = world.watch(configMaps, { namespace, labelSelector: "mine=yes", sendInitialEvents: true });
      const initial = [await watching.next(), await watching.next()];
      assert.deepEqual(initial.map((event) => `${event?.type} ${objectOf(event).metadata.name}`).sort(), [
        "ADDED a",
        "ADDED b",
      ]);
      const bookmark = await watching.next();
      assert.ok(bookmark?.type === "BOOKMARK" && bookmark.initialEventsEnd, JSON.stringify(bookmark));
      const newest = Math.max(...initial.map((event) => Number(objectOf(event).metadata.resourceVersion)));
      assert.ok(Number(bookmark.resourceVersion) >= newest);
      await world.kube.create(configMaps, configMap(namespace, "c", {}, { mine: "yes" }));
      assert.equal(await watching.nextChange(), "ADDED c");
    }),
    behaviour("WatchList of nothing is a bookmark at once", async (world) => {
      const namespace = await world.namespace();
      const watching = world.watch(configMaps, { namespace, labelSelector: "none=there", sendInitialEvents: true });
      const bookmark = await watching.next();
      assert.ok(bookmark?.type === "BOOKMARK" && bookmark.initialEventsEnd);
    }),
    behaviour("sendInitialEvents without resourceVersionMatch is refused", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`;
      const answer = await world.wire.get(path);
      assert.equal(answer.status, 422, answer.text);
      assert.match(
        answer.text,
        /resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
      );
    }),
    behaviour("the server ends a watch when its time is over", async (world) => {
      const namespace = await world.namespace();
      const start = await versionNow(world, namespace);
      const options = { namespace, fieldSelector: own, resourceVersion: start, timeoutSeconds: 1 };
      const watching = world.watch(configMaps, options);
      for (let event = await watching.next(); event !== undefined; event = await watching.next()) {
        assert.equal(event.type, "BOOKMARK");
      }
    }),
    behaviour("a watch from what is no resourceVersion is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps?watch=true&resourceVersion=none`);
      // The server's own status is 500 here, which says less than the refusal itself.
      assert.ok(answer.status >= 400, answer.text);
      assert.equal(at(answer.body, "kind"), "Status");
    }),
    behaviour("a watch from before the server's memory is Gone", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const namespace = made.metadata.namespace ?? "";
      // How long a server remembers is its own affair; sooner or later it has forgotten its first day.
      const probe = async (): Promise<unknown> => {
        const watching = world.watch(type, { namespace, resourceVersion: "1" });
        const refusal = await watching.next().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        watching.close();
        if (refusal === undefined) await touch(world, type, { namespace, name: "a" });
        return refusal;
      };
      const error = await eventually("the first resourceVersion to be forgotten", probe, 100_000);
      assert.ok(error instanceof Gone, String(error));
      assert.equal(error.status, 410);
      assert.match(error.message, /too old resource version: 1 \(\d+\)/);
    }),
    behaviour("every change of one object among many writers is seen once and in order", async (world) => {
      const namespace = await world.namespace();
      const start = await versionNow(world, namespace);
      const watching = world.watch(configMaps, { namespace, resourceVersion: start, fieldSelector: own });
      const names = ["a", "b", "c", "d"];
      const rounds = 10;
      await Promise.all(
        names.map(async (name) => {
          await world.kube.create(configMaps, configMap(namespace, name, { n: "0" }));
          for (let n = 1; n < rounds; n++) {
            const body = { data: { n: `${n}` } };
            await world.kube.patch(configMaps, { namespace, name }, { type: "merge", body });
          }
        }),
      );
      const seen = new Map<string, string[]>(names.map((name) => [name, []]));
      let lastVersion = 0n;
      for (let i = 0; i < names.length * rounds; i++) {
        const object = objectOf(await watching.next());
        const version = BigInt(object.metadata.resourceVersion ?? 0);
        assert.ok(version > lastVersion, "resourceVersions increase along a watch");
        lastVersion = version;
        seen.get(object.metadata.name)?.push((object.data as { n: string }).n);
      }
      const expected = Array.from({ length: rounds }, (_, n) => `${n}`);
      for (const name of names) assert.deepEqual(seen.get(name), expected, name);
    }),
  ],
};
