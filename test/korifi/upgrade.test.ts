import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { secretProtection } from "../../src/install/secret-protection.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { customResourceDefinitions, secrets, statefulSets } from "../conformance/kinds.ts";
import { typeOf } from "../install/type-of.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type OperatorAccess, operatorAccess } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import type { RunningTarget } from "../support/target.ts";
import { setCredentials } from "./command-stories.ts";
import { bindingType, instanceType, projectionType } from "./kinds.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { KorifiWorld } from "./korifi-world.ts";
import { type Legacy, LegacyKorifi } from "./legacy-korifi.ts";
import { fields, nameIn } from "./secret-texts.ts";
import { filesOf, versioned } from "./story.ts";

const target = await pickTarget();
/** Legacy services, each with a binding and an application that has opted in to restarts. A hundred take their time. */
const COUNT = target.name === "real" ? 100 : 10;
const skip = target.name !== "real" && "starts one more operator: npm run test:cluster";
/** Longer than a restart that is owed is waited for. */
const RESTART_MS = 8_000;
const OUR_LABEL = "app.kubernetes.io/part-of";

const CONTROLLERS = ["cf-instances", "cf-bindings", "cf-apps", "restart"];
const FLAGS = ["--controllers", CONTROLLERS.join(), "--restart-quiet-period", "5s"];

/** A Korifi that was there before: left alone first, then taken over, and nothing restarts until credentials change. */
describe(`a Korifi that was there before, on the ${target.name} server`, { timeout: 300_000 }, () => {
  const ends = new AsyncDisposableStack();
  const operators: KeyturnOperator[] = [];
  let server: RunningTarget;
  let access: OperatorAccess;
  let kube: Kube;
  let world: KorifiWorld;
  let scene: KorifiScene;
  let korifi: LegacyKorifi;
  let past: Past;

  const start = async (...flags: readonly string[]): Promise<KeyturnOperator> => {
    const last = operators.at(-1);
    if (last && !last.hasEnded) await last.stop("SIGTERM");
    const after = (end: () => Promise<void>): void => ends.defer(end);
    const words = [...FLAGS, "--log-level", "debug", ...flags];
    const operator = startKeyturnOperator({ ...access, flags: words, after });
    operators.push(operator);
    await operator.ready();
    return operator;
  };

  before(async () => {
    server = await target.start();
    ends.defer(() => server.stop());
    kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    await installDefinitions(kube);
    access = await operatorAccess({ ...server, name: target.name }, { controllers: CONTROLLERS });
    if (target.name === "real") ends.defer(() => installDefinitions(kube));
    for (const type of [instanceType, bindingType]) await label(kube, type, null);
    // People write what has become theirs, though what is published is protected.
    for (const object of access.account ? secretProtection(access.account) : []) {
      await kube.create(typeOf(object), object);
      ends.defer(async () => void (await kube.delete(typeOf(object), { name: object.metadata.name })));
    }
    world = await KorifiWorld.open(kube);
    ends.defer(() => world.close());
  });
  after(() => ends.disposeAsync());

  test("kinds that somebody else has installed are left alone", async () => {
    const operator = await start("--korifi", "auto");
    await isNotLookedAfter(await world.scene("theirs"));
    assert.match(operator.text, /are left alone.*is not Keyturn's/);
    await operator.stop("SIGTERM");
  });

  test("where somebody else writes the status of one object, all of its namespace are left alone", async () => {
    for (const type of [instanceType, bindingType]) await label(kube, type, "keyturn");
    scene = await world.scene("legacy");
    korifi = await LegacyKorifi.set(scene, COUNT);
    past = await Past.of(scene);
    const operator = await start("--korifi", "auto");
    await isNotLookedAfter(scene);
    await past.isLeftAlone(scene);
    assert.match(operator.text, /are left alone.*manager writes the status.*--korifi on/);
  });

  test("switched off, nothing is looked after", { skip }, async () => {
    await start("--korifi", "off");
    await isNotLookedAfter(await world.scene("off"));
    await past.isLeftAlone(scene);
  });

  test("taken over, all credentials are migrated, and no pod template, no Secret and no duck type changes", async () => {
    await start("--korifi", "on");
    for (const service of korifi.services) await migrated(scene, service);
    await scene.calm();
    await past.stays(scene);
    const names = world.history.live(bindingType, scene.namespace).map((binding) => nameIn(binding, "binding"));
    assert.deepEqual(names.sort(), korifi.services.map(({ instance }) => instance).sort());
  });

  test("pointed at its migrated Secret, as a change of credentials begins, an instance restarts nothing yet", async () => {
    const [{ instance } = missing()] = korifi.services;
    await scene.patch(instanceType, instance, { spec: { secretName: `${instance}-migrated` } });
    await scene.until("it to be seen", () => scene.isReady(instanceType, instance));
    await scene.calm();
    await past.stays(scene);
  });

  test("changed credentials move the duck type of just those bindings, and restart just those applications, once", async () => {
    const [byHand = missing(), byCommand = missing(), ...others] = korifi.services;
    await scene.setCredentials(`${byHand.instance}-migrated`, versioned(2));
    const text = JSON.stringify(versioned(2));
    const set = await setCredentials(scene, { kubeconfig: server.kubeconfig, instance: byCommand.instance, text });
    assert.equal(set.code, 0, set.stderr);
    for (const { instance, binding, app } of [byHand, byCommand]) {
      await scene.gives(binding, filesOf(versioned(2)), app, versioned(2));
      assert.equal(nameIn(await scene.get(bindingType, binding), "binding"), binding);
      const { secretName } = fields((await scene.get(instanceType, instance))?.spec);
      assert.equal(secretName, `${instance}-migrated`, "as the document has it");
      await scene.running(app, binding);
    }
    await scene.calm(RESTART_MS);
    for (const { app } of [byHand, byCommand]) {
      assert.equal(scene.rolls(app) - past.rolls(app), 1, `${app}: one restart`);
      assert.ok(scene.isCurrent(app), `${app}: its pod is newer than what it is given`);
    }
    past.excuse(byHand.app, byCommand.app);
    await past.stays(scene);
    const names = others.map(({ binding }) =>
      nameIn(world.history.find(bindingType, { namespace: scene.namespace, name: binding }), "binding"),
    );
    assert.deepEqual(
      names,
      others.map(({ instance }) => instance),
      "the others stay where they are",
    );
  });

  test("another start of the operator changes nothing", { skip }, async () => {
    past = await Past.of(scene);
    await start("--korifi", "on");
    await scene.calm();
    await past.isLeftAlone(scene);
  });

  test("the legacy Secret goes with its instance", async () => {
    assert.deepEqual(await world.problemsIn(scene.namespace), [], "nothing was wrong at any moment");
    const [{ instance, binding } = missing()] = korifi.services;
    assert.notEqual(await scene.secret(instance), undefined, "until then it stays");
    await scene.delete(bindingType, binding);
    await scene.delete(instanceType, instance);
    for (const name of [instance, `${instance}-migrated`, binding]) {
      await scene.until(`${name} to go`, () => scene.seen(secrets, name) === undefined);
    }
    const leaks = await world.leaks(operators.map((operator) => operator.text));
    assert.deepEqual(leaks, [], "values were seen");
  });
});

const missing = (): never => assert.fail("there is no legacy service");

/** Whose the kinds say they are. */
async function label(kube: Kube, { plural, group }: ResourceType, value: string | null): Promise<void> {
  const body = { metadata: { labels: { [OUR_LABEL]: value } } };
  await kube.patch(customResourceDefinitions, { name: `${plural}.${group}` }, { type: "merge", body });
}

/** A new service gets nothing, not even a status. */
async function isNotLookedAfter(scene: KorifiScene): Promise<void> {
  await scene.service("db", versioned(1));
  await scene.bind("web-db", { service: "db", app: "web" });
  await scene.calm();
  assert.equal(scene.services("web"), undefined);
  for (const [type, name] of [
    [instanceType, "db"],
    [bindingType, "web-db"],
  ] as const) {
    assert.equal((await scene.get(type, name))?.status, undefined);
    await scene.delete(type, name);
  }
  await scene.delete(secrets, "db");
}

/** Until the credentials of a legacy service are where they are kept from now on, and known to its binding. */
async function migrated(scene: KorifiScene, { instance, binding, app, credentials }: Legacy): Promise<void> {
  await scene.until(`${instance} to be migrated`, () => {
    const [one, two] = [scene.seen(instanceType, instance), scene.seen(bindingType, binding)];
    return [nameIn(one, "credentials"), nameIn(two, "credentials")].every((name) => name === `${instance}-migrated`);
  });
  const { type, texts } = (await scene.secret(`${instance}-migrated`)) ?? missing();
  assert.equal(type, "Opaque");
  assert.deepEqual(JSON.parse(texts.credentials ?? ""), credentials);
  assert.deepEqual(scene.entry(app, binding)?.credentials, credentials);
}

/** What was there at a moment: all Secrets, by version, and all pod templates. */
class Past {
  readonly #objects: ReadonlyMap<string, KubeObject>;
  readonly #rolls: ReadonlyMap<string, number>;
  readonly #excused = new Set<string>();

  private constructor(objects: ReadonlyMap<string, KubeObject>, rolls: ReadonlyMap<string, number>) {
    this.#objects = objects;
    this.#rolls = rolls;
  }

  static async of(scene: KorifiScene): Promise<Past> {
    const { history } = scene.world;
    await history.caughtUp(scene.namespace);
    const types = [secrets, statefulSets, instanceType, bindingType, projectionType];
    const objects = types.flatMap((type) => history.live(type, scene.namespace));
    const apps = history.live(statefulSets, scene.namespace).map(({ metadata }) => metadata.name);
    return new Past(
      new Map(objects.map((object) => [keyOf(object), object])),
      new Map(apps.map((app) => [app, scene.rolls(app)])),
    );
  }

  rolls(app: string): number {
    return this.#rolls.get(app) ?? missing();
  }

  /** These were changed, and what belongs to them with them. */
  excuse(...apps: readonly string[]): void {
    for (const app of apps) for (const name of [app, `${app}-vcap-services`]) this.#excused.add(name);
  }

  /** Nothing was written at all. */
  async isLeftAlone(scene: KorifiScene): Promise<void> {
    const types = [instanceType, bindingType, projectionType];
    await this.stays(scene, types);
    const count = [secrets, statefulSets, ...types].flatMap((type) => scene.world.history.live(type, scene.namespace));
    assert.equal(count.length, this.#objects.size, "nothing was made");
  }

  /** No template has changed, not even for a moment, and no Secret was written; nor anything else of these kinds. */
  async stays(scene: KorifiScene, types: readonly ResourceType[] = []): Promise<void> {
    const { history } = scene.world;
    await history.caughtUp(scene.namespace);
    const live = [secrets, statefulSets, ...types].flatMap((type) => history.live(type, scene.namespace));
    const now = new Map(live.map((object) => [keyOf(object), object]));
    const kinds = new Set([secrets, ...types].map(({ kind }) => kind));
    const known = [...this.#objects].filter(([, { metadata }]) => !this.#excused.has(metadata.name));
    const touched = known.filter(([key, { kind, metadata }]) => {
      return kinds.has(kind) && now.get(key)?.metadata.resourceVersion !== metadata.resourceVersion;
    });
    assert.deepEqual(
      touched.map(([key]) => key),
      [],
      "nothing that was there was written",
    );
    const rolled = [...this.#rolls].filter(([app, rolls]) => !this.#excused.has(app) && scene.rolls(app) !== rolls);
    assert.deepEqual(rolled, [], "no template has changed");
    const moved = known.filter(([key, object]) => {
      const [before, after] = [fields(object.spec).template, fields(now.get(key)?.spec).template];
      return object.kind === statefulSets.kind && !isDeepStrictEqual(before, after);
    });
    assert.deepEqual(
      moved.map(([key]) => key),
      [],
    );
  }
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;
