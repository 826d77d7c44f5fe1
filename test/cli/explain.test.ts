import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { EventRecorder } from "../../src/report/event-recorder.ts";
import { CommandWorld } from "./command-world.ts";

const DAY_MS = 86_400_000;

async function factsOf(world: CommandWorld, name = "orders"): Promise<ReadonlyMap<string, string>> {
  const { code, stdout } = await world.run(["explain", "servicebinding", name]);
  assert.equal(code, 0);
  const [title, ...lines] = stdout.trimEnd().split("\n");
  assert.equal(title, `servicebinding/${name}`);
  return new Map(lines.map((line) => [line.split(/ {2,}/)[0] ?? "", line.replace(/^.*? {2,}/, "")]));
}

const patch = (world: CommandWorld, body: object): Promise<unknown> =>
  world.btp.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });

test("a resource at rest: nothing now, when it rotates next, and by which rule each retired key goes", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(12 * DAY_MS);
  await world.btp.reconcile("orders");
  const facts = await factsOf(world);
  assert.equal(facts.get("Now"), "Nothing to do.");
  assert.equal(
    facts.get("Next rotation"),
    "At 2025-11-29T13:14:28Z, in 12d: the active key is 12d old by then (rotation.frequency).",
  );
  assert.match(
    facts.get("Retired key") ?? "",
    /made at 2025-11-05T13:14:28Z, 12d ago, replaced by rotation; is deleted at 2025-11-19T13:14:28Z, in 2d: its ttl of 14d ends then\.$/,
  );
  assert.match(
    facts.get("Active key") ?? "",
    /made at 2025-11-17T13:14:28Z, now, in the Secret default\/orders-secret\.$/,
  );
  assert.equal(facts.get("Problem"), "None.");
});

test("a late rotation: the old key goes by the overlap it was promised, not by its ttl", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(30 * DAY_MS);
  await world.btp.reconcile("orders");
  assert.match(
    (await factsOf(world)).get("Retired key") ?? "",
    /is deleted at 2025-12-07T13:14:28Z, in 2d: it was replaced at 2025-12-05T13:14:28Z, and 2d of overlap were promised then\.$/,
  );
});

test("what the operator would do this moment is said before it does it, and is what it then does", async () => {
  const world = await CommandWorld.start();
  await world.btp.create("orders");
  const first = (await factsOf(world)).get("Now") ?? "";
  await world.btp.reconcile("orders");
  const made = world.btp.sandbox.liveBindings().map(({ name }) => name);
  assert.deepEqual(made, [/^Makes the first key, (\S+): there is none yet\.$/.exec(first)?.[1]]);
  await world.btp.clock.advance(12 * DAY_MS);
  const due = (await factsOf(world)).get("Now") ?? "";
  await world.btp.reconcile("orders");
  const [, name = ""] = /^Begins a rotation, (\S+): the active key is 12d old/.exec(due) ?? [];
  assert.ok(
    world.btp.sandbox.liveBindings().some((one) => one.name === name),
    due,
  );
  await world.btp.clock.advance(2 * DAY_MS);
  assert.equal((await factsOf(world)).get("Now"), `Deletes the retired key ${made[0]}: its time is over.`);
});

test("what holds a rotation back is named, with the date that the policy alone would give", async () => {
  const world = await CommandWorld.start("orders");
  await world.run(["freeze", "servicebinding", "orders"]);
  await world.btp.clock.advance(13 * DAY_MS);
  const frozen = await factsOf(world);
  assert.equal(frozen.get("Now"), "Nothing to do.");
  assert.equal(frozen.get("Next rotation"), "Held back; by its policy it is due at 2025-11-17T13:14:28Z, 1d ago.");
  assert.match(frozen.get("Held back") ?? "", /^Frozen: no new rotation begins until keyturn unfreeze/);
  await patch(world, { metadata: { annotations: { "crossplane.io/paused": "true" } } });
  assert.match((await factsOf(world)).get("Held back") ?? "", /crossplane\.io\/paused stops everything/);
  await patch(world, { metadata: { annotations: { "crossplane.io/paused": null, "keyturn.dev/freeze": null } } });
  await patch(world, { spec: { managementPolicies: ["Observe"] } });
  assert.match(
    (await factsOf(world)).get("Held back") ?? "",
    /^Spec\.managementPolicies does not allow what is due\.$/,
  );
});

test("a compromised key and a forced rotation are told apart", async () => {
  const world = await CommandWorld.start("orders");
  await world.run(["rotate", "servicebinding", "orders"]);
  assert.match(
    (await factsOf(world)).get("Now") ?? "",
    /^Begins a rotation, \S+: somebody asked for it by annotation\.$/,
  );
  await world.run(["rotate", "servicebinding", "orders", "--compromised"]);
  assert.match(
    (await factsOf(world)).get("Now") ?? "",
    /declared the active key compromised; that key is deleted once/,
  );
});

test("the problem of now is told, and that of before as long as an event tells of it", async () => {
  const world = await CommandWorld.start("orders");
  const broken = { writeConnectionSecretToRef: { namespace: "default", name: "service-manager" } };
  await patch(world, { spec: broken });
  await assert.rejects(world.btp.reconcile("orders"));
  assert.match((await factsOf(world)).get("Problem") ?? "", /^SecretNotOurs: .* \(since 2025-11-05T13:14:28Z, now\)$/);
  await patch(world, { spec: { writeConnectionSecretToRef: { namespace: "default", name: "orders-secret" } } });
  await world.btp.reconcile("orders");
  assert.equal((await factsOf(world)).get("Problem"), "None.");
  const { kube, clock } = world.btp;
  const reporter = { controller: "btp", instance: "test" };
  const recorder = new EventRecorder({ kube, clock, logger: silentLogger, reporter });
  const happening = {
    type: "Warning",
    reason: "QuotaExceeded",
    action: "Reconcile",
    note: "no more keys",
    id: "1",
  } as const;
  await recorder.record(await world.btp.get("orders"), happening, new AbortController().signal);
  await clock.advance(30 * 60_000);
  assert.equal(
    (await factsOf(world)).get("Problem"),
    "None now. The last one was at 2025-11-05T13:14:28Z, 30m ago: QuotaExceeded: no more keys",
  );
});

test("a resource on its way out", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(12 * DAY_MS);
  await world.btp.reconcile("orders");
  await world.btp.kube.delete(serviceBinding, { name: "orders" });
  const facts = await factsOf(world);
  assert.equal(
    facts.get("Now"),
    "It was deleted now: deletes its keys outside (1 retired first, then the active one), and lets go once nothing of it is left to do.",
  );
  assert.equal(facts.has("Next rotation"), false);
});

test("a static key has no next rotation", async () => {
  const world = await CommandWorld.start();
  await world.btp.create("orders", { rotation: undefined });
  await world.btp.reconcile("orders");
  assert.match((await factsOf(world)).get("Next rotation") ?? "", /^None: it has no rotation policy/);
  await world.run(["rotate", "servicebinding", "orders"]);
  await world.btp.reconcile("orders");
  assert.match(
    (await factsOf(world)).get("Retired key") ?? "",
    /deleted at 2025-11-06T13:14:28Z, in 1d: it was replaced at 2025-11-05T13:14:28Z, and 1d of overlap were promised then/,
  );
});

test("what stands in the way is told first, and nothing is promised in spite of it", async () => {
  const world = await CommandWorld.start("orders");
  world.btp.sandbox.controls.set({ outage: "unavailable" });
  await world.btp.clock.advance(12 * DAY_MS);
  await assert.rejects(world.btp.reconcile("orders"));
  const facts = await factsOf(world);
  assert.equal([...facts.keys()][0], "Problem");
  assert.match(facts.get("Problem") ?? "", /^ProviderUnavailable: /);
  assert.match(facts.get("Next rotation") ?? "", /^If the problem is solved by then: at 2025-11-29T13:14:28Z/);
});

test("-o json has the same for programs, with the engine's own words", async () => {
  const world = await CommandWorld.start("orders");
  const explained = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { code, stdout } = await world.run(["explain", "servicebinding", "orders", "-o", "json"]);
    assert.equal(code, 0);
    return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  };
  const { facts, ...rest } = await explained();
  assert.deepEqual(rest, {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    name: "orders",
    steps: [],
    nextRotation: { at: "2025-11-17T13:14:28Z", reason: "RotationDue" },
  });
  const [now] = facts as readonly unknown[];
  assert.deepEqual(now, { about: "Now", text: "Nothing to do.", isProblem: false });
  await world.run(["freeze", "servicebinding", "orders"]);
  await world.btp.clock.advance(12 * DAY_MS);
  const frozen = await explained();
  assert.deepEqual([frozen.heldBackBy, frozen.nextRotation], ["Frozen", undefined]);
});

test("an adoption that is refused is a problem to status and explain", async () => {
  const world = await CommandWorld.start("orders", "payments");
  const payments = (await world.btp.get("payments")).metadata.annotations?.["crossplane.io/external-name"];
  await world.btp.create("thief");
  const body = { metadata: { annotations: { "crossplane.io/external-name": payments } } };
  await world.btp.kube.patch(serviceBinding, { name: "thief" }, { type: "merge", body });
  await world.btp.reconcile("thief");
  assert.match((await factsOf(world, "thief")).get("Problem") ?? "", /^AdoptionRefused: the key that crossplane\.io/);
  const { code, stdout } = await world.run(["status", "--exit-code"]);
  assert.equal(code, 1);
  assert.match(stdout, /^ {2}servicebinding\/thief {2}AdoptionRefused: /m);
});

test("a frozen binding whose spec has changed since: what is published may be for what it was before", async () => {
  const world = await CommandWorld.start("orders");
  await world.run(["freeze", "servicebinding", "orders"]);
  await world.btp.clock.advance(60_000);
  assert.equal((await factsOf(world)).has("Outdated"), false);
  await patch(world, { spec: { forProvider: { serviceInstanceId: "another-instance" } } });
  await world.btp.reconcile("orders");
  const words =
    "hat is published may not be what the spec asks for: that was changed at 2025-11-05T13:15:28Z, after the active key was made, which counts once it is unfrozen";
  assert.equal((await factsOf(world)).get("Outdated"), `W${words}.`);
  assert.ok((await world.run(["status"])).stdout.includes(`  servicebinding/orders  w${words}\n`));
  await world.run(["unfreeze", "servicebinding", "orders"]);
  assert.equal((await factsOf(world)).has("Outdated"), false, "what is not held back is replaced");
});
