import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { configMaps, customResourceDefinitions, secrets } from "../kinds.ts";
import { ownerReference, secret } from "../manifests.ts";
import { isGone } from "../watching.ts";
import { makeWidget, widgets } from "../widgets.ts";
import type { World } from "../world.ts";

/** A real garbage collector looks for new kinds every 30 s only, and hears of no owner of a kind it does not know. */
const COLLECTOR_PATIENCE_MS = 90_000;

async function untilSecretGone(world: World, namespace: string): Promise<void> {
  const probe = async (): Promise<true | undefined> =>
    (await isGone(world.kube.get(secrets, { namespace, name: "published" }))) || undefined;
  await eventually("the Secret to be collected", probe, COLLECTOR_PATIENCE_MS);
}

const finalizer = "conformance.keyturn.dev/outside";

/** What an operator relies on between its own kinds and the objects it makes for them. */
export const ownership: BehaviourGroup = {
  name: "custom resources as owners",
  behaviours: [
    behaviour("a Secret goes with the custom resource that owns it", async (world) => {
      const type = await widgets(world);
      const owner = await makeWidget(world);
      const namespace = owner.metadata.namespace ?? "";
      const metadata = { namespace, name: "published", ownerReferences: [ownerReference(owner)] };
      await world.kube.create(secrets, { ...secret(namespace, "published", {}), metadata });
      await world.kube.delete(type, { namespace, name: "a" });
      await untilSecretGone(world, namespace);
    }),
    behaviour("a Secret goes with its cluster-scoped owner", async (world) => {
      const type = await world.sharedKind("realm", { kind: "Realm", schema: { type: "object" }, scope: "Cluster" });
      const namespace = await world.namespace();
      const name = world.unique("realm");
      const owner = await world.kube.create(type, {
        apiVersion: `${type.group}/v1`,
        kind: type.kind,
        metadata: { name },
      });
      const metadata = { namespace, name: "published", ownerReferences: [ownerReference(owner)] };
      await world.kube.create(secrets, { ...secret(namespace, "published", {}), metadata });
      await world.kube.delete(type, { name });
      await untilSecretGone(world, namespace);
    }),
    behaviour("a finalizer lets the operator clean up outside before the object is gone", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const held = await world.kube.patch(type, ref, {
        type: "merge",
        body: { metadata: { finalizers: [finalizer] } },
      });
      assert.equal(held.metadata.generation, 1, "a finalizer is no change of the spec");
      await world.kube.delete(type, ref);
      const marked = await world.kube.get(type, ref);
      assert.ok(marked.metadata.deletionTimestamp);
      assert.equal(marked.metadata.generation, 2, "the mark itself is one");
      const status = { type: "merge", body: { status: { phase: "Deleting" } } } as const;
      const reported = await world.kube.patch(type, ref, status, { subresource: "status" });
      assert.equal(at(reported, "status", "phase"), "Deleting", "the status can still be written");
      const { resourceVersion } = reported.metadata;
      const body = { metadata: { resourceVersion, finalizers: [] } };
      await world.kube.patch(type, ref, { type: "merge", body });
      assert.ok(await isGone(world.kube.get(type, ref)));
    }),
    behaviour("the intent in a status is written by compare-and-swap: of two, one wins", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const { resourceVersion } = made.metadata;
      const intend = (phase: string) => {
        const body = { metadata: { resourceVersion }, status: { phase } };
        return world.kube.patch(type, ref, { type: "merge", body }, { subresource: "status" });
      };
      const outcomes = await Promise.allSettled([intend("one"), intend("two"), intend("three")]);
      const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
      assert.equal(winners.length, 1);
      assert.deepEqual((await world.kube.get(type, ref)).status, winners[0]?.value.status);
    }),
    behaviour("the annotation that asks for a rotation makes no generation and is seen by a watch", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const namespace = made.metadata.namespace ?? "";
      const resourceVersion = made.metadata.resourceVersion ?? "";
      const watching = world.watch(type, { namespace, resourceVersion });
      const body = { metadata: { annotations: { "keyturn.dev/rotate": "now" } } };
      const patched = await world.kube.patch(type, { namespace, name: "a" }, { type: "merge", body });
      assert.equal(patched.metadata.generation, 1);
      assert.equal(await watching.nextChange(), "MODIFIED a");
    }),
    behaviour("apply with an old resourceVersion is a Conflict", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      await world.kube.patch(type, ref, { type: "merge", body: { spec: { replicas: 2 } } });
      const { apiVersion, kind } = made;
      const metadata = { name: "a", resourceVersion: made.metadata.resourceVersion };
      const body = { apiVersion, kind, metadata, spec: { owner: "team" } };
      const call = world.kube.patch(type, ref, { type: "apply", body, force: true }, { fieldManager: "me" });
      await refused(call, { status: 409, code: "Conflict", message: /the object has been modified/ });
    }),
    behaviour("the status is applied through its subresource and owned by who applied it", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const body = {
        apiVersion: made.apiVersion,
        kind: made.kind,
        metadata: { name: "a" },
        status: { phase: "Ready" },
      };
      const options = { fieldManager: "reporter", subresource: "status" };
      const applied = await world.kube.patch(type, ref, { type: "apply", body }, options);
      assert.deepEqual(applied.status, { phase: "Ready" });
      const entry = applied.metadata.managedFields?.find((field) => at(field, "manager") === "reporter");
      assert.equal(at(entry, "operation"), "Apply");
      assert.equal(at(entry, "subresource"), "status");
      assert.deepEqual(at(entry, "fieldsV1"), { "f:status": { "f:phase": {} } });
    }),
    behaviour("watchers of a kind see its objects go when the definition is deleted", async (world) => {
      const type = await world.defineKind({ schema: { type: "object" }, kind: "Fleeting" });
      const namespace = await world.namespace();
      const draft = { apiVersion: `${type.group}/v1`, kind: type.kind, metadata: { namespace, name: "a" } };
      const made = await world.kube.create(type, draft);
      const watching = world.watch(type, { namespace, resourceVersion: made.metadata.resourceVersion ?? "" });
      await world.kube.delete(customResourceDefinitions, { name: `${type.plural}.${type.group}` });
      const event = await watching.next();
      assert.equal(
        event?.type === "BOOKMARK" ? event.type : `${event?.type} ${event?.object.metadata.name}`,
        "DELETED a",
      );
    }),
    behaviour("an immutable object is replaced by deleting it and making it again", async (world) => {
      const namespace = await world.namespace();
      const draft = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "a" }, immutable: true };
      const first = await world.kube.create(configMaps, { ...draft, data: { k: "1" } });
      await world.kube.delete(configMaps, { namespace, name: "a" }, { uid: first.metadata.uid ?? "" });
      const second = await world.kube.create(configMaps, { ...draft, data: { k: "2" } });
      assert.notEqual(second.metadata.uid, first.metadata.uid);
    }),
  ],
};
