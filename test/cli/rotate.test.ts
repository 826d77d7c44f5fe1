import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { UsageError } from "../../src/base/errors.ts";
import { settle } from "../../src/base/manual-clock.ts";
import { Forbidden } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { CommandWorld } from "./command-world.ts";

const FORCE = "servicebinding.account.btp.crossplane.io/force-rotation";

const lines = (text: string): readonly string[] => text.trimEnd().split("\n");

const annotationsOf = async (world: CommandWorld, name: string): Promise<Readonly<Record<string, string>>> =>
  (await world.btp.get(name)).metadata.annotations ?? {};

test("rotate asks with a value of its own each time", async () => {
  const world = await CommandWorld.start("orders");
  const values = new Set<string | undefined>();
  for (let time = 0; time < 3; time++) {
    const { code, stdout } = await world.run(["rotate", "servicebinding/orders"]);
    assert.deepEqual([code, stdout], [0, "servicebinding/orders: asking for a rotation\n"]);
    values.add((await annotationsOf(world, "orders"))[FORCE]);
  }
  assert.equal(values.size, 3);
  assert.ok([...values].every((value) => /^2025-11-05T13:14:28Z-[0-9a-f]{6}$/.test(value ?? "")));
});

test("--wait tells each step as the watch shows it, and ends with the new key active", async () => {
  const world = await CommandWorld.start("orders");
  const { code, stdout, stderr } = await world.runBeside(["rotate", "servicebinding", "orders", "--wait"], ["orders"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const told = lines(stdout).map((line) => line.replace("servicebinding/orders: ", "").replace(/:.*/, ""));
  assert.deepEqual(told, ["asking for a rotation", "intent written", "key made", "Secret published", "committed"]);
  assert.match(
    stdout,
    /committed: my-sample-\S+ is the active key; my-sample-\S+ is deleted at 2025-11-19T13:14:28Z\n$/,
  );
  assert.ok(await world.btp.secretWorks("orders"));
});

test("--compromised leaves no overlap", async () => {
  const world = await CommandWorld.start("orders");
  const before = world.btp.sandbox.liveBindings().map(({ name }) => name);
  await world.runBeside(["rotate", "servicebinding", "orders", "--wait", "--compromised"], ["orders"]);
  await world.btp.reconcile("orders");
  const after = world.btp.sandbox.liveBindings().map(({ name }) => name);
  assert.equal(after.length, 1);
  assert.notDeepEqual(after, before);
});

test("--compromised tells of older keys, which live on", async () => {
  const world = await CommandWorld.start("orders");
  const said = async (...flags: readonly string[]): Promise<string> => {
    const { stdout } = await world.run(["rotate", "servicebinding", "orders", ...flags]);
    await world.btp.reconcile("orders");
    return stdout;
  };
  assert.doesNotMatch(await said(), /older/);
  assert.doesNotMatch(await said(), /older/, "nobody has said that anything leaked");
  const until = String.raw`until 20\d\d-[^ ]+Z`;
  assert.match(
    await said("--compromised"),
    new RegExp(`orders: 2 older keys may be used on, ${until}; one that may have leaked too is to be deleted by hand`),
  );
});

test("--wait tells of a problem once, and goes on when it is gone", async () => {
  const world = await CommandWorld.start("orders");
  const secretCalled = (name: string): Promise<unknown> => {
    const body = { spec: { writeConnectionSecretToRef: { namespace: "default", name } } };
    return world.btp.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  };
  await secretCalled("service-manager");
  const { said, ended } = world.begin(["rotate", "servicebinding", "orders", "--wait"]);
  for (let time = 0; time < 3; time++) {
    await world.btp.clock.advance(1000);
    await assert.rejects(world.btp.reconcile("orders"));
  }
  await secretCalled("orders-secret");
  await world.btp.reconcile("orders");
  assert.equal(await ended, 0);
  assert.equal(said.stdout.match(/orders: problem: SecretNotOurs: the Secret /g)?.length, 1, said.stdout);
  assert.match(said.stdout, /orders: committed/);
});

test("--wait wonders where the operator is, does not wait for ever, and says that the rotation goes on", async () => {
  const world = await CommandWorld.start("orders");
  const { said, ended } = world.begin(["rotate", "servicebinding", "orders", "--wait", "--timeout", "20s"]);
  await world.btp.clock.advance(21_000);
  assert.equal(await ended, 1);
  assert.match(said.stderr, /nothing has begun yet: is the operator running\?\n/);
  assert.match(said.stderr, /not finished after 20s: servicebinding\/orders; what was asked for goes on/);
});

test("--wait says when it may not watch", async () => {
  const world = await CommandWorld.start("orders");
  const { btp } = world;
  const kube: Kube = {
    ...btp.kube,
    list: (type, options) => btp.kube.list(type, options),
    patch: (type, ref, patch, options) => btp.kube.patch(type, ref, patch, options),
    watch: () => {
      throw new Forbidden("servicebindings is forbidden: you cannot watch");
    },
  };
  const { said, ended } = world.begin(["rotate", "servicebinding", "orders", "--wait", "--timeout", "5s"], { kube });
  await btp.clock.advance(6000);
  assert.equal(await ended, 1);
  assert.match(said.stderr, /^keyturn: cannot watch; trying on: servicebindings is forbidden: you cannot watch\n/);
  assert.match(said.stderr, /keyturn: not finished after 5s: servicebinding\/orders; what was asked for goes on/);
});

test("Ctrl-C ends the waiting, not the rotation", async () => {
  const world = await CommandWorld.start("orders");
  const { said, ended, interrupt } = world.begin(["rotate", "servicebinding", "orders", "--wait"]);
  await world.btp.clock.advance(1000);
  interrupt();
  assert.equal(await ended, 130);
  assert.match(said.stderr, /interrupted: servicebinding\/orders; what was asked for goes on/);
  assert.notEqual((await annotationsOf(world, "orders"))[FORCE], undefined);
});

test("a resource that is deleted meanwhile ends the waiting with a failure", async () => {
  const world = await CommandWorld.start("orders");
  const { said, ended } = world.begin(["rotate", "servicebinding", "orders", "--wait"]);
  await world.btp.clock.advance(1000);
  await world.btp.kube.delete(serviceBinding, { name: "orders" });
  await world.btp.reconcile("orders");
  await settle();
  assert.equal(await ended, 1);
  assert.match(said.stdout, /servicebinding\/orders: it was deleted\n$/);
});

test("what would not begin is refused: frozen, paused, being deleted", async () => {
  const world = await CommandWorld.start("orders");
  await world.run(["freeze", "servicebinding", "orders"]);
  const frozen = await world.run(["rotate", "servicebinding", "orders"]);
  assert.equal(frozen.code, 1);
  assert.match(frozen.stderr, /servicebinding\/orders: it is frozen: keyturn unfreeze first/);
  assert.equal((await annotationsOf(world, "orders"))[FORCE], undefined);
  assert.equal((await world.run(["rotate", "servicebinding", "orders", "--compromised"])).code, 0);
  const body = { metadata: { annotations: { "crossplane.io/paused": "true" } } };
  await world.btp.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  assert.match((await world.run(["rotate", "servicebinding", "orders"])).stderr, /it is paused/);
  await world.btp.kube.delete(serviceBinding, { name: "orders" });
  assert.match((await world.run(["rotate", "servicebinding", "orders"])).stderr, /it is being deleted/);
});

test("a rotation that is asked for and has to wait says why", async () => {
  const world = await CommandWorld.start("orders");
  for (let time = 0; time < 5; time++) {
    await world.run(["rotate", "servicebinding", "orders"]);
    await world.btp.reconcile("orders");
  }
  const { code, stdout } = await world.run(["rotate", "servicebinding", "orders"]);
  assert.equal(code, 0);
  assert.match(stdout, /held back: a rotation was asked for, but too many were within one ttl/);
});

test("--all asks a person first, does nothing without a yes, and reports each resource", async () => {
  const world = await CommandWorld.start("orders", "payments");
  const no = await world.run(["rotate", "servicebinding", "--all"], { answer: "n" });
  assert.equal(no.code, 1);
  assert.match(
    no.stderr,
    /^Rotate 2 resources \(servicebinding\/orders, servicebinding\/payments\)\? \[y\/N\] Nothing/,
  );
  assert.equal((await annotationsOf(world, "orders"))[FORCE], undefined);
  await assert.rejects(world.run(["rotate", "servicebinding", "--all"]), UsageError);
  const yes = await world.run(["rotate", "servicebinding", "--all"], { answer: "y" });
  assert.deepEqual(lines(yes.stdout), [
    "servicebinding/orders: asking for a rotation",
    "servicebinding/payments: asking for a rotation",
  ]);
});

test("--all --wait follows all of them, and one that cannot begin does not keep the others", async () => {
  const world = await CommandWorld.start("orders", "payments", "stock");
  await world.run(["freeze", "servicebinding", "stock"]);
  const words = ["rotate", "servicebinding", "--all", "--yes", "--wait"];
  const { code, stdout, stderr } = await world.runBeside(words, ["orders", "payments", "stock"]);
  assert.equal(code, 1);
  assert.match(stderr, /^keyturn: servicebinding\/stock: it is frozen/);
  assert.match(stdout, /servicebinding\/orders: committed/);
  assert.match(stdout, /servicebinding\/payments: committed/);
  assert.equal(lines(stdout).at(-1), "2 of 2 rotated");
});

test("freeze and unfreeze change what is not so already, and say so", async () => {
  const world = await CommandWorld.start("orders", "payments");
  assert.equal((await world.run(["freeze", "servicebinding", "orders"])).stdout, "servicebinding/orders: frozen\n");
  const all = await world.run(["freeze", "--all"]);
  assert.deepEqual(lines(all.stdout), [
    "servicebinding/orders: frozen (it was already)",
    "servicebinding/payments: frozen",
  ]);
  assert.equal((await annotationsOf(world, "payments"))["keyturn.dev/freeze"], "true");
  await world.run(["unfreeze", "servicebinding", "--all"]);
  assert.equal((await annotationsOf(world, "payments"))["keyturn.dev/freeze"], undefined);
});

test("which resources are meant must be clear", async () => {
  const world = await CommandWorld.start("orders");
  const table: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [["rotate"], /give KIND and NAME, or KIND --all \(KIND: servicebinding/],
    [["rotate", "servicebinding"], /give KIND and NAME/],
    [["rotate", "servicebinding", "orders", "--all"], /give a name or --all, not both/],
    [["rotate", "servicebinding", "-l", "a=b"], /-l chooses among many: give --all with it/],
    [["rotate", "servicebindng", "orders"], /not a kind that Keyturn rotates, did you mean "servicebinding"\?/],
    [["rotate", "servicebinding", "Orders"], /"Orders" cannot be a name in Kubernetes/],
    [["rotate", "servicebinding", "shop/orders"], /a ServiceBinding has no namespace, its name alone is enough/],
    [["rotate", "servicebinding/orders", "payments"], /"servicebinding\/orders" has a name already/],
    [["rotate", "servicebinding", "orders", "--wait", "--timeout", "soon"], /--timeout: "soon" is not a duration/],
    [["explain", "servicebinding"], /give KIND and NAME/],
    [["status", "servicebinding", "a", "b"], /unexpected argument "b"/],
    [["status", "-o", "yaml"], /--output must be one of table, wide, json, not "yaml"/],
    [["status", "servicebinding", "orders", "-l", "a=b"], /give a name or -l, not both/],
    [["status", "-l", "a==="], /^-l a===: the server does not understand it: /],
    [["rotate", "--all", "-l", "a==="], /^-l a===: the server does not understand it: /],
    [["explain", "servicebinding", "orders", "-o", "yaml"], /--output must be one of text, json, not "yaml"/],
  ];
  for (const [words, message] of table) {
    await assert.rejects(
      async () => world.run(words),
      (error) => error instanceof UsageError && message.test(error.message),
      words.join(" "),
    );
  }
});
