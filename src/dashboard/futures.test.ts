import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
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

const isGone = ({ state }: KeyBar): boolean => state === "deleted";

test("what is to come takes no room from what was, nor the other way round", async (t) => {
  const now = systemClock.now();
  const world = await dashboardWorld({ auditPaths: [await logOf(t, 500, now)] });
  t.after(() => world.close());
  const id = "ServiceBinding/orders";
  await putBinding(world.kube, "orders", { spec: { rotation: { frequency: "1h", ttl: "2h" } } });
  const page = await world.live();
  await page.until((message) => "rows" in message && message.rows.some((row) => row.id === id));
  const { json, text } = await world.ask("/api/futures", { body: { ids: [id], until: now + 365 * DAY_MS } });
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
