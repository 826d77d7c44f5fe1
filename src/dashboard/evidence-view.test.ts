import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { formatInstant } from "../base/instant.ts";
import { dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import type { EvidenceView } from "./wire.ts";

const FREEZE = { "keyturn.dev/freeze": "true" };
const ill = {
  type: "Synced",
  status: "False",
  reason: "ProviderUnavailable",
  message: "it cannot\nserve now",
  lastTransitionTime: "2025-03-01T00:00:00Z",
};
const HOUR_MS = 3_600_000;
const ago = (hours: number): string => formatInstant(systemClock.now() - hours * HOUR_MS);
/** Its time ended an hour ago. */
const held = {
  id: "old",
  name: "old",
  createdDate: ago(400),
  retiredDate: ago(200),
  replacedDate: ago(200),
  deletionDate: ago(1),
  overlap: "199h",
  cause: "rotated",
  heldFor: "Deployment shop/web (2 pods)",
};
const waits = { rotation: { frequency: "288h", ttl: "336h", revoke: "AfterConsumers" } };

const keyed = (name: string): object => ({
  atProvider: { id: `${name}-id`, name, createdDate: ago(48), sequence: 1, madeFrom: "m" },
  sequence: 1,
});

test("evidence names no rotation that does not begin, says of problems what they are, and counts what is held back", async (t) => {
  const world = await dashboardWorld();
  t.after(() => world.close());
  await putBinding(world.kube, "sound");
  await putBinding(world.kube, "frozen", { metadata: { annotations: FREEZE } });
  await putBinding(world.kube, "ill", { status: { ...keyed("ill"), conditions: [ill] } });
  await putBinding(world.kube, "held", { spec: waits, status: { ...keyed("held"), retiredKeys: [held] } });
  const page = await world.live();
  await page.until((message) => "rows" in message && message.rows.some(({ id }) => id === "ServiceBinding/held"));
  // What a server answers is JSON of any shape; this is what it should be.
  const { items, heldKeys } = (await world.ask("/api/evidence?maxPeriod=2d")).json as unknown as EvidenceView;
  const item = (name: string) => items.find((one) => one.name === name) ?? assert.fail(name);
  assert.equal(typeof item("sound").nextRotationAt, "number");
  assert.equal(item("frozen").nextRotationAt, undefined);
  assert.deepEqual(item("ill").problems, [{ reason: "ProviderUnavailable", words: "it cannot serve now" }]);
  assert.deepEqual(
    item("sound").exceptions.map(({ words }) => words),
    ["its period is longer than the 2d asked for"],
  );
  assert.deepEqual([item("held").problems, item("held").kind, heldKeys], [[], "ServiceBinding", 1]);
  await page.leave();
});
