import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secrets, statefulSets } from "../conformance/kinds.ts";
import { bindingType, instanceType } from "../korifi/kinds.ts";
import type { KorifiScene } from "../korifi/korifi-scene.ts";
import { CANARY, KorifiWorld } from "../korifi/korifi-world.ts";
import { LegacyKorifi } from "../korifi/legacy-korifi.ts";
import { nameIn } from "../korifi/secret-texts.ts";
import { filesOf, versioned } from "../korifi/story.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type OpenedStage, openStage } from "../support/opened-stage.ts";
import { operatorAccess } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

const target = await pickTarget();
const COUNT = 2;
const FINALIZERS = {
  instance: "cfServiceInstance.korifi.cloudfoundry.org",
  binding: "cfServiceBinding.korifi.cloudfoundry.org",
};
/** Each in an operator of its own, with its own rights alone: those that run together may do what any of them may. */
const CONTROLLERS = ["cf-instances", "cf-bindings", "cf-apps", "restart"];
const FLAGS = ["--restart-quiet-period", "1s", "--korifi", "on"];

/** Services that Korifi looks after: their Secrets and their applications never notice. */
describe(`services of Korifi's on the ${target.name} server`, { concurrency: 1, timeout: 240_000 }, () => {
  let stage: OpenedStage;
  let world: KorifiWorld;
  let scene: KorifiScene;
  let korifi: LegacyKorifi;
  const operators: KeyturnOperator[] = [];
  let past: ReadonlyMap<string, string>;

  before(async () => {
    stage = await openStage({ target }, async (opened) => opened);
    world = await KorifiWorld.open(stage.kube);
    scene = await world.scene("import-cf");
  });
  after(async () => {
    for (const operator of operators) await operator.stop("SIGTERM");
    await world.close();
    await stage.ends.disposeAsync();
  });

  const keyturn = (...words: readonly string[]) =>
    sayKeyturn(["import", "korifi", "--all", "-n", scene.namespace, ...words, "--kubeconfig", stage.server.kubeconfig]);

  /** All Secrets with data and UID, and all pod templates. */
  const picture = async (): Promise<ReadonlyMap<string, string>> => {
    const { namespace } = scene;
    const { items: all } = await stage.kube.list(secrets, { namespace });
    const { items: sets } = await stage.kube.list(statefulSets, { namespace });
    const template = ({ spec }: KubeObject): unknown => (spec as { readonly template: unknown }).template;
    return new Map([
      ...all.map(
        (one) => [`Secret ${one.metadata.name}`, JSON.stringify([one.data, one.type, one.metadata.uid])] as const,
      ),
      ...sets.map((one) => [`StatefulSet ${one.metadata.name}`, JSON.stringify(template(one))] as const),
    ]);
  };

  test("there are some, with applications", async () => {
    korifi = await LegacyKorifi.set(scene, COUNT);
    for (const { instance, binding } of korifi.services) {
      await scene.patch(instanceType, instance, { metadata: { finalizers: [FINALIZERS.instance] } });
      await scene.patch(bindingType, binding, { metadata: { finalizers: [FINALIZERS.binding] } });
    }
    past = await picture();
  });

  test("imported, they hang on nothing of Korifi's, and are what they were", async () => {
    const { code, stdout, stderr } = await keyturn("--yes");
    assert.deepEqual([code, stderr], [0, ""], stdout);
    assert.match(stdout, new RegExp(`${COUNT} taken over\\.`));
    assert.ok(!stdout.includes(CANARY), "a value was shown");
    for (const { instance, binding } of korifi.services) {
      assert.deepEqual((await scene.get(instanceType, instance))?.metadata.finalizers ?? [], []);
      assert.deepEqual((await scene.get(bindingType, binding))?.metadata.finalizers ?? [], []);
    }
    assert.deepEqual(await picture(), past);
  });

  test("the operators take them over: no Secret that was there and no pod template changes", async () => {
    const end = (done: () => Promise<void>): void => void stage.ends.defer(done);
    for (const name of CONTROLLERS) {
      const access = await operatorAccess({ ...stage.server, name: target.name }, { controllers: [name] });
      operators.push(startKeyturnOperator({ ...access, flags: ["--controllers", name, ...FLAGS], after: end }));
    }
    for (const operator of operators) await operator.ready();
    for (const { instance } of korifi.services) {
      await scene.until(`${instance} to be taken over`, () => {
        return nameIn(scene.seen(instanceType, instance), "credentials") === `${instance}-migrated`;
      });
    }
    await scene.calm();
    const now = await picture();
    for (const [name, before] of past) assert.equal(now.get(name), before, name);
  });

  test("the next change of credentials reaches the application", async () => {
    const [service] = korifi.services;
    assert.ok(service);
    await scene.patch(instanceType, service.instance, { spec: { secretName: `${service.instance}-migrated` } });
    await scene.setCredentials(`${service.instance}-migrated`, versioned(2));
    await scene.gives(service.binding, filesOf(versioned(2)), service.app, versioned(2));
  });

  test("what is new beside them is made, and goes when its type changes", async () => {
    await scene.service("fresh", versioned(1));
    await scene.bind("fresh-app", { service: "fresh", app: "desk" });
    await scene.bind("fresh-key", { service: "fresh" });
    await scene.gives("fresh-app", filesOf(versioned(1)), "desk", versioned(1));
    await scene.gives("fresh-key", filesOf(versioned(1)));
    const former = nameIn(scene.seen(bindingType, "fresh-key"), "binding") ?? "";
    const queue = versioned(2, "queue");
    await scene.setCredentials("fresh", queue);
    await scene.gives("fresh-app", filesOf(queue), "desk", queue);
    await scene.gives("fresh-key", filesOf(queue));
    const isGone = (): boolean => scene.seen(secrets, former)?.type !== "servicebinding.io/database";
    await scene.until("the Secret of the former type to go", isGone);
    for (const binding of ["fresh-app", "fresh-key"]) await scene.delete(bindingType, binding);
    await scene.delete(instanceType, "fresh");
  });

  test("deleted, nothing hangs", async () => {
    for (const { instance, binding } of korifi.services) {
      await scene.delete(bindingType, binding);
      await scene.delete(instanceType, instance);
    }
    for (const { instance, binding } of korifi.services) {
      await scene.until(`${binding} to be gone`, () => scene.seen(bindingType, binding) === undefined);
      await scene.until(`${instance} to be gone`, () => scene.seen(instanceType, instance) === undefined);
    }
  });
});
