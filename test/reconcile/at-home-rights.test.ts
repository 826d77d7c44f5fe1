import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig as btpConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { providerConfig as cloudFoundryConfig } from "../../src/api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { controllerNeeds } from "../../src/install/permissions.ts";
import { keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { CREDENTIALS_SECRET as SERVICE_MANAGER } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { CREDENTIALS_SECRET as FOUNDATION } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { BtpWorld } from "./btp-world.ts";
import { CloudFoundryWorld } from "./cloud-foundry-world.ts";
import { rightsUsedIn } from "./used-rights.ts";
import { WorldOperator } from "./world-operator.ts";

interface Case {
  readonly controller: string;
  readonly world: BtpWorld | CloudFoundryWorld;
  readonly type: ResourceType;
  readonly configType: ResourceType;
  readonly credentials: ObjectRef;
}

const CASES: readonly Case[] = [
  {
    controller: "btp",
    world: new BtpWorld(),
    type: serviceBinding,
    configType: btpConfig,
    credentials: SERVICE_MANAGER,
  },
  {
    controller: "cloudfoundry",
    world: new CloudFoundryWorld(),
    type: serviceCredentialBinding,
    configType: cloudFoundryConfig,
    credentials: FOUNDATION,
  },
];

/** An operator of some namespaces has these rights where it runs, for the credentials of ProviderConfigs and nothing else. */
for (const { controller, world, type, configType, credentials } of CASES) {
  test(`${controller}: the rights at home are those that the credentials of a ProviderConfig need`, async (context) => {
    await world.populate();
    const operator = new WorldOperator(world);
    context.after(() => operator.stop());
    await world.clock.advance(2_000);
    await world.create("orders");
    await world.clock.advance(10_000);
    const { finalizers = [] } = (await world.kube.get(secretType, credentials)).metadata;
    assert.deepEqual(finalizers, ["keyturn.dev/in-use"]);
    await world.kube.delete(type, { name: "orders" });
    await world.clock.advance(60_000);
    await world.kube.delete(configType, { name: (await world.kube.list(configType)).items[0]?.metadata.name ?? "" });
    await world.clock.advance(60_000);
    assert.deepEqual((await world.kube.get(secretType, credentials)).metadata.finalizers ?? [], []);
    const [namespace, name] = keyOf(credentials).split("/");
    const path = `/namespaces/${namespace}/secrets/${name}`;
    const asked = operator.requests.filter((request) => request.path.split("?")[0]?.endsWith(path));
    const granted = controllerNeeds.get(controller)?.atHome ?? [];
    const rights = granted.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} /${resource}`)),
    );
    assert.deepEqual([...rightsUsedIn(asked)].sort(), rights.sort());
  });
}

test("no other controller has any there", () => {
  const having = [...controllerNeeds].filter(([, { atHome = [] }]) => atHome.length > 0).map(([name]) => name);
  assert.deepEqual(
    having,
    CASES.map(({ controller }) => controller),
  );
});
