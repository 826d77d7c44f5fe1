import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serviceBinding } from "../api/btp/service-binding.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { type DashboardWorld, dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import { bindingKind } from "./made-up-objects.fixture.ts";
import type { Action } from "./wire.ts";

const { forceAnnotation } = bindingKind;

const read = (kube: Kube, name: string): Promise<KubeObject> => kube.get(serviceBinding, { name });

const annotationsOf = async (kube: Kube, name: string): Promise<Readonly<Record<string, string>>> =>
  (await read(kube, name)).metadata.annotations ?? {};

async function shown(world: DashboardWorld, name: string): Promise<{ readonly id: string; readonly seen: unknown }> {
  const { json } = await world.ask(`/api/credential?id=ServiceBinding/${name}`);
  return { id: json.row.id, seen: json.seen };
}

describe("buttons", () => {
  test("two pages that press the same at once ask for one rotation, and one of them is told so", async (t) => {
    const world = await dashboardWorld();
    t.after(() => world.close());
    await putBinding(world.kube, "orders");
    const wish = { ...(await shown(world, "orders")), action: "rotate" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.ask("/api/action", { body: wish })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
    const { metadata } = await read(world.kube, "orders");
    assert.match(metadata.annotations?.[forceAnnotation] ?? "", /^dashboard-after-key-1-/);
    assert.equal(metadata.generation, 1, "nothing else was changed");
    const managers = (metadata.managedFields ?? []).map((entry) => (entry as { manager?: string }).manager);
    assert.ok(managers.includes("keyturn-dashboard"), `${managers}`);
  });

  test("a state that is over is not acted on, and nothing is written", async (t) => {
    const world = await dashboardWorld();
    t.after(() => world.close());
    await putBinding(world.kube, "orders");
    const { id, seen } = await shown(world, "orders");
    const old = seen as { uid: string; sequence: number };
    const table: readonly (readonly [reason: string, action: Action, seen: object])[] = [
      ["another key was made since", "rotate", { ...old, sequence: 0 }],
      ["another key was made since, compromised", "compromised", { ...old, sequence: 7 }],
      ["another resource has its name", "rotate", { ...old, uid: "another" }],
      ["another resource has its name, frozen", "freeze", { ...old, uid: "another" }],
      ["it is not frozen", "unfreeze", old],
    ];
    const before = await read(world.kube, "orders");
    for (const [reason, action, wrong] of table) {
      const { status, json } = await world.ask("/api/action", { body: { id, action, seen: wrong } });
      assert.deepEqual([status, json.error.code], [409, "StateMovedOn"], reason);
      assert.match(json.error.message, /nothing was changed/, reason);
    }
    assert.equal((await read(world.kube, "orders")).metadata.resourceVersion, before.metadata.resourceVersion);
  });

  test("while a key is being made, or asked for, no other one is; a leak can still be told", async (t) => {
    const world = await dashboardWorld();
    t.after(() => world.close());
    const atProvider = { id: "a", name: "a", createdDate: "2026-01-01T00:00:00Z", sequence: 1, madeFrom: "m" };
    const pending = { name: "orders-2", sequence: 2, since: "2026-01-02T00:00:00Z", madeFrom: "m" };
    await putBinding(world.kube, "orders", { status: { atProvider, sequence: 2, pending } });
    const wish = await shown(world, "orders");
    assert.equal((await world.ask("/api/action", { body: { ...wish, action: "rotate" } })).status, 409);
    assert.equal((await world.ask("/api/action", { body: { ...wish, action: "compromised" } })).status, 200);
    assert.equal((await world.ask("/api/action", { body: { ...wish, action: "compromised" } })).status, 409);
  });

  test("freeze and unfreeze do what the commands do", async (t) => {
    const world = await dashboardWorld();
    t.after(() => world.close());
    await putBinding(world.kube, "orders");
    const wish = await shown(world, "orders");
    await world.ask("/api/action", { body: { ...wish, action: "freeze" } });
    assert.equal((await annotationsOf(world.kube, "orders"))["keyturn.dev/freeze"], "true");
    const { json } = await world.ask("/api/credential?id=ServiceBinding/orders");
    assert.equal(json.row.isFrozen, true);
    await world.ask("/api/action", { body: { ...wish, action: "unfreeze" } });
    assert.equal((await annotationsOf(world.kube, "orders"))["keyturn.dev/freeze"], undefined);
  });

  test("a dashboard that only shows changes nothing, and offers nothing", async (t) => {
    const world = await dashboardWorld({ mayChange: false });
    t.after(() => world.close());
    await putBinding(world.kube, "orders");
    const { json } = await world.ask("/api/credential?id=ServiceBinding/orders");
    assert.deepEqual(json.actions, []);
    assert.match(json.refusal, /^This dashboard only shows/);
    const body = { id: json.row.id, action: "freeze", seen: json.seen };
    const { status, json: refusal } = await world.ask("/api/action", { body });
    assert.deepEqual([status, refusal.error.code], [403, "NotPermitted"]);
    assert.equal((await annotationsOf(world.kube, "orders"))["keyturn.dev/freeze"], undefined);
  });
});
