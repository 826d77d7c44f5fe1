import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { Invalid } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { beginOn, type Running } from "./command-world.ts";
import { CredentialsWorld, SPACE } from "./credentials-world.ts";

/** `keyturn credentials set` where a policy lets nobody but the operator change what bears its marks. */
const NEW = '{"user":"canary"}';
const MARK = "keyturn.dev/derived";
const db = { namespace: SPACE, name: "db" };
const migrated = { namespace: SPACE, name: "db-migrated" };

/** What somebody gets to, for whom the policy holds. */
const protectedFrom = (kube: Kube): Kube => ({
  ...kube,
  get: (type, ref, options) => kube.get(type, ref, options),
  patch: async (type, ref, patch, options) => {
    const isMarked = type.kind === "Secret" && (await kube.get(type, ref)).metadata.labels?.[MARK] !== undefined;
    if (isMarked) throw new Invalid("denied request: this Secret is published by Keyturn");
    return kube.patch(type, ref, patch, options);
  },
});

const begin = (world: CredentialsWorld, ...words: readonly string[]): Running =>
  beginOn(
    { kube: protectedFrom(world.kube), clock: world.clock },
    ["credentials", "set", "db", "-n", SPACE, "-f", "-", "--no-wait", ...words],
    NEW,
  );

/** What an operator does once the instance names the Secret. */
const handOver = (world: CredentialsWorld): Promise<unknown> =>
  world.kube.patch(secretType, migrated, { type: "merge", body: { metadata: { labels: { [MARK]: null } } } });

test("it waits until the operator has handed the Secret over, and then writes", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  const { said, ended } = begin(world);
  await world.pass(1_000);
  assert.equal(await world.namedSecret(), "db-migrated");
  assert.deepEqual(await world.texts("db-migrated"), { credentials: '{"user":"u"}' });
  await world.pass(20_000);
  await handOver(world);
  await world.pass(1_000);
  assert.deepEqual([await ended, said.stderr], [0, ""]);
  assert.deepEqual(said.stdout.trimEnd().split("\n"), [
    "cfserviceinstance/space/db: spec.secretName set to db-migrated",
    "cfserviceinstance/space/db: credentials written to the Secret db-migrated",
  ]);
  assert.deepEqual(await world.texts("db-migrated"), { credentials: NEW });
});

test("without an operator, or interrupted, all is as it was, and the line says why", async () => {
  const table = [
    {
      how: "time",
      code: 1,
      why: /no operator has taken that away within 30s: is one running\?; nothing has changed\n$/,
    },
    { how: "interrupt", code: 130, why: /interrupted before the operator had taken that away; nothing has changed\n$/ },
  ] as const;
  for (const { how, code, why } of table) {
    for (const isNamed of [true, false]) {
      const world = await CredentialsWorld.start();
      await world.legacy();
      if (!isNamed) {
        await world.kube.patch(cfServiceInstance, db, { type: "merge", body: { spec: { secretName: null } } });
      }
      const { said, ended, interrupt } = begin(world);
      await world.pass(1_000);
      if (how === "interrupt") interrupt();
      else for (let seconds = 0; seconds < 31; seconds++) await world.pass(1_000);
      assert.equal(await ended, code);
      assert.match(said.stderr, /^keyturn: cfserviceinstance\/space\/db: the Secret db-migrated is protected for as/);
      assert.match(said.stderr, why);
      assert.equal(await world.namedSecret(), isNamed ? "db" : undefined);
      assert.deepEqual(await world.texts("db-migrated"), { credentials: '{"user":"u"}' });
    }
  }
});

test("whoever has pointed the instance elsewhere meanwhile has the last word", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  await world.kube.patch(cfServiceInstance, db, { type: "merge", body: { spec: { secretName: "db-migrated" } } });
  const { said, ended } = begin(world);
  for (let seconds = 0; seconds < 31; seconds++) await world.pass(1_000);
  assert.equal(await ended, 1);
  assert.match(said.stderr, /is one running\?/);
  assert.equal(await world.namedSecret(), "db-migrated", "that was not done here");
});

test("a dry run says both steps, though the second would not be let through yet", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  const { said, ended } = begin(world, "--dry-run");
  assert.equal(await ended, 0);
  assert.deepEqual(said.stdout.trimEnd().split("\n"), [
    "cfserviceinstance/space/db: spec.secretName set to db-migrated (dry run)",
    "cfserviceinstance/space/db: credentials written to the Secret db-migrated (dry run)",
  ]);
  assert.equal(await world.namedSecret(), "db");
});

test("what is refused for another reason is not waited for", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  await handOver(world);
  const kube: Kube = {
    ...world.kube,
    get: (type, ref, options) => world.kube.get(type, ref, options),
    patch: (type, ref, patch, options) =>
      type.kind === "Secret"
        ? Promise.reject(new Invalid("somebody else's policy"))
        : world.kube.patch(type, ref, patch, options),
  };
  await assert.rejects(world.set(NEW, ["--no-wait"], kube), { name: "Invalid", message: "somebody else's policy" });
});
