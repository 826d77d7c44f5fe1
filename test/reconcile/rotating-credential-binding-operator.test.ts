import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { RotatingWorld } from "./rotating-world.ts";
import { WorldOperator } from "./world-operator.ts";

const MINUTE_MS = 60_000;
const rotation = { frequency: "12m", ttl: "14m" };

const counted = (requests: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const request of requests) counts[request] = (counts[request] ?? 0) + 1;
  return counts;
};

async function begun(context: TestContext): Promise<{ world: RotatingWorld; operator: WorldOperator }> {
  const world = new RotatingWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(async () => {
    await operator.stop();
    await world.server.stop();
  });
  await world.clock.advance(2_000);
  await world.createParent("orders", {}, { rotation });
  await world.clock.advance(10_000);
  await world.assertHealthy("orders");
  operator.traffic();
  return { world, operator };
}

test("what a rotation costs, of parent and child together, its deletion included", async (context) => {
  const { world, operator } = await begun(context);
  const begin = Date.parse((await world.parentStatus("orders")).atProvider.createdAt);

  await context.test("until something is due nothing is asked for", async () => {
    await world.clock.advance(begin + 12 * MINUTE_MS - 1_000 - world.clock.now());
    assert.deepEqual(operator.traffic(), { writes: [], reads: [], outside: [] });
  });

  await context.test("the writes of both, each counted", async () => {
    await world.clock.advance(MINUTE_MS);
    assert.equal((await world.children()).length, 2);
    const rotated = operator.traffic();
    assert.deepEqual(counted(rotated.writes), {
      // The parent: intent, the child's UID, and the end; its Secret; external-name.
      "PUT rotatingcredentialbindings/status": 3,
      "POST servicecredentialbindings": 1,
      "PATCH rotatingcredentialbindings": 1,
      "PUT secrets": 1,
      // The child: finalizer and external-name; intent and end; its Secret. An event from each of the two.
      "PATCH servicecredentialbindings": 2,
      "PUT servicecredentialbindings/status": 2,
      "POST secrets": 1,
      "POST events": 2,
    });
    await world.clock.advance(2 * MINUTE_MS);
    assert.equal((await world.children()).length, 1);
    const expired = operator.traffic();
    assert.deepEqual(counted(expired.writes), {
      "DELETE servicecredentialbindings": 1,
      // The child's finalizer; the garbage collector does the rest.
      "PATCH servicecredentialbindings": 1,
      "PUT rotatingcredentialbindings/status": 1,
      "POST events": 2,
    });
    await world.assertHealthy("orders");
  });
});

test("whatever happens to a child or a Secret is heard of at once, and put right", async (context) => {
  const { world } = await begun(context);
  const { atProvider } = await world.parentStatus("orders");
  const secrets = ["orders-secret", atProvider.name].map((name) => ({ namespace: "default", name }));
  for (const address of secrets) {
    await world.kube.patch(secretType, address, { type: "merge", body: { stringData: { password: "mine" } } });
    await world.clock.advance(3_000);
    await world.assertHealthy("orders");
    await world.kube.delete(secretType, address);
    await world.clock.advance(3_000);
    await world.assertHealthy("orders");
  }
  assert.equal((await world.parentStatus("orders")).atProvider.uid, atProvider.uid);
  await world.kube.delete(serviceCredentialBinding, { name: atProvider.name });
  await world.clock.advance(5_000);
  assert.notEqual((await world.assertHealthy("orders")).atProvider.uid, atProvider.uid);
});

test("a key that the child has made anew is in the stable Secret as soon as it is in the child's", async (context) => {
  const { world } = await begun(context);
  const { atProvider } = await world.parentStatus("orders");
  const annotations = { "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation": "now" };
  const before = await world.secretOf("orders");
  await world.kube.patch(
    serviceCredentialBinding,
    { name: atProvider.name },
    { type: "merge", body: { metadata: { annotations } } },
  );
  await world.clock.advance(5_000);
  const after = await world.secretOf("orders");
  assert.notDeepEqual(after, before);
  assert.deepEqual(after, await world.dataOf(atProvider.name));
  assert.ok(await world.secretWorks("orders"));
  assert.equal((await world.parentStatus("orders")).sequence, 1, "no other child");
});

test("deleting the parent takes everything along, and metrics tell of parents too", async (context) => {
  const { world, operator } = await begun(context);
  assert.equal(await operator.metric('keyturn_credentials{kind="RotatingCredentialBinding"}'), "1");
  assert.equal(await operator.metric('keyturn_credentials{kind="ServiceCredentialBinding"}'), "1");
  await world.clock.advance(12 * MINUTE_MS);
  assert.equal((await world.children()).length, 2);
  await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
  await world.clock.advance(10_000);
  await assert.rejects(world.parent("orders"), /not found/);
  assert.deepEqual([await world.children(), world.live(), await world.secretNames()], [[], [], []]);
});
