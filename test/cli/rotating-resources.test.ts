import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { Forbidden } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { GenericWorld, rotatingOf } from "../reconcile/rotating-resource-world.ts";
import { runOn } from "./command-world.ts";

const KIND = "rotatingresource";

async function begun(context: TestContext): Promise<GenericWorld> {
  const world = await GenericWorld.begin();
  context.after(() => world.stop());
  return world;
}

const said = async (world: GenericWorld, ...words: readonly string[]): Promise<string> =>
  (await runOn(world, words)).stdout;

interface Explained {
  readonly steps: readonly string[];
  readonly nextRotation?: unknown;
  readonly children: readonly unknown[];
}

test("status shows the kind of the children, and JSON lists them", async (context) => {
  const world = await begun(context);
  await world.create("web");
  await world.pass(5_000);
  const { name, uid } = await world.activeOf("web");
  const [head, row] = (await said(world, "status", KIND, "-A", "-o", "wide")).split("\n");
  assert.match(head ?? "", / KEY +CHILD +ID /);
  assert.match(row ?? "", new RegExp(`^default +web +Ready +${name} +Certificate +${uid} `));
  const { items } = JSON.parse(await said(world, "status", KIND, "-A", "-o", "json")) as {
    readonly items: readonly { readonly children: unknown }[];
  };
  assert.deepEqual(items[0]?.children, [{ kind: "Certificate", uid, name, state: "active" }]);
});

test("explain of one whose child is not ready: what it waits for, and what the child says; no step is promised", async (context) => {
  const world = await begun(context);
  world.others.stuck = /^/;
  await world.create("web", { rotation: { frequency: "1m", ttl: "2m" } });
  await world.pass(20_000);
  const [child] = await world.children();
  const name = child?.metadata.name ?? "";
  const text = await said(world, "explain", KIND, "web");
  assert.match(
    text,
    new RegExp(
      `^Now +Waits for the Certificate ${name} to get ready: Ready is False: Pending: the issuer does not answer\\. Then`,
      "m",
    ),
  );
  assert.match(
    text,
    /^Next rotation +1m after Certificate web-\S+ was made, once that is ready \(rotation\.frequency\)\.$/m,
  );
  assert.match(
    text,
    new RegExp(
      `^Child +Certificate ${name}, the next one: it is not ready: Ready is False: Pending: the issuer does not answer\\.$`,
      "m",
    ),
  );
  await world.pass(100_000);
  const later = JSON.parse(await said(world, "explain", KIND, "web", "-o", "json")) as Explained;
  assert.deepEqual([later.steps, later.nextRotation], [["look"], undefined]);
  assert.deepEqual(later.children, [
    {
      kind: "Certificate",
      name,
      uid: child?.metadata.uid,
      state: "pending",
      isReady: false,
      message: "Ready is False: Pending: the issuer does not answer",
    },
  ]);
});

test("who may not look at the child is told what the parent knows", async (context) => {
  const world = await begun(context);
  world.others.stuck = /^/;
  await world.create("web");
  await world.pass(20_000);
  const { kube, clock } = world;
  const blind: Kube = {
    ...kube,
    list: (type, options) => kube.list(type, options),
    discover: (group, version, options) => kube.discover(group, version, options),
    get: () => Promise.reject(new Forbidden("certificates is forbidden: you cannot get")),
  };
  const { code, stdout } = await runOn({ kube: blind, clock }, ["explain", KIND, "web"]);
  assert.equal(code, 0);
  assert.match(stdout, /^Now +Waits for the Certificate web-\S+ to get ready\. Then/m);
  assert.match(
    stdout,
    /^Child +Certificate web-\S+, the next one: it cannot be looked at: certificates is forbidden: you cannot get\.$/m,
  );
});

test("one in another namespace: the hint leads there, and status says that there are others", async (context) => {
  const world = await begun(context);
  const { metadata, ...rest } = rotatingOf("web");
  await world.kube.create(rotatingResource, { ...rest, metadata: { ...metadata, namespace: "kube-system" } });
  await assert.rejects(runOn(world, ["explain", KIND, "web"]), {
    name: "NotFound",
    message: `there is no RotatingResource "web" in namespace default (keyturn status ${KIND} -A lists them, -n NAMESPACE looks elsewhere)`,
  });
  const note = "RotatingResources of other namespaces are not shown: -A shows them.\n";
  assert.deepEqual(await runOn(world, ["status", KIND]), {
    code: 0,
    stdout: "",
    stderr: `No resources found.\n${note}`,
  });
  assert.equal((await runOn(world, ["status"])).stderr, `No resources found.\n${note}`);
  assert.equal((await runOn(world, ["status", "-o", "json"])).stderr, note);
  for (const words of [["-A"], ["-n", "default"], ["-l", "team=none"], ["servicebinding"]]) {
    assert.doesNotMatch((await runOn(world, ["status", ...words])).stderr, /other namespaces/, words.join(" "));
  }
  const { kube, clock } = world;
  const bounded: Kube = {
    ...kube,
    list: (type, options) =>
      type.namespaced && options?.namespace === undefined
        ? Promise.reject(new Forbidden("not in all namespaces"))
        : kube.list(type, options),
  };
  assert.equal((await runOn({ kube: bounded, clock }, ["status"])).stderr, "No resources found.\n");
});

test("a mistake in an expression is one line of the problem list", async (context) => {
  const world = await begun(context);
  await world.create("web", { readiness: { cel: "self.status.phase = 'x'" } });
  await world.pass(5_000);
  const [head, problem, empty] = (await said(world, "status")).split("\n");
  assert.equal(head, "1 of 1 has a problem:");
  assert.match(
    problem ?? "",
    /^ {2}rotatingresource\/default\/web {2}SpecProblem: spec\.readiness\.cel: ERROR: <input>:1:19: Syntax error: Unexpected character: = \(since \d+s\)$/,
  );
  assert.equal(empty, "");
  assert.doesNotMatch(await said(world, "explain", KIND, "web"), /\.\.\^/);
});

test("a frozen one whose template has changed since", async (context) => {
  const world = await begun(context);
  await world.create("web");
  await world.pass(5_000);
  await runOn(world, ["freeze", KIND, "web"]);
  await world.pass(5_000);
  assert.doesNotMatch(await said(world, "explain", KIND, "web"), /^Outdated/m);
  await world.patch("web", { spec: { template: { spec: { dnsNames: ["other.example.org"] } } } });
  await world.pass(5_000);
  assert.match(
    await said(world, "explain", KIND, "web"),
    /^Outdated +What is published may not be what the spec asks for: that was changed at /m,
  );
});
