import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { BtpWorld } from "./btp-world.ts";
import { CloudFoundryWorld } from "./cloud-foundry-world.ts";
import { WorldOperator } from "./world-operator.ts";

/** What fails, however rarely it is tried again, keeps nothing else of the same resource from happening in its time. */
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const rotation = { frequency: "12m", ttl: "14m" };

const sequenceOf = async (world: BtpWorld): Promise<unknown> =>
  ((await world.get("orders")).status as { readonly sequence?: number }).sequence;

test("a retired key that nobody can delete keeps no rotation from beginning within a second", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(() => operator.stop());
  await world.clock.advance(2 * SECOND_MS);
  await world.create("orders", { rotation });
  await world.clock.advance(2 * SECOND_MS);
  const madeAt = world.sandbox.liveBindings()[0]?.createdAt ?? 0;
  await world.clock.advance(12 * MINUTE_MS);
  assert.equal(await sequenceOf(world), 2);
  world.sandbox.controls.putInstance({ brokerFailures: "always", brokerFailsOn: "unbind" }, world.instanceId);
  for (let sequence = 3; sequence <= 6; sequence++) {
    const dueAt = madeAt + (sequence - 1) * 12 * MINUTE_MS;
    await world.clock.advance(dueAt - world.clock.now() - SECOND_MS);
    assert.equal(await sequenceOf(world), sequence - 1, "not before its time");
    await world.clock.advance(3 * SECOND_MS);
    assert.equal(await sequenceOf(world), sequence, "in its time");
  }
  world.sandbox.controls.putInstance({ brokerFailures: 0 }, world.instanceId);
  await world.clock.advance(6 * MINUTE_MS);
  assert.ok(world.sandbox.liveBindings().length <= 2, "what was in the way goes as soon as it can");
});

/** A person has tried to delete the active key, and the broker would not: it works, and gives its credentials no more. */
async function halfDeleted(world: CloudFoundryWorld): Promise<string> {
  const { guid } = (await world.statusOf("orders")).atProvider;
  world.sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "unbind" }, world.instanceId);
  await world.deleteByHand(guid);
  await world.clock.advance(5 * SECOND_MS);
  return guid;
}

const damageSecret = (world: CloudFoundryWorld): Promise<unknown> =>
  world.kube.delete(secretType, { namespace: "default", name: "orders-secret" });

async function operated(around: Parameters<CloudFoundryWorld["create"]>[1]) {
  const world = new CloudFoundryWorld();
  await world.populate();
  const operator = new WorldOperator(world, { driftCheckMs: 60 * MINUTE_MS });
  await world.clock.advance(2 * SECOND_MS);
  await world.create("orders", around);
  await world.clock.advance(5 * SECOND_MS);
  return { world, operator };
}

test("a Secret whose key gives its credentials no more gets another key, and nobody has to ask for it", async (context) => {
  for (const around of [{}, { rotation: undefined }]) {
    const { world, operator } = await operated(around);
    context.after(() => operator.stop());
    const guid = await halfDeleted(world);
    await damageSecret(world);
    await world.clock.advance(10 * SECOND_MS);
    assert.ok(await world.secretWorks("orders"));
    const { atProvider } = await world.statusOf("orders");
    assert.notEqual(atProvider.guid, guid);
    assert.deepEqual(
      atProvider.retiredKeys?.map((key) => [key.guid, key.cause]),
      [[guid, "ill"]],
    );
  }
});

test("while that is frozen it is said, looked at again now and then, and done once it is let go", async (context) => {
  const { world, operator } = await operated({});
  context.after(() => operator.stop());
  await world.patch("orders", { metadata: { annotations: { "keyturn.dev/freeze": "true" } } });
  await halfDeleted(world);
  await damageSecret(world);
  await world.clock.advance(10 * SECOND_MS);
  assert.match(await world.problemOf("orders"), /^False CredentialsUnavailable: the Secret is damaged/);
  operator.traffic();
  await world.clock.advance(61 * MINUTE_MS);
  const { reads, writes } = operator.traffic();
  assert.deepEqual(writes, [], "the same problem again writes nothing");
  const looks = reads.filter((read) => read === `GET ${serviceCredentialBinding.plural}`).length;
  assert.ok(looks >= 1 && looks <= 6, `looked at ${looks} times in an hour`);
  await world.patch("orders", { metadata: { annotations: { "keyturn.dev/freeze": null } } });
  await world.clock.advance(10 * SECOND_MS);
  assert.ok(await world.secretWorks("orders"));
});
