import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asObject, asText } from "../kinds/json-fields.ts";
import { StatusError } from "../status-error.ts";
import { conditionOf } from "./conditions.ts";
import { deployment, World } from "./world.fixture.ts";

const NAMESPACES = "/v1/namespaces";
const MAPS = "/v1/configmaps";

describe("a namespace", () => {
  test("comes with its ServiceAccount and the cluster's CA, and keeps them", async () => {
    const world = await World.running({ namespace: "home" });
    assert.deepEqual(world.names("/v1/serviceaccounts"), ["default"]);
    assert.deepEqual(asObject(world.get(MAPS, "kube-root-ca.crt").data), { "ca.crt": "PEM" });
    world.delete(MAPS, "kube-root-ca.crt");
    world.delete("/v1/serviceaccounts", "default");
    await world.settle();
    assert.deepEqual(world.names("/v1/serviceaccounts"), ["default"]);
    world.patch(MAPS, "kube-root-ca.crt", { data: { "ca.crt": "forged" } });
    await world.settle();
    assert.deepEqual(asObject(world.get(MAPS, "kube-root-ca.crt").data), { "ca.crt": "PEM" });
  });

  test("that is deleted takes everything in it along", async () => {
    const world = await World.running({ namespace: "home" });
    world.create("apps/v1/deployments", deployment("web"));
    world.create("/v1/secrets", { metadata: { name: "s" } });
    await world.pass(2000);
    world.delete(NAMESPACES, "home");
    const ending = world.get(NAMESPACES, "home");
    assert.equal(asObject(ending.status).phase, "Terminating");
    await world.pass(3000);
    assert.equal(world.find(NAMESPACES, "home"), undefined);
    assert.deepEqual(
      world.registry
        .all()
        .filter((kind) => kind.namespaced)
        .flatMap((kind) => world.objects.list(kind, {}).items),
      [],
    );
  });

  test("waits for finalizers, says so, and takes nothing new", async () => {
    const world = await World.running({ namespace: "home" });
    world.create(MAPS, { metadata: { name: "held", finalizers: ["example.com/hold"] } });
    world.delete(NAMESPACES, "home");
    await world.pass(1000);
    const { status } = world.get(NAMESPACES, "home");
    assert.equal(
      asText(conditionOf(status, "NamespaceContentRemaining")?.message),
      "Some resources are remaining: configmaps. has 1 resource instances",
    );
    assert.equal(
      asText(conditionOf(status, "NamespaceFinalizersRemaining")?.message),
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    );
    assert.throws(
      () => world.create(MAPS, { metadata: { name: "late" } }),
      (error) => error instanceof StatusError && error.status === 403,
    );
    const { revision } = world.store;
    await world.pass(60_000);
    assert.equal(world.store.revision, revision, "waiting writes nothing");
    world.patch(MAPS, "held", { metadata: { finalizers: null } });
    await world.pass(1000);
    assert.equal(world.find(NAMESPACES, "home"), undefined);
  });

  test("that the cluster itself needs cannot be deleted", async () => {
    const world = await World.running();
    assert.throws(
      () => world.delete(NAMESPACES, "default"),
      (error) =>
        error instanceof StatusError &&
        error.status === 403 &&
        error.message === 'namespaces "default" is forbidden: this namespace may not be deleted',
    );
  });
});
