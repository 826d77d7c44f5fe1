import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { serviceBindingName, vcapSecretName } from "../../src/korifi/names.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { KorifiControllersWorld } from "./korifi-world.ts";
import { assertRights, rightsUsedIn } from "./used-rights.ts";

const NAMES = ["cf-instances", "cf-bindings", "cf-apps"];

/** Each controller in a process of its own, twice: what a process has not written itself it looks at before it writes. */
async function told(): Promise<ReadonlyMap<string, readonly TransportRequest[]>> {
  const world = await KorifiControllersWorld.begin();
  await world.operator.stop();
  const requests = new Map<string, TransportRequest[]>(NAMES.map((name) => [name, []]));
  const during = async (work: () => Promise<unknown>): Promise<void> => {
    const operators = NAMES.map((name) => [name, world.alone(name)] as const);
    await world.pass(5_000);
    await work();
    await world.pass(40_000);
    for (const [name, operator] of operators) {
      requests.get(name)?.push(...operator.requests);
      await operator.stop();
    }
  };
  await during(async () => {
    await world.secret("mq", { credentials: '{"host":"mq"}' });
    await world.secret("rotated", { credentials: '{"user":"alice"}' });
    await world.instance("mq");
    await world.instance("db", { credentialsFrom: { secretName: "rotated" } });
    await world.bind("b1", "db");
    await world.bind("b2", "mq");
  });
  await during(() => world.change("rotated", { credentials: '{"user":"bob"}' }));
  await during(() => world.remove(secretType, vcapSecretName("shop")));
  await during(async () => {
    await world.change("rotated", { credentials: '{"user":"bob","type":"postgres"}' });
    await world.patch(serviceBindingType, serviceBindingName("b2"), { spec: { service: { name: "other" } } });
    await world.remove(cfServiceBinding, "b2");
  });
  await world.stop();
  return requests;
}

test("the rights of the controllers for service credentials are those that their calls need, no more and no fewer", async () => {
  const requests = await told();
  assert.equal(requests.size, NAMES.length);
  for (const name of NAMES) assertRights(name, rightsUsedIn(requests.get(name) ?? []));
});
