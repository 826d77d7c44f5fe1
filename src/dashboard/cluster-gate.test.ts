import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import type { Redacted } from "../base/redacted.ts";
import { Unreachable } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { ClusterGate } from "./cluster-gate.ts";
import { dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import { parentEntry } from "./made-up-objects.fixture.ts";
import { ReadModel } from "./read-model.ts";
import { type MadeUpUser, openKube, reviewingKube, viewerKube } from "./viewer-kube.fixture.ts";

/** A gate with two users, and a model with one RotatingResource in each of two namespaces. */
function gateWorld() {
  const clock = new ManualClock();
  const model = new ReadModel({ clock, logger: silentLogger });
  for (const namespace of ["shop", "bank"]) {
    model.put(parentEntry(namespace, "key"));
  }
  const ada: MadeUpUser = { name: "ada", rights: new Set(managedKinds.map(({ type }) => `list ${type.kind}`)) };
  const bob: MadeUpUser = { name: "bob", rights: new Set(["list RotatingResource shop"]) };
  const users = new Map([
    ["token-of-ada", ada],
    ["token-of-bob", bob],
  ]);
  const asked: string[] = [];
  const nothing = {} as Kube;
  const kube = reviewingKube(nothing, users, asked);
  const gate = new ClusterGate({ kube, kubeFor: () => nothing, model, clock });
  return { clock, model, users, ada, bob, asked, gate };
}

describe("who is let in", () => {
  test("whom the cluster knows, by the name that it has for them; others are told so", async () => {
    const { gate } = gateWorld();
    assert.equal((await gate.admit("token-of-ada")).name, "ada");
    await assert.rejects(gate.admit("made-up"), { code: "NotAdmitted" });
  });

  test("a token is asked about once a minute, and one that is over opens nothing after that", async () => {
    const { gate, asked, users, clock } = gateWorld();
    await gate.admit("token-of-ada");
    await gate.admit("token-of-ada");
    assert.deepEqual(asked, ["token of ada"]);
    users.delete("token-of-ada");
    await clock.advance(59_000);
    await gate.admit("token-of-ada");
    await clock.advance(2_000);
    await assert.rejects(gate.admit("token-of-ada"), { code: "NotAdmitted" });
  });

  test("an API server that does not answer is no reason to let anybody in, or to call them a stranger", async () => {
    const { model, clock } = gateWorld();
    const down = { ...openKube({} as Kube), create: () => Promise.reject(new Unreachable("down")) };
    const gate = new ClusterGate({ kube: down, kubeFor: () => down, model, clock });
    await assert.rejects(gate.admit("token-of-ada"), { code: "CannotServe" });
  });

  test("many tokens at once do not keep the API server busy", async () => {
    const { model, clock } = gateWorld();
    const never = { ...openKube({} as Kube), create: () => new Promise<never>(() => {}) };
    const gate = new ClusterGate({ kube: never, kubeFor: () => never, model, clock });
    for (let count = 0; count < 16; count++) void gate.admit(`made-up-${count}`);
    await assert.rejects(gate.admit("one-more"), { code: "CannotServe" });
  });
});

describe("what is seen", () => {
  test("of a kind everything, or what is in namespaces that may be listed, and what is missing is said", async () => {
    const { gate, model } = gateWorld();
    const seen = async (token: string): Promise<readonly string[]> => {
      const sight = await (await gate.admit(token)).sight();
      return [...model.entries()].filter((entry) => sight.sees(entry)).map(({ id }) => id);
    };
    assert.deepEqual(await seen("token-of-ada"), ["RotatingResource/shop/key", "RotatingResource/bank/key"]);
    assert.deepEqual(await seen("token-of-bob"), ["RotatingResource/shop/key"]);
    const { unseen } = await (await gate.admit("token-of-bob")).sight();
    assert.ok(unseen.includes("RotatingResource.keyturn.dev: you may list them only in shop"), unseen.join("\n"));
    assert.ok(
      unseen.every((words) => !words.includes("bank")),
      "nothing is said of what may not be known",
    );
  });

  test("a right that was taken away counts within half a minute", async () => {
    const { gate, ada, clock } = gateWorld();
    const guest = await gate.admit("token-of-ada");
    const before = await guest.sight();
    ada.rights.delete("list RotatingResource");
    assert.equal((await guest.sight()).key, before.key);
    await clock.advance(31_000);
    assert.notEqual((await guest.sight()).key, before.key);
  });
});

test("lists are cut, details refused and changes left to the API server, by the rights of whoever asks", async (t) => {
  const ada: MadeUpUser = { name: "ada", rights: new Set(["list ServiceBinding", "get ServiceBinding"]) };
  const bob: MadeUpUser = { name: "bob", rights: new Set() };
  const users = new Map([
    ["token-of-ada", ada],
    ["token-of-bob", bob],
  ]);
  const world = await dashboardWorld({
    gateOf: ({ kube, model }) =>
      new ClusterGate({
        kube: reviewingKube(kube, users),
        kubeFor: (token: Redacted<string>) => viewerKube(kube, users.get(token.reveal()) ?? bob),
        model,
        clock: new ManualClock(),
      }),
  });
  t.after(() => world.close());
  await putBinding(world.kube, "orders");
  const page = await world.live("token-of-ada");
  await page.until((message) => "rows" in message && message.rows.some(({ id }) => id === "ServiceBinding/orders"));
  const blind = await world.live("token-of-bob");
  const rows = await blind.until(({ type }) => type === "rows");
  assert.deepEqual(rows.type === "rows" && rows.rows, []);
  assert.doesNotMatch(blind.text(), /orders/);
  const path = "/api/credential?id=ServiceBinding/orders";
  assert.equal((await world.ask(path, { token: "token-of-bob" })).status, 403);
  assert.deepEqual(
    (
      await world.ask("/api/futures", {
        token: "token-of-bob",
        body: { ids: ["ServiceBinding/orders"], until: 4e12, sight: { from: 0, until: 4e12 } },
      })
    ).json,
    { futures: {} },
  );
  const { json } = await world.ask(path, { token: "token-of-ada" });
  assert.ok(json.consumersUnseen.length > 0, "who uses it may not be seen, and that is said");
  const body = { id: json.row.id, action: "freeze", seen: json.seen };
  assert.equal((await world.ask("/api/action", { token: "token-of-ada", body })).status, 403, "may not patch");
  ada.rights.add("patch ServiceBinding");
  assert.equal((await world.ask("/api/action", { token: "token-of-ada", body })).status, 200, "may patch");
  await page.leave();
  await blind.leave();
});
