import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { leaseType } from "../../src/runtime/lease-record.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { Fuse, type Side } from "../reconcile/fuse.ts";
import { UninstallWorld } from "./uninstall-world.ts";

/** More writes than it takes. */
const MAX_WRITES = 60;

/** An uninstallation that dies before or after any of its writes: the next one completes it, and the end is always the same. */
describe("an uninstallation that dies", { concurrency: 1, timeout: 900_000 }, () => {
  let world: UninstallWorld;
  before(async () => {
    world = await UninstallWorld.open();
  });
  after(() => world.close());

  const names = async (...types: readonly (typeof secretType)[]): Promise<readonly string[]> => {
    const lists = await Promise.all(types.map((type) => world.kube.list(type).catch(() => ({ items: [] }))));
    return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name)).sort();
  };

  const WAYS = [
    {
      title: "keys stay",
      words: [],
      keys: 2,
      left: [
        "keyturn-audit-anchor",
        "keyturn-audit-key",
        "keyturn-fingerprint-key",
        "login",
        "orders",
        "orders",
        "stock",
        "stock",
      ],
    },
    { title: "everything goes", words: ["--keys", "delete", "--crds", "delete"], keys: 0, left: ["login"] },
  ];

  for (const { title, words, keys, left } of WAYS) {
    for (const side of ["before", "after"] satisfies readonly Side[]) {
      test(`${title}: it dies ${side} each of its writes`, async () => {
        let deaths = 0;
        for (let at = 1; at <= MAX_WRITES; at++) {
          await world.install();
          for (const name of ["orders", "stock"]) await world.bind(name);
          await world.settle();
          assert.equal((await world.held()).length, 4, "there is something to take off");
          const fuse = new Fuse(at, side);
          const first = await world.uninstall([...words, "--yes"], { fuse });
          const second = await world.uninstall([...words, "--yes"]);
          const context = `${at}: ${fuse.last}\n${first.stdout}\n${second.stdout}${second.stderr}`;
          assert.equal(second.code, 0, context);
          assert.deepEqual(await world.held(), [], context);
          assert.equal(world.keys.size, keys, context);
          assert.deepEqual(await names(secretType, btp.type), left, context);
          assert.deepEqual(await names(deploymentType, leaseType), [], context);
          assert.equal((await names(customResourceDefinitions)).length, keys === 0 ? 0 : 3, context);
          if (!fuse.isBlown) break;
          deaths++;
        }
        assert.ok(deaths > 20 && deaths < MAX_WRITES, `it died ${deaths} times`);
      });
    }
  }
});
