import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { UsageError } from "../../src/base/errors.ts";
import { CANARY } from "../reconcile/managed-world.ts";
import { CommandWorld } from "./command-world.ts";

const DAY_MS = 86_400_000;

interface Item {
  readonly name: string;
  readonly period?: string;
  readonly lastRotationAt?: string;
  readonly nextRotationAt?: string;
  readonly dueAt?: string;
  readonly overdue?: string;
  readonly heldBackBy?: string;
  readonly isInOrder: boolean;
  readonly exceptions: readonly { readonly kind: string }[];
}

const annotate = (world: CommandWorld, name: string, key: string): Promise<unknown> =>
  world.btp.kube.patch(
    serviceBinding,
    { name },
    { type: "merge", body: { metadata: { annotations: { [key]: "true" } } } },
  );

/** One of each: in order, late, frozen and late, paused, static, without a right to rotate. */
async function inventory(): Promise<CommandWorld> {
  const world = await CommandWorld.start("late", "frozen", "paused");
  await world.btp.create("static", { rotation: null });
  await world.btp.reconcile("static");
  await annotate(world, "frozen", "keyturn.dev/freeze");
  await annotate(world, "paused", "crossplane.io/paused");
  await world.btp.clock.advance(13 * DAY_MS);
  await world.btp.create("orders");
  await world.btp.reconcile("orders");
  return world;
}

const reported = async (world: CommandWorld, ...words: readonly string[]): Promise<ReadonlyMap<string, Item>> => {
  const { code, stdout } = await world.run(["compliance", "report", "-o", "json", ...words]);
  assert.equal(code, 0);
  const { credentials } = JSON.parse(stdout) as { readonly credentials: readonly Item[] };
  return new Map(credentials.map((item) => [item.name, item]));
};

test("the inventory says of every credential what is promised, what was kept of it, and why not", async () => {
  const world = await inventory();
  const items = await reported(world);
  const table: readonly (readonly [name: string, expected: Partial<Item>, reason: string])[] = [
    ["orders", { period: "12d", isInOrder: true, exceptions: [] }, "in order"],
    ["late", { overdue: "1d", isInOrder: false, exceptions: [] }, "nobody has rotated it"],
    ["frozen", { overdue: "1d", heldBackBy: "frozen", isInOrder: false }, "a person holds it back"],
    ["paused", { overdue: "1d", heldBackBy: "paused", isInOrder: false }, "and here, too"],
    ["static", { isInOrder: false }, "never rotated"],
  ];
  for (const [name, expected, reason] of table) assert.partialDeepStrictEqual(items.get(name), expected, reason);
  assert.deepEqual(
    ["frozen", "paused", "static"].map((name) => items.get(name)?.exceptions.map(({ kind }) => kind)),
    [["Frozen"], ["Paused"], ["Static"]],
  );
  assert.deepEqual([items.get("static")?.nextRotationAt, items.get("static")?.period], [undefined, undefined]);
  assert.equal(items.get("orders")?.lastRotationAt, "2025-11-18T13:14:28Z");
});

test("the next rotation is when one begins: none while somebody holds it back, and no earlier than a window opens", async () => {
  const world = await CommandWorld.start("orders", "frozen", "paused", "windowed");
  await annotate(world, "frozen", "keyturn.dev/freeze");
  await annotate(world, "paused", "crossplane.io/paused");
  const windows = [{ schedule: "0 3 * * 0", duration: "2h" }];
  await world.btp.kube.patch(
    serviceBinding,
    { name: "windowed" },
    { type: "merge", body: { spec: { rotation: { windows } } } },
  );
  const items = await reported(world);
  const next = (name: string): string | undefined => items.get(name)?.nextRotationAt;
  const due = "2025-11-17T13:14:28Z";
  assert.deepEqual(["orders", "frozen", "paused"].map(next), [due, undefined, undefined]);
  assert.equal(next("windowed"), "2025-11-23T03:00:00Z", "the Sunday after it is due");
  const dueAt = [...items.values()].map((item) => item.dueAt);
  assert.deepEqual(dueAt, [due, due, due, due], "what the policy promises stays the same");
  const { stdout } = await world.run(["compliance", "report"]);
  assert.match(stdout, /^\| servicebinding\/frozen \| \S+ \| 12d \| [^|]+ \| \S+ \| - \|$/m);
});

test("a longest period makes exceptions of those that take longer, and --exit-code tells of any", async () => {
  const world = await CommandWorld.start("orders");
  const check = async (...words: readonly string[]): Promise<number> =>
    (await world.run(["compliance", "report", "--exit-code", ...words])).code;
  assert.equal(await check(), 0);
  assert.equal(await check("--max-period", "12d"), 0);
  assert.equal(await check("--max-period", "11d"), 1);
  const items = await reported(world, "--max-period", "11d");
  assert.deepEqual(
    items.get("orders")?.exceptions.map(({ kind }) => kind),
    ["PeriodTooLong"],
  );
});

test("as Markdown it is tables that any renderer takes, without key material", async () => {
  const world = await inventory();
  const { stdout } = await world.run(["compliance", "report"]);
  assert.match(stdout, /^# Rotated credentials\n\nAs of 2025-11-18T13:14:28Z: 5 credentials\./);
  assert.match(stdout, /^\| ServiceBinding \| 5 \| 1 \| 3 \| 3 \| \d \|$/m);
  assert.match(
    stdout,
    /^\| servicebinding\/orders \| default\/orders-secret \| 12d \| my-sample-\S+ \(\S+\) \| 2025-11-18T13:14:28Z \| 2025-11-30T13:14:28Z \|$/m,
  );
  assert.match(stdout, /^\| servicebinding\/frozen \| 1d \| 2025-11-17T13:14:28Z \| frozen \|$/m);
  assert.match(stdout, /^\| servicebinding\/static \| Static \| there is no rotation: one key, for ever \|$/m);
  assert.doesNotMatch(stdout, new RegExp(CANARY));
  for (const block of stdout.split("\n\n").filter((part) => part.startsWith("|"))) {
    const widths = block
      .trimEnd()
      .split("\n")
      .map((row) => row.split(/(?<!\\)\|/).length);
    assert.equal(new Set(widths).size, 1, block);
  }
});

test("only one namespace, by that of the Secret; and what is not asked for is said", async () => {
  const world = await inventory();
  assert.equal((await reported(world, "-n", "default")).size, 5);
  assert.equal((await reported(world, "-n", "kube-public")).size, 0);
  await assert.rejects(world.run(["compliance"]), UsageError);
});
