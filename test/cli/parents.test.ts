import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { FORCE, RotatingWorld } from "../reconcile/rotating-world.ts";
import { runOn } from "./command-world.ts";

const DAY_MS = 86_400_000;
const KIND = "rotatingcredentialbinding";
const CHILD_KIND = "servicecredentialbinding";
const FREEZE = "keyturn.dev/freeze";

async function started(context: TestContext): Promise<RotatingWorld> {
  const world = new RotatingWorld();
  context.after(() => world.server.stop());
  await world.start();
  await world.createParent("orders");
  await world.calm();
  return world;
}

async function said(world: RotatingWorld, ...words: readonly string[]): Promise<string> {
  const { code, stdout } = await runOn(world, words);
  assert.equal(code, 0);
  return stdout;
}

async function childName(world: RotatingWorld): Promise<string> {
  const [child] = await world.children();
  assert.ok(child);
  return child.metadata.name;
}

/** What stands on the children, in their order. */
const childAnnotations = async (world: RotatingWorld): Promise<readonly string[]> =>
  (await world.children()).flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));

const lines = (text: string): readonly string[] => text.trimEnd().split("\n");

test("the status of a parent shows its children: what they are, what kind they are of, what becomes of them", async (context) => {
  const world = await started(context);
  const [first] = await world.children();
  await world.pass(30 * DAY_MS);
  // The next one is being made.
  world.parentsOnly = true;
  await world.pass(30 * DAY_MS - 60_000);
  await world.pass(60_000);
  const { atProvider, pending } = await world.parentStatus("orders");
  const wide = await said(world, "status", KIND, "-o", "wide");
  const [head, active, making, retired] = wide.split("\n");
  assert.match(head ?? "", /^NAME +STATE +KEY +CHILD +ID /);
  assert.match(
    active ?? "",
    new RegExp(`^orders +Rotating +${atProvider.name} +ServiceCredentialBinding +${atProvider.uid} `),
  );
  assert.match(making ?? "", new RegExp(`^ +pending +${pending?.name} +ServiceCredentialBinding +${pending?.uid} `));
  assert.match(retired ?? "", new RegExp(`^ +retired \\(rotated\\) +${first?.metadata.name} `));
  const json = await said(world, "status", KIND, "orders", "-o", "json");
  const { items } = JSON.parse(json) as {
    readonly items: readonly { readonly children: readonly { readonly uid: string; readonly state: string }[] }[];
  };
  assert.deepEqual(
    items[0]?.children.map(({ uid, state }) => [uid, state]),
    [
      [atProvider.uid, "active"],
      [pending?.uid, "pending"],
      [first?.metadata.uid, "retired"],
    ],
  );
});

test("children stand right under their parent, once, with what becomes of them; JSON stays flat", async (context) => {
  const world = await started(context);
  await world.createParent("aaa");
  await world.calm();
  const first = (await world.parentStatus("orders")).atProvider.name;
  await world.pass(30 * DAY_MS);
  const second = (await world.parentStatus("orders")).atProvider.name;
  const [, ...rows] = lines(await said(world, "status"));
  const from = rows.findIndex((row) => / orders /.test(row));
  assert.match(rows[from] ?? "", new RegExp(`^RotatingCredentialBinding +orders +Ready +${second} .* rotation in`));
  assert.match(rows[from + 1] ?? "", new RegExp(`^ServiceCredentialBinding + {2}${second} +Ready .* in use$`));
  assert.match(
    rows[from + 2] ?? "",
    new RegExp(`^ServiceCredentialBinding + {2}${first} +Ready, retired \\(rotated\\) .* deletion in `),
  );
  assert.equal(rows.filter((row) => row.includes(` ${first} `)).length, 1, "no key is listed twice");
  const { items } = JSON.parse(await said(world, "status", "-o", "json")) as {
    readonly items: readonly { readonly name: string; readonly parent?: unknown; readonly retiredKeys: object[] }[];
  };
  const itemOf = (name: string) => items.find((item) => item.name === name);
  assert.deepEqual(itemOf(first)?.parent, { kind: "RotatingCredentialBinding", name: "orders" });
  assert.equal(itemOf("orders")?.parent, undefined);
  assert.equal(itemOf("orders")?.retiredKeys.length, 1);
});

test("a parent whose child has a problem comes first with it", async (context) => {
  const world = await started(context);
  await world.createParent("aaa");
  await world.calm();
  const { name } = (await world.parentStatus("orders")).atProvider;
  const since = { lastTransitionTime: "2025-11-05T13:14:28Z" };
  const conditions = [{ type: "Synced", status: "False", reason: "Broken", message: "it is", ...since }];
  await world.kube.patch(
    serviceCredentialBinding,
    { name },
    { type: "merge", body: { status: { conditions } } },
    { subresource: "status" },
  );
  const rows = lines(await said(world, "status"));
  const head = rows.findIndex((row) => row.startsWith("KIND"));
  assert.match(rows[head + 1] ?? "", / orders /);
  assert.match(rows[head + 2] ?? "", new RegExp(` ${name} +Problem `));
});

test("what is not a parent has no such column, and no children in its JSON", async (context) => {
  const world = await started(context);
  const words = ["status", CHILD_KIND, "-o"];
  assert.doesNotMatch(await said(world, ...words, "wide"), /CHILD/);
  assert.doesNotMatch(await said(world, ...words, "json"), /children/);
});

test("explain and rotate work on a parent as on anything that rotates", async (context) => {
  const world = await started(context);
  assert.match(await said(world, "explain", KIND, "orders"), /2025-12-05/);
  await said(world, "rotate", KIND, "orders");
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 2);
  await said(world, "rotate", KIND, "orders", "--compromised");
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 3);
});

test("explain says of which kind the children are, and how they fare", async (context) => {
  const world = await started(context);
  const name = await childName(world);
  const explained = await said(world, "explain", KIND, "orders");
  assert.match(explained, new RegExp(`^Active key +${name} \\(\\S+\\), a ServiceCredentialBinding, made at `, "m"));
  assert.match(explained, new RegExp(`^Child +ServiceCredentialBinding ${name}, the active one: it is ready\\.$`, "m"));
  const { children } = JSON.parse(await said(world, "explain", KIND, "orders", "-o", "json")) as {
    readonly children: readonly { readonly uid: string }[];
  };
  const { uid } = (await world.parentStatus("orders")).atProvider;
  assert.deepEqual(children, [{ kind: "ServiceCredentialBinding", name, uid, state: "active", isReady: true }]);
  assert.doesNotMatch(await said(world, "explain", CHILD_KIND, name), /^Child /m);
});

test("--all and -l leave children to their parents, and say so", async (context) => {
  const world = await started(context);
  const rotated = await runOn(world, ["rotate", "--all", "--yes"]);
  assert.deepEqual(rotated, {
    code: 0,
    stdout: "rotatingcredentialbinding/orders: asking for a rotation\n",
    stderr: "keyturn: 1 child is left to its parent, which rotates it\n",
  });
  assert.notEqual((await world.parent("orders")).metadata.annotations?.[FORCE], undefined);
  const frozen = await runOn(world, ["freeze", "--all", "-A"]);
  assert.equal(frozen.stdout, "rotatingcredentialbinding/orders: frozen\n");
  assert.equal(frozen.stderr, "keyturn: 1 child is left to its parent, which rotates it\n");
  const labelled = await runOn(world, ["rotate", CHILD_KIND, "--all", "-l", "keyturn.dev/parent", "--yes"]);
  assert.deepEqual(labelled, { code: 0, stdout: "", stderr: frozen.stderr });
  const annotations = await childAnnotations(world);
  assert.ok(!annotations.some((name) => name === FREEZE || name.endsWith("force-rotation")), String(annotations));
});

test("a child that is named is acted on, with a hint at its parent; what is frozen so, --all unfreezes", async (context) => {
  const world = await started(context);
  const name = await childName(world);
  const frozen = await runOn(world, ["freeze", CHILD_KIND, name]);
  assert.deepEqual(frozen, {
    code: 0,
    stdout: `${CHILD_KIND}/${name}: frozen\n`,
    stderr: `keyturn: ${CHILD_KIND}/${name} is a child of ${KIND}/orders: keyturn freeze ${KIND} orders is what halts rotation\n`,
  });
  const unfrozen = await runOn(world, ["unfreeze", "--all"]);
  assert.match(unfrozen.stdout, new RegExp(`^${CHILD_KIND}/${name}: unfrozen$`, "m"));
  assert.doesNotMatch((await runOn(world, ["unfreeze", "--all"])).stdout, new RegExp(name));
  const rotated = await runOn(world, ["rotate", CHILD_KIND, name]);
  assert.deepEqual(rotated, {
    code: 0,
    stdout: `${CHILD_KIND}/${name}: asking for a rotation\n`,
    stderr: `keyturn: ${CHILD_KIND}/${name} is a child of ${KIND}/orders: keyturn rotate ${KIND} orders is what replaces the child itself\n`,
  });
});

test("a child is not declared compromised: its parent is", async (context) => {
  const world = await started(context);
  const name = await childName(world);
  const refused = await runOn(world, ["rotate", CHILD_KIND, name, "--compromised"]);
  assert.deepEqual(refused, {
    code: 1,
    stdout: "",
    stderr: `keyturn: ${CHILD_KIND}/${name}: it is a child of ${KIND}/orders: keyturn rotate ${KIND} orders --compromised replaces it\n`,
  });
  assert.ok(!(await childAnnotations(world)).includes("keyturn.dev/compromised"));
});

test("a frozen parent whose instance has changed: the published key is for the old one, and that is said", async (context) => {
  const world = await started(context);
  await said(world, "freeze", KIND, "orders");
  assert.doesNotMatch(await said(world, "explain", KIND, "orders"), /^Outdated/m);
  await world.patchParent("orders", { spec: { forProvider: { serviceInstance: "another-instance" } } });
  await world.calm();
  const words = `hat is published is still for ${world.instanceId}: spec.forProvider.serviceInstance is another-instance by now, which counts once it is unfrozen`;
  assert.match(await said(world, "explain", KIND, "orders"), new RegExp(`^Outdated +W${words}\\.$`, "m"));
  const status = await said(world, "status", KIND);
  assert.match(status, /^orders +Ready, frozen, warning /m);
  assert.ok(lines(status).includes(`  ${KIND}/orders  w${words}`), status);
});

test("of other fields than the instance only the names are told: parameters may hold secrets", async (context) => {
  const world = await started(context);
  await said(world, "freeze", KIND, "orders");
  await world.patchParent("orders", { spec: { forProvider: { parameters: { password: "canary" } } } });
  await world.calm();
  const explained = await said(world, "explain", KIND, "orders");
  assert.match(
    explained,
    /^Outdated +What is published is still what it was before a change of spec\.forProvider\.parameters, which counts/m,
  );
  assert.doesNotMatch(explained + (await said(world, "status", "-o", "json")), /canary/);
});
