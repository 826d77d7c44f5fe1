import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Command, ExitCode } from "../../src/cli/command.ts";
import { explainCommand, runExplain } from "../../src/cli/explain-command.ts";
import type { ClusterCall } from "../../src/cli/open-cluster.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { rotateCommand, runRotate } from "../../src/cli/rotate-command.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { runStatus, statusCommand } from "../../src/cli/status-command.ts";
import { RotatingWorld } from "../reconcile/rotating-world.ts";

const DAY_MS = 86_400_000;
const KIND = "rotatingcredentialbinding";

async function started(context: TestContext): Promise<RotatingWorld> {
  const world = new RotatingWorld();
  context.after(() => world.server.stop());
  await world.start();
  await world.createParent("orders");
  await world.calm();
  return world;
}

async function said(
  world: RotatingWorld,
  [command, run]: readonly [Command, (call: ClusterCall) => Promise<ExitCode>],
  words: readonly string[],
): Promise<string> {
  const cli = scriptedWorld({ clock: world.clock });
  const flags = parseFlags(command, words);
  assert.equal(await run({ kube: world.kube, namespace: "default", flags, world: cli.world }), 0);
  return cli.said.stdout;
}

test("the status of a parent shows its children: what they are, what kind they are of, what becomes of them", async (context) => {
  const world = await started(context);
  const [first] = await world.children();
  await world.pass(30 * DAY_MS);
  // The next one is being made.
  world.parentsOnly = true;
  await world.pass(30 * DAY_MS - 60_000);
  await world.pass(60_000);
  const { atProvider, pending } = await world.parentStatus("orders");
  const wide = await said(world, [statusCommand, runStatus], [KIND, "-o", "wide"]);
  const [head, active, making, retired] = wide.split("\n");
  assert.match(head ?? "", /^NAME +STATE +KEY +CHILD +ID /);
  assert.match(
    active ?? "",
    new RegExp(`^orders +Rotating +${atProvider.name} +ServiceCredentialBinding +${atProvider.uid} `),
  );
  assert.match(making ?? "", new RegExp(`^ +pending +${pending?.name} +ServiceCredentialBinding +${pending?.uid} `));
  assert.match(retired ?? "", new RegExp(`^ +retired \\(rotated\\) +${first?.metadata.name} `));
  const json = await said(world, [statusCommand, runStatus], [KIND, "orders", "-o", "json"]);
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

test("what is not a parent has no such column, and no children in its JSON", async (context) => {
  const world = await started(context);
  const words = ["servicecredentialbinding", "-o"];
  assert.doesNotMatch(await said(world, [statusCommand, runStatus], [...words, "wide"]), /CHILD/);
  assert.doesNotMatch(await said(world, [statusCommand, runStatus], [...words, "json"]), /children/);
});

test("explain and rotate work on a parent as on anything that rotates", async (context) => {
  const world = await started(context);
  assert.match(await said(world, [explainCommand, runExplain], [KIND, "orders"]), /2025-12-05/);
  await said(world, [rotateCommand, runRotate], [KIND, "orders"]);
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 2);
  await said(world, [rotateCommand, runRotate], [KIND, "orders", "--compromised"]);
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 3);
});
