import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { refused } from "../expectations.ts";
import { configMaps } from "../kinds.ts";
import { configMap } from "../manifests.ts";
import { isGone } from "../watching.ts";

const modified = /the object has been modified; please apply your changes to the latest version and try again$/;

/** Optimistic concurrency: nobody overwrites what he has not seen. */
export const conflicts: BehaviourGroup = {
  name: "conflicts",
  behaviours: [
    behaviour("replace with an old resourceVersion is a Conflict and changes nothing", async (world) => {
      const namespace = await world.namespace();
      const first = await world.kube.create(configMaps, configMap(namespace, "a", { n: "1" }));
      await world.kube.replace(configMaps, { ...first, data: { n: "2" } });
      await refused(world.kube.replace(configMaps, { ...first, data: { n: "3" } }), {
        status: 409,
        code: "Conflict",
        message: modified,
      });
      assert.deepEqual((await world.kube.get(configMaps, { namespace, name: "a" })).data, { n: "2" });
    }),
    ...(["merge", "strategic"] as const).map((type) =>
      behaviour(`a ${type} patch that names an old resourceVersion is a Conflict`, async (world) => {
        const namespace = await world.namespace();
        const ref = { namespace, name: "a" };
        const first = await world.kube.create(configMaps, configMap(namespace, "a", { n: "1" }));
        await world.kube.replace(configMaps, { ...first, data: { n: "2" } });
        const { resourceVersion } = first.metadata;
        const body = { metadata: { resourceVersion }, data: { n: "3" } };
        await refused(world.kube.patch(configMaps, ref, { type, body }), {
          status: 409,
          code: "Conflict",
          message: modified,
        });
        assert.deepEqual((await world.kube.get(configMaps, ref)).data, { n: "2" });
      }),
    ),
    behaviour("a merge patch that names the present resourceVersion is applied", async (world) => {
      const namespace = await world.namespace();
      const first = await world.kube.create(configMaps, configMap(namespace, "a", { n: "1" }));
      const body = { metadata: { resourceVersion: first.metadata.resourceVersion }, data: { n: "2" } };
      const patched = await world.kube.patch(configMaps, { namespace, name: "a" }, { type: "merge", body });
      assert.deepEqual(patched.data, { n: "2" });
    }),
    behaviour("of many writers with one resourceVersion exactly one wins", async (world) => {
      const namespace = await world.namespace();
      const first = await world.kube.create(configMaps, configMap(namespace, "a", { n: "0" }));
      const writes = Array.from({ length: 8 }, (_, i) =>
        world.kube.replace(configMaps, { ...first, data: { n: `writer ${i}` } }),
      );
      const outcomes = await Promise.allSettled(writes);
      const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
      assert.equal(winners.length, 1);
      const read = await world.kube.get(configMaps, { namespace, name: "a" });
      assert.deepEqual(read.data, winners[0]?.value.data);
    }),
    behaviour("of many creators of one name exactly one wins", async (world) => {
      const namespace = await world.namespace();
      const creates = Array.from({ length: 8 }, (_, i) =>
        world.kube.create(configMaps, configMap(namespace, "a", { n: `${i}` })),
      );
      const outcomes = await Promise.allSettled(creates);
      assert.equal(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 1);
    }),
    behaviour("parallel merge patches without a resourceVersion all land", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      const keys = ["a", "b", "c", "d", "e"];
      const ref = { namespace, name: "a" };
      await Promise.all(
        keys.map((key) => world.kube.patch(configMaps, ref, { type: "merge", body: { data: { [key]: key } } })),
      );
      const read = await world.kube.get(configMaps, ref);
      assert.deepEqual(read.data, Object.fromEntries(keys.map((key) => [key, key])));
    }),
    behaviour("delete with another uid as precondition is a Conflict", async (world) => {
      const namespace = await world.namespace();
      const ref = { namespace, name: "a" };
      await world.kube.create(configMaps, configMap(namespace, "a"));
      await refused(world.kube.delete(configMaps, ref, { uid: "11111111-1111-4111-8111-111111111111" }), {
        status: 409,
        code: "Conflict",
        message:
          /the UID in the precondition \(11111111-1111-4111-8111-111111111111\) does not match the UID in record \(/,
      });
      assert.equal(await isGone(world.kube.get(configMaps, ref)), false);
    }),
    behaviour("delete with an old resourceVersion as precondition is a Conflict", async (world) => {
      const namespace = await world.namespace();
      const ref = { namespace, name: "a" };
      const first = await world.kube.create(configMaps, configMap(namespace, "a", { n: "1" }));
      const second = await world.kube.replace(configMaps, { ...first, data: { n: "2" } });
      await refused(world.kube.delete(configMaps, ref, { resourceVersion: first.metadata.resourceVersion ?? "" }), {
        status: 409,
        code: "Conflict",
        message: /the ResourceVersion in the precondition \(\d+\) does not match the ResourceVersion in record \(\d+\)/,
      });
      await world.kube.delete(configMaps, ref, {
        uid: second.metadata.uid ?? "",
        resourceVersion: second.metadata.resourceVersion ?? "",
      });
      assert.ok(await isGone(world.kube.get(configMaps, ref)));
    }),
    behaviour("a name made again is another object with another uid", async (world) => {
      const namespace = await world.namespace();
      const first = await world.kube.create(configMaps, configMap(namespace, "a"));
      await world.kube.delete(configMaps, { namespace, name: "a" });
      const second = await world.kube.create(configMaps, configMap(namespace, "a"));
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      await refused(world.kube.replace(configMaps, first), { status: 409, code: "Conflict" });
    }),
  ],
};
