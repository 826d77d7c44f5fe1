import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { type DashboardWorld, dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import { type Future, type KeyBar, MAX_FUTURE_KEYS, MAX_PAST_KEYS } from "./wire.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const line = (at: number, action: string, id: string): string =>
  JSON.stringify({
    audit: 1,
    at: new Date(at).toISOString(),
    action,
    object: { kind: "ServiceBinding", name: "orders" },
    key: { id, name: `orders-${id}` },
  });

/** A log of so many keys of an hour each, the last of which went an hour ago. */
async function logOf(t: TestContext, keys: number, now: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-futures-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "audit.log");
  const lines = Array.from({ length: keys }, (_, index) => {
    const at = now - (keys - index + 1) * HOUR_MS;
    return [line(at, "KeyPublished", `gone-${index}`), line(at + HOUR_MS, "KeyDeleted", `gone-${index}`)];
  });
  await writeFile(path, `${lines.flat().join("\n")}\n`);
  return path;
}

/** A page that has been told of all of them. */
async function seen(world: DashboardWorld, ids: readonly string[]): Promise<{ leave(): Promise<void> }> {
  const page = await world.live();
  const missing = new Set(ids);
  await page.until((message) => {
    if ("rows" in message) for (const { id } of message.rows) missing.delete(id);
    return missing.size === 0;
  });
  return page;
}

const isGone = ({ state }: KeyBar): boolean => state === "deleted";

test("what is to come takes no room from what was, nor the other way round", async (t) => {
  const now = systemClock.now();
  const world = await dashboardWorld({ auditPaths: [await logOf(t, 500, now)] });
  t.after(() => world.close());
  const id = "ServiceBinding/orders";
  await putBinding(world.kube, "orders", { spec: { rotation: { frequency: "1h", ttl: "2h" } } });
  const page = await seen(world, [id]);
  const { json, text } = await world.ask("/api/futures", {
    body: { ids: [id], until: now + 365 * DAY_MS, sight: { from: now, until: now } },
  });
  await page.leave();
  const { keys, until = Infinity } = json.futures[id] as Future;
  const [gone, others] = [keys.filter(isGone), keys.filter((key) => !isGone(key))];
  assert.equal(gone.length, MAX_PAST_KEYS);
  assert.equal(gone[0]?.id, "gone-499", "the newest of those that are no more");
  assert.equal(others.length, MAX_FUTURE_KEYS);
  assert.ok(others.some(({ state }) => state === "active"));
  assert.ok(until < now + 30 * DAY_MS, "and where the others end is said");
  assert.ok(text.length < 250_000, `${text.length} characters`);
});

test("windows are told of the time in sight, whatever time the keys are foreseen for", async (t) => {
  const world = await dashboardWorld();
  t.after(() => world.close());
  const now = systemClock.now();
  const windows = [{ schedule: "0 3 * * *", duration: "2h" }];
  await putBinding(world.kube, "nightly", { spec: { rotation: { frequency: "288h", ttl: "336h", windows } } });
  await putBinding(world.kube, "any-time");
  const ids = ["ServiceBinding/nightly", "ServiceBinding/any-time"];
  const page = await seen(world, ids);
  const day = Math.floor(now / DAY_MS) * DAY_MS - 200 * DAY_MS;
  const sight = { from: day, until: day + 3 * DAY_MS };
  const { json } = await world.ask("/api/futures", { body: { ids, until: now + DAY_MS, sight } });
  await page.leave();
  const [nightly, anyTime] = ids.map((id) => json.futures[id] as Future);
  assert.deepEqual(
    nightly?.windows,
    [0, 1, 2].map((after) => ({
      from: day + after * DAY_MS + 3 * HOUR_MS,
      until: day + after * DAY_MS + 5 * HOUR_MS,
    })),
  );
  assert.equal(anyTime?.windows, undefined);
});
