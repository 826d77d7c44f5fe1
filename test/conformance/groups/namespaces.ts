import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused, settles } from "../expectations.ts";
import { configMaps, namespaces as namespaceType, serviceAccounts } from "../kinds.ts";
import { configMap } from "../manifests.ts";
import { isGone } from "../watching.ts";

/** Namespaces: what comes with one, and what goes with it. */
export const namespaces: BehaviourGroup = {
  name: "namespaces",
  behaviours: [
    behaviour("a new namespace is Active, named by a label and held by the kubernetes finalizer", async (world) => {
      const read = await world.kube.get(namespaceType, { name: await world.namespace() });
      assert.equal(at(read, "status", "phase"), "Active");
      assert.deepEqual(at(read, "spec", "finalizers"), ["kubernetes"]);
      assert.equal(read.metadata.labels?.["kubernetes.io/metadata.name"], read.metadata.name);
    }),
    behaviour("the server starts with default and kube-system", async (world) => {
      const { items } = await world.kube.list(namespaceType);
      const names = items.map((item) => item.metadata.name);
      for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
        assert.ok(names.includes(name), name);
    }),
    behaviour("a new namespace gets a default ServiceAccount and the cluster's certificate", async (world) => {
      const namespace = await world.namespace();
      await settles(async () => {
        await world.kube.get(serviceAccounts, { namespace, name: "default" });
        const certificate = await world.kube.get(configMaps, { namespace, name: "kube-root-ca.crt" });
        assert.match(String(at(certificate, "data", "ca.crt")), /BEGIN CERTIFICATE/);
      });
    }),
    behaviour("a namespace's name is a DNS label", async (world) => {
      const draft = { apiVersion: "v1", kind: "Namespace", metadata: { name: "dotted.name" } };
      await refused(world.kube.create(namespaceType, draft), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.name"],
        message: /metadata\.name: Invalid value: "dotted\.name": must not contain dots/,
      });
    }),
    behaviour("deleting a namespace deletes what is in it, then the namespace", async (world) => {
      const name = await world.namespace();
      await world.kube.create(configMaps, configMap(name, "a"));
      const marked = await world.kube.delete(namespaceType, { name });
      assert.equal(at(marked, "status", "phase"), "Terminating");
      await eventually("the namespace to be gone", async () => {
        return (await isGone(world.kube.get(namespaceType, { name }))) || undefined;
      });
      assert.deepEqual((await world.kube.list(configMaps, { namespace: name })).items, []);
    }),
    behaviour("nothing new can be made in a namespace that is being deleted", async (world) => {
      const name = await world.namespace();
      const finalizers = ["conformance.keyturn.dev/hold"];
      const held = { ...configMap(name, "held"), metadata: { namespace: name, name: "held", finalizers } };
      await world.kube.create(configMaps, held);
      await world.kube.delete(namespaceType, { name });
      const error = await refused(world.kube.create(configMaps, configMap(name, "late")), {
        status: 403,
        code: "Forbidden",
        message: `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      });
      assert.equal(error.causes[0]?.reason, "NamespaceTerminating");
      assert.equal(await isGone(world.kube.get(namespaceType, { name })), false, "the finalizer holds it");
      const body = { metadata: { finalizers: null } };
      await world.kube.patch(configMaps, { namespace: name, name: "held" }, { type: "merge", body });
      await eventually("the namespace to be gone", async () => {
        return (await isGone(world.kube.get(namespaceType, { name }))) || undefined;
      });
    }),
    behaviour("the default namespace cannot be deleted", async (world) => {
      await refused(world.kube.delete(namespaceType, { name: "default" }), {
        status: 403,
        code: "Forbidden",
        message: /this namespace may not be deleted/,
      });
    }),
  ],
};
