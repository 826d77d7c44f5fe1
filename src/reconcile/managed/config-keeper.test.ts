import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../api/btp/provider-config.ts";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../kube/objects.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { createLogWriter } from "../../runtime/log-writer.ts";
import { createBtpFamily } from "../btp/btp-family.ts";
import { bindingOf, CREDENTIALS_SECRET, putProviderConfig } from "../btp/btp-objects.fixture.ts";
import { serviceBindingKind as kind } from "../btp/service-binding-kind.ts";
import { installKinds } from "../objects.fixture.ts";
import { type ConfigIndex, ConfigKeeper, CREDENTIALS_LABEL, holdFast } from "./config-keeper.ts";
import { secretsOf } from "./family-watches.ts";
import type { SweepResult } from "./sweep.ts";

const SWEEP_MS = 3_600_000;
const IN_USE = "keyturn.dev/in-use";
const { signal } = new AbortController();

/** What the watches know, as the test says. */
class Watched implements ConfigIndex {
  userCount = 0;
  held: readonly SecretAddress[] = [];
  needed: readonly SecretAddress[] = [];

  users(): number {
    return this.userCount;
  }
  heldSecrets(): readonly SecretAddress[] {
    return this.held;
  }
  neededSecrets(): readonly SecretAddress[] {
    return this.needed;
  }
}

async function start() {
  const { kube, clock, server } = embeddedCluster();
  await installKinds(kube);
  await putProviderConfig(kube, { clientid: "me" });
  const index = new Watched();
  const swept: string[] = [];
  const lines: string[] = [];
  const world = { result: { removed: 0, problems: [] } as SweepResult };
  const keeper = new ConfigKeeper({
    kind,
    configType: providerConfig,
    secretsOf: (config) => secretsOf(createBtpFamily(), config),
    kube,
    clock,
    logger: createLogWriter({ clock, level: "info", format: "json", write: (line) => lines.push(line) }),
    index,
    sweepMs: SWEEP_MS,
    sweep: async ({ metadata }) => {
      swept.push(metadata.name);
      return world.result;
    },
  });
  const hold = async (type: ResourceType, ref: ObjectRef): Promise<void> => {
    const labels = type === secretType ? { [CREDENTIALS_LABEL]: "btp" } : {};
    await holdFast(kube, type, await kube.get(type, ref), { labels, signal });
  };
  const isHeld = async (type: ResourceType, ref: ObjectRef): Promise<boolean | undefined> => {
    try {
      return (await kube.get(type, ref)).metadata.finalizers?.includes(IN_USE) ?? false;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  };
  /** As a binding leaves it that has made its connection. */
  const use = async (): Promise<void> => {
    await hold(providerConfig, { name: "default" });
    await hold(secretType, CREDENTIALS_SECRET);
    index.held = [CREDENTIALS_SECRET];
    index.needed = [CREDENTIALS_SECRET];
    index.userCount = 1;
  };
  const held = async (): Promise<readonly (boolean | undefined)[]> => [
    await isHeld(providerConfig, { name: "default" }),
    await isHeld(secretType, CREDENTIALS_SECRET),
  ];
  const abandon = (): void => {
    index.userCount = 0;
    index.needed = [];
  };
  return { kube, clock, server, index, keeper, world, swept, lines, hold, use, held, isHeld, abandon };
}

test("what is used is held, with everything else on it left as it was; once is enough", async () => {
  const { kube, server, hold, isHeld } = await start();
  const metadata = { labels: { team: "platform" }, finalizers: ["example.org/backup"] };
  await kube.patch(secretType, CREDENTIALS_SECRET, { type: "merge", body: { metadata } });
  await hold(secretType, CREDENTIALS_SECRET);
  const held = (await kube.get(secretType, CREDENTIALS_SECRET)).metadata;
  assert.deepEqual(held.finalizers, ["example.org/backup", IN_USE]);
  assert.deepEqual(held.labels, { team: "platform", [CREDENTIALS_LABEL]: "btp" });
  const { revision } = server.store;
  await hold(secretType, CREDENTIALS_SECRET);
  assert.equal(server.store.revision, revision, "nothing is written again");
  await hold(providerConfig, { name: "default" });
  await kube.delete(providerConfig, { name: "default" });
  assert.equal(await isHeld(providerConfig, { name: "default" }), true);
});

test("what is on its way out is not held any more: the API server would refuse", async () => {
  const { kube, hold, isHeld } = await start();
  const body = { metadata: { finalizers: ["example.org/backup"] } };
  await kube.patch(providerConfig, { name: "default" }, { type: "merge", body });
  await kube.delete(providerConfig, { name: "default" });
  await hold(providerConfig, { name: "default" });
  assert.equal(await isHeld(providerConfig, { name: "default" }), false);
});

test("configuration and Secret are let go with the last user, and not before", async () => {
  const { keeper, use, held, abandon } = await start();
  await use();
  await keeper.reconcile("default", signal);
  assert.deepEqual(await held(), [true, true]);
  abandon();
  await keeper.reconcile("default", signal);
  assert.deepEqual(await held(), [false, false]);
});

test("which Secret is let go can be read in the log", async () => {
  const { keeper, use, abandon, lines } = await start();
  await use();
  abandon();
  await keeper.reconcile("default", signal);
  assert.match(lines.join(""), /not needed any more".*"secretName":"default\/service-manager"/);
});

test("a watch that is behind lets nothing go: the server knows of the user", async () => {
  const { kube, keeper, use, held, abandon } = await start();
  await use();
  await kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId: "i-1", metadata: { name: "orders" } }));
  abandon();
  await keeper.reconcile("default", signal);
  assert.deepEqual(await held(), [true, true]);
});

test("a configuration that is deleted goes at once when nobody needs it, and its Secret with it", async () => {
  const { kube, keeper, use, held, abandon } = await start();
  await use();
  await kube.delete(providerConfig, { name: "default" });
  await kube.delete(secretType, CREDENTIALS_SECRET);
  await keeper.reconcile("default", signal);
  assert.deepEqual(await held(), [true, true], "somebody needs them");
  abandon();
  assert.deepEqual(await keeper.reconcile("default", signal), { kind: "settled" });
  assert.deepEqual(await held(), [undefined, undefined]);
});

test("a configuration whose finalizer was taken off and that is gone leaves no Secret held", async () => {
  const { kube, keeper, use, held, abandon } = await start();
  await use();
  const body = { metadata: { finalizers: [] } };
  await kube.patch(providerConfig, { name: "default" }, { type: "merge", body });
  await kube.delete(providerConfig, { name: "default" });
  abandon();
  assert.deepEqual(await keeper.reconcile("default", signal), { kind: "settled", isOver: true });
  assert.deepEqual(await held(), [undefined, false]);
});

const OTHER = { namespace: "default", name: "other-credentials" };

/** The configuration refers to another Secret from now on. */
async function moveOn({ kube, hold, index }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata: OTHER });
  const body = { spec: { serviceManagerSecret: { secretRef: OTHER } } };
  await kube.patch(providerConfig, { name: "default" }, { type: "merge", body });
  await hold(secretType, OTHER);
  index.held = [CREDENTIALS_SECRET, OTHER];
}

test("a Secret that its configuration has left is let go, the new one stays, though the users stay too", async () => {
  const world = await start();
  await world.use();
  await moveOn(world);
  world.index.needed = [OTHER];
  await world.keeper.reconcile("default", signal);
  assert.deepEqual(await world.held(), [true, false]);
  assert.equal(await world.isHeld(secretType, OTHER), true);
});

test("a Secret that the watch does not know to be needed yet is not let go", async () => {
  const world = await start();
  await world.use();
  await moveOn(world);
  // The watch of configurations is behind that of Secrets.
  world.index.needed = [CREDENTIALS_SECRET];
  await world.keeper.reconcile("default", signal);
  assert.equal(await world.isHeld(secretType, OTHER), true);
});

test("a Secret that two configurations share is held as long as one of them is used", async () => {
  const world = await start();
  await world.use();
  const { kube, keeper, index, hold, abandon, held } = world;
  const { spec } = await kube.get(providerConfig, { name: "default" });
  const apiVersion = "account.btp.sap.crossplane.io/v1alpha1";
  await kube.create<KubeObject>(providerConfig, { apiVersion, kind: "ProviderConfig", metadata: { name: "b" }, spec });
  await hold(providerConfig, { name: "b" });
  abandon();
  index.needed = [CREDENTIALS_SECRET];
  await keeper.reconcile("default", signal);
  assert.deepEqual(await held(), [false, true]);
});

test("each configuration is swept once a period, the first time within one", async () => {
  const { clock, keeper, swept } = await start();
  const first = await keeper.reconcile("default", signal);
  assert.deepEqual(swept, []);
  assert.ok(first.kind === "recheck" && first.at > clock.now() && first.at <= clock.now() + SWEEP_MS);
  await clock.advance(first.kind === "recheck" ? first.at - clock.now() : 0);
  assert.deepEqual(await keeper.reconcile("default", signal), { kind: "recheck", at: clock.now() + SWEEP_MS });
  assert.deepEqual(swept, ["default"]);
  await clock.advance(SWEEP_MS / 2);
  assert.deepEqual(await keeper.reconcile("default", signal), { kind: "recheck", at: clock.now() + SWEEP_MS / 2 });
  assert.deepEqual(swept, ["default"], "a change in between is no reason");
  clock.jump(10 * SWEEP_MS);
  await keeper.reconcile("default", signal);
  assert.deepEqual(swept, ["default"], "nor is a wall clock that jumps");
});

test("a sweep that went wrong is told, and what could be removed is not tried again before its time", async () => {
  const { clock, keeper, world, swept } = await start();
  world.result = { removed: 1, problems: [new Error("one key is stuck")] };
  await clock.advance(SWEEP_MS);
  await assert.rejects(keeper.reconcile("default", signal), /one key is stuck/);
  assert.equal((await keeper.reconcile("default", signal)).kind, "recheck");
  assert.deepEqual(swept, ["default"]);
});

test("one on its way out is not swept", async () => {
  const { kube, clock, keeper, use, swept } = await start();
  await use();
  await kube.delete(providerConfig, { name: "default" });
  await clock.advance(SWEEP_MS);
  assert.deepEqual(await keeper.reconcile("default", signal), { kind: "settled" });
  assert.deepEqual(swept, []);
});
