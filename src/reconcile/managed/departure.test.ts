import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { Conflict, NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Happening } from "../../report/event-recorder.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { bindingOf } from "../btp/btp-objects.fixture.ts";
import { createServiceBindingKind } from "../btp/service-binding-kind.ts";
import { installKinds } from "../objects.fixture.ts";
import { depart } from "./departure.ts";
import { FINALIZER } from "./managed-kind.ts";
import { ManagedReporter } from "./managed-reporter.ts";
import { marksOf, ownerOf } from "./marks.ts";
import { INSTANCE, MemoryConnection } from "./memory-connection.fixture.ts";

const CLUSTER = "cluster-1";
const SETTLE_MS = 300_000;
const kind = createServiceBindingKind({ settleMs: SETTLE_MS });
const { signal } = new AbortController();
const createdDate = "2025-11-01T00:00:00Z";
const retired = (id: string) => ({
  id,
  name: id,
  createdDate,
  retiredDate: createdDate,
  replacedDate: createdDate,
  deletionDate: "2025-12-01T00:00:00Z",
});
const WITH_KEYS = {
  atProvider: { id: "active", name: "name-active", createdDate, sequence: 3 },
  sequence: 3,
  retiredKeys: [retired("old-1"), retired("old-2")],
};

interface Setup {
  readonly status?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly finalizers?: readonly string[];
  readonly isSkewed?: boolean;
  readonly instanceId?: string | undefined;
}

/** A resource that somebody has just deleted. */
async function leaving(setup: Setup = {}) {
  const { kube, clock } = embeddedCluster();
  await installKinds(kube);
  const startedAt = clock.now() - 3_600_000;
  const { finalizers = [FINALIZER], status = WITH_KEYS, spec = {} } = setup;
  const metadata = { name: "orders", finalizers };
  const made = await kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId: INSTANCE, metadata, spec }));
  await kube.replace(serviceBinding, { ...made, status }, { subresource: "status" });
  await kube.delete(serviceBinding, { name: "orders" });
  const connection = new MemoryConnection();
  const owner = ownerOf(kind, made);
  for (const [sequence, id] of ["old-1", "old-2", "active"].entries()) {
    if (status === WITH_KEYS) connection.put(id, marksOf(owner, CLUSTER, sequence + 1));
  }
  const told: Happening[] = [];
  const events = { record: async (_: KubeObject, happening: Happening) => void told.push(happening) };
  const reporter = new ManagedReporter({ events, nowAt: () => clock.now() });
  const get = (): Promise<KubeObject | undefined> =>
    kube.get(serviceBinding, { name: "orders" }).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
  const run = async (): Promise<Outcome> => {
    const object = (await get()) ?? made;
    const instanceId = "instanceId" in setup ? setup.instanceId : INSTANCE;
    const outside = { connection, instanceId };
    const common = { kind, kube, clock, clusterId: CLUSTER, startedAt, reporter, signal };
    return depart({
      ...common,
      isSkewed: () => setup.isSkewed ?? false,
      object,
      spec: kind.readDeparture(object),
      outside,
    });
  };
  const takeAway = async (): Promise<void> => {
    await kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: { metadata: { finalizers: null } } });
  };
  const remake = async (): Promise<void> => {
    await takeAway();
    await kube.create(serviceBinding, bindingOf({ instanceId: INSTANCE, metadata, spec }));
  };
  return { clock, connection, owner, told, get, run, takeAway, remake };
}

const isGone = async ({ get }: { readonly get: () => Promise<KubeObject | undefined> }): Promise<boolean> =>
  (await get()) === undefined;

test("all keys go, then the finalizer, and each deletion is told once", async () => {
  const world = await leaving();
  assert.deepEqual(await world.run(), { kind: "settled", isOver: true });
  assert.deepEqual(world.connection.ids, []);
  assert.ok(await isGone(world));
  assert.deepEqual(
    world.told.map(({ reason, id }) => `${reason} ${id}`),
    ["KeyDeleted old-1", "KeyDeleted old-2", "KeyDeleted active"],
  );
});

test("while a retired key cannot be deleted, the others of its kind go, the active one stays, and so does the resource", async () => {
  const world = await leaving();
  world.connection.stuck.add("old-1");
  await assert.rejects(world.run(), /old-1 cannot be deleted now/);
  assert.deepEqual(world.connection.ids, ["active", "old-1"]);
  assert.equal(await isGone(world), false);
  world.connection.stuck.clear();
  await world.run();
  assert.deepEqual(world.connection.ids, []);
  assert.ok(await isGone(world));
});

test("keys that are only on their way out are waited for", async () => {
  const world = await leaving();
  world.connection.isSlow = true;
  for (const left of [3, 1]) {
    assert.deepEqual(await world.run(), { kind: "recheck", at: world.clock.now() + 800 });
    assert.equal(world.connection.ids.length, left);
    assert.equal(await isGone(world), false);
    world.connection.finish();
  }
  assert.deepEqual(await world.run(), { kind: "settled", isOver: true });
  assert.ok(await isGone(world));
});

test("a key that the status knows and no list shows is asked for by its id", async () => {
  const world = await leaving();
  world.connection.unlisted.add("active").add("old-2");
  await world.run();
  assert.deepEqual(world.connection.ids, []);
});

test("keys that are not ours stay, whatever status and lists say of them", async () => {
  const world = await leaving();
  world.connection.put("active", marksOf({ ...world.owner, uid: "other", name: "other" }, CLUSTER, 1));
  world.connection.put("old-1");
  await world.run();
  assert.deepEqual(world.connection.ids, ["active", "old-1"]);
});

test("with Orphan, or without the right to delete, working keys are set free and told of; the others go", async () => {
  for (const spec of [{ deletionPolicy: "Orphan" }, { managementPolicies: ["Observe", "Create", "Update"] }]) {
    const world = await leaving({ spec });
    world.connection.put("old-2", marksOf(world.owner, CLUSTER, 2), "failed");
    await world.run();
    assert.deepEqual(world.connection.ids, ["active", "old-1"], JSON.stringify(spec));
    for (const { marks } of world.connection.keys.values()) assert.equal(marks, undefined);
    const [orphaned] = world.told;
    assert.deepEqual([orphaned?.reason, orphaned?.id], ["KeysOrphaned", "active,old-1"]);
    assert.ok(await isGone(world));
  }
});

test("whoever was slow to leave lays no hand on the keys of a resource that was made anew meanwhile", async () => {
  for (const spec of [{}, { deletionPolicy: "Orphan" }]) {
    const world = await leaving({ spec });
    const marks = [...world.connection.keys.values()];
    world.connection.onListed = () => world.remake();
    await assert.rejects(world.run(), Conflict);
    assert.deepEqual([...world.connection.keys.values()], marks, JSON.stringify(spec));
  }
});

test("what is left of a resource that somebody took away by hand meanwhile goes all the same", async () => {
  const world = await leaving();
  world.connection.onListed = () => world.takeAway();
  await assert.rejects(world.run(), NotFound);
  assert.deepEqual(world.connection.ids, []);
});

const PENDING = { sequence: 4, pending: { name: "next", sequence: 4, since: "2025-11-05T13:00:00Z", madeFrom: "x" } };

test("with a create under way nobody leaves before it can have landed, and what landed goes too", async () => {
  const world = await leaving({ status: PENDING });
  const first = await world.run();
  assert.equal(first.kind, "recheck");
  assert.ok(first.kind === "recheck" && first.at > world.clock.now() && first.at <= world.clock.now() + SETTLE_MS);
  await world.clock.advance(60_000);
  world.connection.put("late", marksOf(world.owner, CLUSTER, 4));
  await world.clock.advance(SETTLE_MS);
  await world.run();
  assert.deepEqual(world.connection.ids, []);
  assert.ok(await isGone(world));
});

test("a key that was made under the pending name and has no marks yet goes too; somebody else's of that name stays", async () => {
  const theirs = marksOf({ uid: "other", kind: "ServiceBinding", name: "other" }, CLUSTER, 1);
  for (const [found, left] of [
    [{ isUnmarkedYet: true }, []],
    [{ marks: theirs }, ["made"]],
    [{}, ["made"]],
  ] as const) {
    const world = await leaving({ status: PENDING });
    const { connection, clock } = world;
    connection.keys.set("made", { ...connection.put("made"), name: "next", ...found });
    await world.run();
    await clock.advance(2 * SETTLE_MS);
    await world.run();
    assert.deepEqual(connection.ids, left, JSON.stringify(found));
    assert.ok(await isGone(world));
  }
});

test("where the instance is gone, or can be none, nothing is looked for by name", async () => {
  for (const trouble of [{ hasInstance: false }, { refusesInstance: true }]) {
    const world = await leaving({ status: PENDING });
    Object.assign(world.connection, trouble);
    world.connection.findByName = () => assert.fail("there is nothing to be found there");
    await world.clock.advance(2 * SETTLE_MS);
    await world.run();
    assert.ok(await isGone(world), JSON.stringify(trouble));
  }
});

test("a clock that cannot be trusted does not tell that a create has landed", async () => {
  const world = await leaving({ status: PENDING, isSkewed: true });
  await world.clock.advance(10 * SETTLE_MS);
  assert.equal((await world.run()).kind, "recheck");
  assert.equal(await isGone(world), false);
});

test("an instance that is gone has taken its keys along; one that nobody finds has not", async () => {
  const gone = await leaving();
  gone.connection.hasInstance = false;
  await gone.run();
  assert.ok(await isGone(gone));
  assert.equal(gone.connection.ids.length, 3, "nothing was deleted that is not there");
  const lost = await leaving({ instanceId: undefined });
  lost.connection.hasInstance = false;
  await lost.run();
  assert.deepEqual(lost.connection.ids, [], "its keys are found by their marks");
});

test("an instance that cannot be one at all keeps nobody: what there is tells by its marks", async () => {
  const world = await leaving();
  world.connection.refusesInstance = true;
  await world.run();
  assert.deepEqual(world.connection.ids, []);
  assert.ok(await isGone(world));
});

test("a key of an instance that the resource had before goes, though the one of now is gone", async () => {
  const world = await leaving();
  const { connection } = world;
  connection.keys.set("old-1", { ...connection.put("old-1", marksOf(world.owner, CLUSTER, 1)), instanceId: "before" });
  connection.hasInstance = false;
  await world.run();
  assert.deepEqual(connection.ids, ["active", "old-2"], "those of the instance that is gone are not asked for");
  assert.ok(await isGone(world));
});

test("other people's finalizers stay, and without ours there is nothing to do", async () => {
  const shared = await leaving({ finalizers: [FINALIZER, "example.org/audit"] });
  await shared.run();
  assert.deepEqual((await shared.get())?.metadata.finalizers, ["example.org/audit"]);
  const requests = shared.connection.requests;
  assert.deepEqual(await shared.run(), { kind: "settled", isOver: true });
  assert.equal(shared.connection.requests, requests);
});
