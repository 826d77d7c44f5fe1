import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { CANARY } from "../reconcile/managed-world.ts";
import { CommandWorld } from "./command-world.ts";

const DAY_MS = 86_400_000;

const lines = (text: string): readonly string[] => text.trimEnd().split("\n");

interface Item {
  readonly name: string;
  readonly phase: string;
  readonly isFrozen: boolean;
  readonly problems: readonly { readonly reason: string }[];
  readonly activeKey?: { readonly id: string; readonly createdAt: string };
  readonly nextRotationAt?: string;
  readonly retiredKeys: readonly { readonly deletionAt: string }[];
  readonly history: readonly { readonly keyId: string; readonly reason: string; readonly endedAt: string }[];
}

const itemsOf = (stdout: string): readonly Item[] => (JSON.parse(stdout) as { readonly items: readonly Item[] }).items;

test("status shows the active key with its next rotation, and below it the retired ones with their dates", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(12 * DAY_MS);
  await world.btp.reconcile("orders");
  await world.btp.clock.advance(6 * 3_600_000);
  const { code, stdout, stderr } = await world.run(["status"]);
  assert.equal(code, 0);
  assert.equal(stderr, "");
  const [head, active, retired, ...more] = lines(stdout);
  assert.match(head ?? "", /^NAME +STATE +KEY +AGE +NEXT$/);
  assert.match(active ?? "", /^orders +Ready +my-sample-\S{8} +6h +rotation in 11d18h$/);
  assert.match(retired ?? "", /^ +retired \(rotated\) +my-sample-\S{8} +12d6h +deletion in 1d18h$/);
  assert.deepEqual(more, []);
});

test("-o wide adds ids, dates and the Secret, -o json has them for programs; neither has key material", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(12 * DAY_MS);
  await world.btp.reconcile("orders");
  const wide = await world.run(["status", "-o", "wide"]);
  assert.match(wide.stdout, /2025-11-29T13:14:28Z +default\/orders-secret\n/);
  const json = await world.run(["status", "ServiceBindings.account.btp.sap.crossplane.io", "orders", "-o", "json"]);
  const [item] = itemsOf(json.stdout);
  assert.equal(item?.activeKey?.createdAt, "2025-11-17T13:14:28Z");
  assert.equal(item?.nextRotationAt, "2025-11-29T13:14:28Z");
  assert.deepEqual(
    item?.retiredKeys.map(({ deletionAt }) => deletionAt),
    ["2025-11-19T13:14:28Z"],
  );
  assert.deepEqual(
    item?.history.map(({ reason, endedAt }) => [reason, endedAt]),
    [
      ["RotationDue", "2025-11-17T13:14:28Z"],
      ["FirstKey", "2025-11-05T13:14:28Z"],
    ],
  );
  assert.equal(item?.history[0]?.keyId, item?.activeKey?.id);
  assert.match(wide.stdout, new RegExp(item?.activeKey?.id ?? "none"));
  assert.doesNotMatch(wide.stdout + json.stdout, new RegExp(CANARY));
});

test("problems come first, in words and in the table, and --exit-code tells of them", async () => {
  const world = await CommandWorld.start("orders");
  assert.equal((await world.run(["status", "--exit-code"])).code, 0);
  await world.btp.create("zebra", { writeConnectionSecretToRef: { namespace: "default", name: "service-manager" } });
  await assert.rejects(world.btp.reconcile("zebra"));
  const { code, stdout } = await world.run(["status", "--exit-code"]);
  assert.equal(code, 1);
  const [first, problem, , , row] = lines(stdout);
  assert.equal(first, "1 of 2 has a problem:");
  assert.match(
    problem ?? "",
    /^ {2}servicebinding\/zebra {2}SecretNotOurs: the Secret default\/service-manager belongs/,
  );
  assert.match(row ?? "", /^zebra +Problem, creating /);
  assert.equal((await world.run(["status"])).code, 0, "without the flag a problem is no failure of the command");
});

test("what the dates give away is a problem too: nobody rotates, nobody deletes, nobody has looked", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.clock.advance(12 * DAY_MS);
  await world.btp.reconcile("orders");
  await world.btp.create("new");
  assert.deepEqual(
    itemsOf((await world.run(["status", "-o", "json"])).stdout).flatMap(({ problems }) => problems),
    [],
  );
  await world.btp.clock.advance(13 * DAY_MS);
  const items = itemsOf((await world.run(["status", "-o", "json"])).stdout);
  const reasons = items.map(({ name, problems }) => [name, ...problems.map(({ reason }) => reason)]);
  assert.deepEqual(reasons, [
    ["new", "NotSeen"],
    ["orders", "NotRotated", "NotDeleted"],
  ]);
});

test("frozen and paused are shown, and are no problem", async () => {
  const world = await CommandWorld.start("orders", "static");
  await world.run(["freeze", "servicebinding", "orders"]);
  const annotations = { "crossplane.io/paused": "true" };
  const body = { metadata: { annotations } };
  await world.btp.kube.patch(serviceBinding, { name: "static" }, { type: "merge", body });
  await world.btp.clock.advance(20 * DAY_MS);
  const { code, stdout } = await world.run(["status", "--exit-code"]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^orders +Ready, frozen +\S+ +20d +no rotation while frozen$/m);
  assert.match(stdout, /^static +Ready, paused +\S+ +20d +nothing while paused$/m);
});

test("labels choose; nothing found is said, and is no failure", async () => {
  const world = await CommandWorld.start("orders", "payments");
  const body = { metadata: { labels: { team: "shop" } } };
  await world.btp.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  const chosen = await world.run(["status", "servicebinding", "-l", "team=shop", "-o", "json"]);
  assert.deepEqual(
    itemsOf(chosen.stdout).map(({ name }) => name),
    ["orders"],
  );
  const none = await world.run(["status", "-l", "team=none"]);
  assert.deepEqual(none, { code: 0, stdout: "", stderr: "No resources found.\n" });
  await assert.rejects(world.run(["status", "servicebinding", "nobody"]), {
    name: "NotFound",
    message: 'there is no ServiceBinding "nobody" (keyturn status servicebinding lists them)',
  });
});

test("warnings are marked in the table, and stand in words below it", async () => {
  const world = await CommandWorld.start("orders");
  await world.btp.create("busy", { rotation: { ttl: "336h", frequency: "336h" } });
  await world.btp.reconcile("busy");
  const { code, stdout } = await world.run(["status", "--exit-code"]);
  assert.equal(code, 0, "a warning is no problem");
  assert.match(stdout, /^busy +Ready, warning /m);
  assert.match(stdout, /^orders +Ready +my-sample/m);
  const below = stdout.slice(stdout.indexOf("\nWarnings:\n"));
  assert.deepEqual(lines(below).slice(1), [
    "Warnings:",
    "  servicebinding/busy  ttl equals frequency: the old key ends when the new one begins, with no overlap",
  ]);
});

test("-n means the namespace of the Secret where the kind itself has none; a name is enough by itself", async () => {
  const world = await CommandWorld.start("orders");
  const names = async (...words: readonly string[]): Promise<readonly string[]> =>
    itemsOf((await world.run(["status", ...words, "-o", "json"])).stdout).map(({ name }) => name);
  assert.deepEqual(await names("-n", "default"), ["orders"]);
  assert.deepEqual(await names("-n", "shop"), []);
  assert.deepEqual(await names("-n", "shop", "-A"), ["orders"]);
  assert.deepEqual(await names("servicebinding", "orders", "-n", "shop"), ["orders"]);
  const frozen = await world.run(["freeze", "--all", "-n", "shop"]);
  assert.deepEqual(frozen, { code: 0, stdout: "", stderr: "No resources found.\n" });
});

test("names that are too long for a table are cut, and whole with -o wide", async () => {
  const long = "o".repeat(253);
  const world = await CommandWorld.start("orders");
  await world.btp.create(long, { writeConnectionSecretToRef: { namespace: "default", name: "long" } });
  await world.btp.reconcile(long);
  const { stdout } = await world.run(["status"]);
  for (const line of lines(stdout)) assert.ok(line.length < 160, line);
  assert.match(stdout, /^o{47}… +Ready/m);
  assert.match((await world.run(["status", "-o", "wide"])).stdout, /^o{253} +Ready/m);
});

test("long names are cut in the list of problems too, and whole with -o wide and -o json", async () => {
  const long = "o".repeat(250);
  const world = await CommandWorld.start();
  await world.btp.create(long, { writeConnectionSecretToRef: { namespace: "default", name: "service-manager" } });
  await assert.rejects(world.btp.reconcile(long));
  const message = `the key ${long}-abc is not ready`;
  const since = { lastTransitionTime: "2025-11-05T13:14:28Z" };
  const conditions = [{ type: "Synced", status: "False", reason: "KeyNotReady", message, ...since }];
  await world.btp.kube.patch(
    serviceBinding,
    { name: long },
    { type: "merge", body: { status: { conditions } } },
    { subresource: "status" },
  );
  const [, problem] = lines((await world.run(["status"])).stdout);
  const short = `${"o".repeat(47)}…`;
  assert.equal(problem, `  servicebinding/${short}  KeyNotReady: the key ${short} is not ready (since 0s)`);
  assert.ok((await world.run(["status", "-o", "wide"])).stdout.includes(message));
  assert.ok((await world.run(["status", "-o", "json"])).stdout.includes(message));
});

test("a cluster that does not know the kinds is told apart from an empty one, with the remedy", async () => {
  await assert.rejects(new CommandWorld().run(["status"]), {
    name: "NotServed",
    message:
      /^the cluster does not know ServiceBinding, ServiceCredentialBinding\b.*: keyturn crds \| kubectl apply --server-side -f - installs it$/,
  });
});
