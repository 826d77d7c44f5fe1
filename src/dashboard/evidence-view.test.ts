import assert from "node:assert/strict";
import { test } from "node:test";
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
const held = {
  id: "old",
  name: "old",
  createdDate: "2025-01-01T00:00:00Z",
  retiredDate: "2025-02-01T00:00:00Z",
  replacedDate: "2025-02-01T00:00:00Z",
  deletionDate: "2025-03-01T00:00:00Z",
  cause: "rotated",
  heldFor: "Deployment shop/web (2 pods)",
};

const keyed = (name: string): object => ({
  atProvider: { id: `${name}-id`, name, createdDate: "2999-01-01T00:00:00Z", sequence: 1, madeFrom: "m" },
  sequence: 1,
});

test("evidence names no rotation that does not begin, says of problems what they are, and counts what is held back", async (t) => {
  const world = await dashboardWorld();
  t.after(() => world.close());
  await putBinding(world.kube, "sound");
  await putBinding(world.kube, "frozen", { metadata: { annotations: FREEZE } });
  await putBinding(world.kube, "ill", { status: { ...keyed("ill"), conditions: [ill] } });
  await putBinding(world.kube, "held", { status: { ...keyed("held"), retiredKeys: [held] } });
  const page = await world.live();
  await page.until((message) => "rows" in message && message.rows.some(({ id }) => id === "ServiceBinding/held"));
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
