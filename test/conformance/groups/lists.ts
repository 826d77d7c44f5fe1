import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { configMaps } from "../kinds.ts";
import { configMap } from "../manifests.ts";
import type { World } from "../world.ts";

const mine = { mine: "yes" };

async function fill(world: World, names: readonly string[]): Promise<string> {
  const namespace = await world.namespace();
  for (const name of names) await world.kube.create(configMaps, configMap(namespace, name, { k: name }, mine));
  return namespace;
}

/** Lists, their order, and their pages. */
export const lists: BehaviourGroup = {
  name: "lists and paging",
  behaviours: [
    behaviour("a list is ordered by name and carries a resourceVersion", async (world) => {
      const namespace = await fill(world, ["c", "a", "b"]);
      const list = await world.kube.list(configMaps, { namespace, labelSelector: "mine" });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["a", "b", "c"],
      );
      const newest = Math.max(...list.items.map((item) => Number(item.metadata.resourceVersion)));
      assert.ok(Number(list.resourceVersion) >= newest);
    }),
    behaviour("an empty list is an empty array", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=none`;
      const answer = await world.wire.get(path);
      assert.equal(at(answer.body, "kind"), "ConfigMapList");
      assert.deepEqual(at(answer.body, "items"), []);
    }),
    behaviour("a list in a namespace that does not exist is empty", async (world) => {
      const list = await world.kube.list(configMaps, { namespace: world.unique("nowhere") });
      assert.deepEqual(list.items, []);
    }),
    behaviour("items of a built-in list carry no apiVersion and kind on the wire", async (world) => {
      const namespace = await fill(world, ["a"]);
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps?labelSelector=mine`);
      assert.equal(at(answer.body, "items", 0, "kind"), undefined);
      assert.equal(at(answer.body, "items", 0, "metadata", "name"), "a");
    }),
    behaviour("pages follow each other without gap or overlap", async (world) => {
      const names = ["a", "b", "c", "d", "e"];
      const namespace = await fill(world, names);
      const fieldSelector = "metadata.name!=kube-root-ca.crt";
      const seen: string[] = [];
      const versions = new Set<string>();
      let token: string | undefined;
      do {
        const page = await world.kube.list(configMaps, {
          namespace,
          fieldSelector,
          limit: 2,
          ...(token !== undefined && { continue: token }),
        });
        assert.ok(page.items.length <= 2);
        seen.push(...page.items.map((item) => item.metadata.name));
        versions.add(page.resourceVersion);
        token = page.continue;
      } while (token !== undefined && token !== "");
      assert.deepEqual(seen, names);
      assert.equal(versions.size, 1, "all pages show one moment");
    }),
    behaviour("pages show the moment of the first, whatever is written in between", async (world) => {
      const namespace = await fill(world, ["a", "b", "c", "d"]);
      const selection = { namespace, labelSelector: "mine" };
      const first = await world.kube.list(configMaps, { ...selection, limit: 2 });
      await world.kube.delete(configMaps, { namespace, name: "c" });
      await world.kube.create(configMaps, configMap(namespace, "cc", {}, mine));
      const second = await world.kube.list(configMaps, { ...selection, limit: 2, continue: first.continue ?? "" });
      assert.deepEqual(
        second.items.map((item) => item.metadata.name),
        ["c", "d"],
      );
    }),
    behaviour("a page says how many items remain, unless a selector hides it", async (world) => {
      const namespace = await fill(world, ["a", "b", "c"]);
      const all = await world.kube.list(configMaps, { namespace });
      const page = await world.kube.list(configMaps, { namespace, limit: 1 });
      assert.ok(page.remainingItemCount !== undefined && page.remainingItemCount >= 2);
      assert.ok(page.remainingItemCount <= all.items.length + 1);
      const selected = await world.kube.list(configMaps, { namespace, limit: 1, labelSelector: "mine" });
      assert.equal(selected.remainingItemCount, undefined);
      assert.notEqual(selected.continue ?? "", "");
    }),
    behaviour("a limit that takes everything gives no token", async (world) => {
      const namespace = await fill(world, ["a", "b"]);
      const page = await world.kube.list(configMaps, { namespace, labelSelector: "mine", limit: 10 });
      assert.equal(page.items.length, 2);
      assert.equal(page.continue ?? "", "");
    }),
    behaviour("a continue token that nobody gave out is refused", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.list(configMaps, { namespace, limit: 1, continue: "invented" }), {
        status: 400,
        code: "BadRequest",
        message: /continue key is not valid/,
      });
    }),
    behaviour("a continue token and a resourceVersion together are refused", async (world) => {
      const namespace = await fill(world, ["a", "b"]);
      const first = await world.kube.list(configMaps, { namespace, limit: 1 });
      const options = { namespace, limit: 1, continue: first.continue ?? "", resourceVersion: first.resourceVersion };
      await refused(world.kube.list(configMaps, options), {
        status: 400,
        code: "BadRequest",
        message: /specifying resource version is not allowed when using continue/,
      });
    }),
    behaviour("resourceVersion 0 is answered from what the server has at hand", async (world) => {
      const namespace = await fill(world, ["a"]);
      const list = await world.kube.list(configMaps, { namespace, resourceVersion: "0" });
      assert.ok(Number(list.resourceVersion) > 0);
    }),
    behaviour("NotOlderThan gives at least that moment", async (world) => {
      const namespace = await fill(world, ["a"]);
      const made = await world.kube.get(configMaps, { namespace, name: "a" });
      const list = await world.kube.list(configMaps, {
        namespace,
        labelSelector: "mine",
        resourceVersion: made.metadata.resourceVersion ?? "",
        resourceVersionMatch: "NotOlderThan",
      });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["a"],
      );
      assert.ok(Number(list.resourceVersion) >= Number(made.metadata.resourceVersion));
    }),
    behaviour("Exact gives that moment", async (world) => {
      const namespace = await fill(world, ["a"]);
      const { resourceVersion } = await world.kube.list(configMaps, { namespace });
      await world.kube.create(configMaps, configMap(namespace, "b", {}, mine));
      const selection = { namespace, labelSelector: "mine" };
      const list = await world.kube.list(configMaps, { ...selection, resourceVersion, resourceVersionMatch: "Exact" });
      assert.deepEqual(
        list.items.map((item) => item.metadata.name),
        ["a"],
      );
      assert.equal(list.resourceVersion, resourceVersion);
    }),
    behaviour("resourceVersionMatch without a resourceVersion is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps?resourceVersionMatch=Exact`);
      assertStatus(answer, {
        status: 422,
        reason: "Invalid",
        message:
          /resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided/,
      });
    }),
    behaviour("a resourceVersion that is no version is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps?resourceVersion=abc`);
      assertStatus(answer, { status: 400, reason: "BadRequest", message: /[Ii]nvalid resource version/ });
    }),
    behaviour("a list across namespaces holds objects of each", async (world) => {
      const namespace = await fill(world, ["a"]);
      const label = world.unique("run");
      await world.kube.create(configMaps, configMap(namespace, "b", {}, { run: label }));
      await world.kube.create(configMaps, configMap("default", label, {}, { run: label }));
      const list = await world.kube.list(configMaps, { labelSelector: `run=${label}` });
      assert.deepEqual(list.items.map((item) => item.metadata.namespace).sort(), [namespace, "default"].sort());
      await world.kube.delete(configMaps, { namespace: "default", name: label });
    }),
    behaviour("deletecollection deletes what the selector names", async (world) => {
      const namespace = await fill(world, ["a", "b"]);
      await world.kube.create(configMaps, configMap(namespace, "kept"));
      const answer = await world.wire.delete(`/api/v1/namespaces/${namespace}/configmaps?labelSelector=mine%3Dyes`);
      assert.equal(answer.status, 200, answer.text);
      const { items } = await world.kube.list(configMaps, {
        namespace,
        fieldSelector: "metadata.name!=kube-root-ca.crt",
      });
      assert.deepEqual(
        items.map((item) => item.metadata.name),
        ["kept"],
      );
    }),
  ],
};
