import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { NEVER_BY_ITSELF_MS } from "../bind-cluster/pod-keeper.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { SHOP, type Snapshot, SPARE, SYSTEM, UninstallScene } from "./uninstall-scene.ts";
import type { Told } from "./uninstall-world.ts";

const picked = await pickTarget();
const target = picked.name === "real" ? picked : embeddedTarget(undefined, { startupMs: NEVER_BY_ITSELF_MS });

/** Stands in every secret that a sandbox gives out. */
const CANARY = /sandbox-secret/;

/** One resource of each kind, rotated once; taken away with and without its keys, and installed again in between. */
describe(`taking Keyturn away, on the ${target.name} server`, { concurrency: 1, timeout: 1_800_000 }, () => {
  let scene: UninstallScene;
  let snapshot: Snapshot;
  let held: readonly string[];
  before(async () => {
    scene = await UninstallScene.set(target);
    await scene.install();
    await scene.populate();
    snapshot = await scene.snapshot();
    held = await scene.held();
  });
  after(() => scene?.close());

  const uninstall = async (...words: readonly string[]): Promise<Told> => {
    const call = ["uninstall", "-n", SYSTEM, "-o", "json", "--kubeconfig", scene.kubeconfig, "--timeout", "5m"];
    const { code, stdout, stderr } = await sayKeyturn([...call, ...words]);
    assert.doesNotMatch(stdout + stderr, CANARY);
    assert.deepEqual([code, stderr], [0, ""], `${stdout}\n${scene.log}`);
    return JSON.parse(stdout) as Told;
  };

  test("there is something to take away, of every kind", () => {
    assert.ok(snapshot.keys.length >= 6, "a key and a retired one of each of three");
    assert.deepEqual(snapshot.servers.length, 1);
    for (const kind of [
      "ServiceBinding",
      "ServiceCredentialBinding",
      "RotatingCredentialBinding",
      "RotatingResource",
    ]) {
      assert.ok(
        held.some((name) => name.startsWith(`${kind} `)),
        `${kind} in ${held.join()}`,
      );
    }
    assert.ok(held.includes(`RndcKey ${SPARE}/spare`));
    assert.ok(held.includes(`Secret ${SHOP}/login-btp`));
  });

  test("with its keys left: no finalizer, nothing else changed, nothing restarted", async () => {
    const told = await uninstall("--yes");
    assert.deepEqual([told.left, told.finalizers], [[], []]);
    assert.deepEqual(await scene.held(), []);
    assert.deepEqual(await scene.installed(), ["CustomResourceDefinition", "Namespace"]);
    assert.deepEqual(await scene.snapshot(), snapshot);
  });

  test("a namespace with a resource in it goes, without an operator", async () => {
    await scene.removeNamespace(SPARE);
  });

  test("installed again, everything is taken up as it is", async () => {
    await scene.install();
    await scene.untilHeld(held.filter((name) => !name.includes(SPARE)));
    await scene.untilLookedAt();
    const status = await sayKeyturn(["status", "--exit-code", "-A", "--kubeconfig", scene.kubeconfig]);
    assert.equal(status.code, 0, status.stdout);
    assert.deepEqual(await scene.snapshot(), withoutSpare(snapshot));
  });

  test("with its keys deleted: nothing is left, outside and here, but what is the user's own", async () => {
    const told = await uninstall("--keys", "delete", "--crds", "delete", "--yes");
    assert.deepEqual([told.left, told.finalizers], [[], []]);
    assert.deepEqual(scene.keys(), []);
    assert.deepEqual(await scene.objects(), []);
    assert.deepEqual(await scene.secretNames(), ["login-btp", "login-cloudfoundry"]);
    assert.deepEqual(await scene.installed(), ["Namespace"]);
    await scene.removeNamespace(SHOP);
    await scene.removeNamespace(SYSTEM);
  });
});

const withoutSpare = ({ resources, ...rest }: Snapshot): Snapshot => ({
  ...rest,
  resources: Object.fromEntries(
    Object.entries(resources).map(([kind, all]) => [
      kind,
      Object.fromEntries(Object.entries(all as object).filter(([name]) => !name.startsWith(`${SPARE}/`))),
    ]),
  ),
});
