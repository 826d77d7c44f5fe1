import assert from "node:assert/strict";
import { TooManyRequests } from "../../../src/kube/errors.ts";
import type { ResourceType } from "../../../src/kube/objects.ts";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at } from "../expectations.ts";
import { customResourceDefinitions } from "../kinds.ts";
import { kindManifest } from "../manifests.ts";
import { isGone } from "../watching.ts";
import type { World } from "../world.ts";

type Properties = Readonly<Record<string, unknown>>;

const schemaOf = (properties: Properties): Properties => ({
  type: "object",
  properties: { spec: { type: "object", properties } },
});

const version = (name: string, storage: boolean, properties: Properties): Properties => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: schemaOf(properties) },
});

const nameOf = (type: ResourceType): { readonly name: string } => ({ name: `${type.plural}.${type.group}` });

const setVersions = (world: World, type: ResourceType, versions: readonly Properties[]) =>
  world.kube.patch(customResourceDefinitions, nameOf(type), { type: "merge", body: { spec: { versions } } });

/** A server that prepares the storage of a kind anew, since its definition has changed, asks to be asked again. */
const oncePrepared = <T extends object>(ask: () => Promise<T>): Promise<T> =>
  eventually("the storage to be prepared", async () => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof TooManyRequests) return undefined;
      throw error;
    }
  });

const draft = async (world: World, type: ResourceType, spec: unknown) => ({
  apiVersion: `${type.group}/${type.version}`,
  kind: type.kind,
  metadata: { namespace: await world.namespace(), name: "a" },
  spec,
});

const plain = { a: { type: "string" } };

/** Custom kinds whose definition changes while there are objects of them, or that have several versions. */
export const changingKinds: BehaviourGroup = {
  name: "custom kinds that change",
  behaviours: [
    behaviour("a default that came later is read from older objects, and stored by the next write", async (world) => {
      const type = await world.defineKind({ schema: schemaOf(plain) });
      const made = await world.kube.create(type, await draft(world, type, { a: "1" }));
      await setVersions(world, type, [version("v1", true, { ...plain, b: { type: "string", default: "late" } })]);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const read = await eventually("the default to be read", async () => {
        const object = await oncePrepared(() => world.kube.get(type, ref));
        return at(object, "spec", "b") === undefined ? undefined : object;
      });
      assert.deepEqual(read.spec, { a: "1", b: "late" });
      assert.equal(read.metadata.resourceVersion, made.metadata.resourceVersion);
      const { items } = await oncePrepared(() => world.kube.list(type, { namespace: ref.namespace }));
      assert.deepEqual(items[0]?.spec, read.spec);
      const written = await oncePrepared(() => world.kube.patch(type, ref, { type: "merge", body: {} }));
      assert.notEqual(written.metadata.resourceVersion, made.metadata.resourceVersion);
      assert.equal(written.metadata.generation, 1);
    }),
    behaviour("what the storage version does not know is not kept", async (world) => {
      const type = await world.defineKind({ schema: schemaOf(plain) });
      const other: ResourceType = { ...type, version: "v2" };
      await setVersions(world, type, [
        version("v1", true, plain),
        version("v2", false, { ...plain, b: { type: "string", default: "two" } }),
      ]);
      await world.untilServed(other);
      const made = await eventually("v2 to be taken", async () =>
        world.kube.create(other, await draft(world, other, { a: "1", b: "x" })).catch(() => undefined),
      );
      assert.deepEqual([made.apiVersion, made.spec], [`${type.group}/v2`, { a: "1" }]);
    }),
    behaviour("each version shows the fields it knows", async (world) => {
      const type = await world.defineKind({ schema: schemaOf({ ...plain, c: { type: "string", default: "one" } }) });
      const made = await world.kube.create(type, await draft(world, type, { a: "1" }));
      await setVersions(world, type, [
        version("v1", true, { ...plain, c: { type: "string", default: "one" } }),
        version("v2", false, plain),
      ]);
      const other: ResourceType = { ...type, version: "v2" };
      await world.untilServed(other);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const read = await oncePrepared(() => world.kube.get(other, ref));
      assert.deepEqual(read.spec, { a: "1" });
    }),
    behaviour("a change of the kind ends its watches", async (world) => {
      const type = await world.defineKind({ schema: schemaOf(plain) });
      const made = await world.kube.create(type, await draft(world, type, { a: "1" }));
      const watching = world.watch(type, { resourceVersion: made.metadata.resourceVersion ?? "" });
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      await world.kube.patch(type, ref, { type: "merge", body: { spec: { a: "2" } } });
      assert.equal(await watching.nextChange(), "MODIFIED a");
      await setVersions(world, type, [version("v1", true, { ...plain, b: { type: "string" } })]);
      let event = await watching.next();
      while (event?.type === "BOOKMARK") event = await watching.next();
      assert.equal(event, undefined);
    }),
    behaviour("a definition just made has no names yet", async (world) => {
      const { manifest } = kindManifest(world.group(), { schema: schemaOf(plain) });
      world.removeAtEnd(customResourceDefinitions, manifest.metadata.name);
      const made = await world.kube.create(customResourceDefinitions, manifest);
      const status = { acceptedNames: { kind: "", plural: "" }, conditions: null, storedVersions: ["v1"] };
      assert.deepEqual(made.status, status);
    }),
    behaviour("a definition is not replaced without its resourceVersion", async (world) => {
      const { manifest } = kindManifest(world.group(), { schema: schemaOf(plain) });
      world.removeAtEnd(customResourceDefinitions, manifest.metadata.name);
      await world.kube.create(customResourceDefinitions, manifest);
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${manifest.metadata.name}`;
      const answer = await world.wire.put(path, manifest);
      assertStatus(answer, { status: 422, reason: "Invalid", message: /must be specified for an update/ });
    }),
    behaviour("a definition that is deleted says that it is going", async (world) => {
      const type = await world.defineKind({ schema: schemaOf(plain) });
      const going = await world.kube.delete(customResourceDefinitions, nameOf(type));
      assert.deepEqual(going?.metadata.finalizers, ["customresourcecleanup.apiextensions.k8s.io"]);
      assert.equal(going?.metadata.generation, 1);
      const conditions = at(going, "status", "conditions") as unknown[];
      assert.equal(at(conditions.at(-1), "type"), "Terminating");
      await eventually("the definition to be gone", async () => {
        return (await isGone(world.kube.get(customResourceDefinitions, nameOf(type)))) || undefined;
      });
    }),
  ],
};
