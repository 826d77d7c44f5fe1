import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import { AuditPast } from "./audit-past.ts";
import { type KeyBar, MAX_PAST_KEYS } from "./wire.ts";

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 0, 1);

const line = (at: string, action: string, key: string, name = "orders"): string =>
  JSON.stringify({ audit: 1, at, action, object: { kind: "ServiceBinding", name }, key: { id: key, name: key } });

async function tempFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-past-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function written(path: string, lines: readonly string[]): Promise<string> {
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
}

const pastIn = (paths: readonly string[], log: LogLine[] = []): AuditPast =>
  new AuditPast({ audit: { paths, namespace: "" }, clock: new ManualClock(NOW), logger: recordingLogger(log) });

/** Keys of a minute each, one after the other. */
const keysFrom = (first: number, count: number, name = "orders"): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const at = (minutes: number): string =>
      new Date(Date.UTC(2025, 11, 1) + (first + index + minutes) * MINUTE_MS).toISOString();
    const key = `${name}-${first + index}`;
    return [line(at(0), "KeyPublished", key, name), line(at(1), "KeyDeleted", key, name)];
  }).flat();

test("keys that are no more are drawn from when they were published to when they were deleted", async (t) => {
  const folder = await tempFolder(t);
  const lines = [
    line("2024-01-01T00:00:00Z", "KeyPublished", "too-old"),
    line("2024-02-01T00:00:00Z", "KeyDeleted", "too-old"),
    line("2025-12-01T00:00:00Z", "KeyPublished", "a"),
    line("2025-12-02T00:00:00Z", "KeyPublished", "of-another", "invoices"),
    line("2025-12-10T00:00:00Z", "KeyPublished", "b"),
    line("2025-12-12T00:00:00Z", "KeyDeleted", "a"),
    line("2025-12-13T00:00:00Z", "KeyDeleted", "never-seen"),
  ];
  const path = await written(join(folder, "audit.log"), lines);
  const log: LogLine[] = [];
  const past = pastIn([path, join(folder, "missing.log")], log);
  const [first, second] = await Promise.all([
    past.deletedOf(["ServiceBinding/orders"]),
    past.deletedOf(["ServiceBinding/orders", "ServiceBinding/nobody"]),
  ]);
  assert.deepEqual(first.get("ServiceBinding/orders"), [
    {
      id: "a",
      name: "a",
      state: "deleted",
      createdAt: Date.UTC(2025, 11, 1),
      replacedAt: Date.UTC(2025, 11, 10),
      deletedAt: Date.UTC(2025, 11, 12),
    },
  ]);
  assert.deepEqual(second.get("ServiceBinding/orders"), first.get("ServiceBinding/orders"));
  assert.deepEqual(second.get("ServiceBinding/nobody"), []);
  assert.equal(log.length, 2, "what cannot be read is told of, once for each walk");
});

const idsOf = (bars: readonly KeyBar[] | undefined): readonly string[] => (bars ?? []).map(({ id }) => id);

/** The newest first. */
const newest = (end: number): readonly string[] =>
  Array.from({ length: MAX_PAST_KEYS }, (_, index) => `orders-${end - 1 - index}`);

test("of very many keys the newest are kept, in whatever order the files are named", async (t) => {
  const folder = await tempFolder(t);
  const older = await written(join(folder, "audit.log.1"), keysFrom(0, 2500));
  const newer = await written(join(folder, "audit.log"), keysFrom(2500, 900));
  for (const paths of [
    [older, newer],
    [newer, older],
  ]) {
    const past = await pastIn(paths).deletedOf(["ServiceBinding/orders"]);
    assert.deepEqual(idsOf(past.get("ServiceBinding/orders")), newest(3400), paths.join(" "));
  }
});

test("who has many keys takes no room from others, and what was read before is told with what is read now", async (t) => {
  const folder = await tempFolder(t);
  const names = Array.from({ length: 120 }, (_, index) => `many-${index}`);
  const lines = names.flatMap((name) => keysFrom(0, MAX_PAST_KEYS, name));
  const past = pastIn([await written(join(folder, "audit.log"), [...keysFrom(0, 3), ...lines])]);
  const ids = names.map((name) => `ServiceBinding/${name}`);
  for (const asked of [ids.slice(0, 100), ["ServiceBinding/orders", ...ids.slice(0, 79), ...ids.slice(100)]]) {
    const told = await past.deletedOf(asked);
    for (const id of asked) {
      assert.equal(told.get(id)?.length, id === "ServiceBinding/orders" ? 3 : MAX_PAST_KEYS, id);
    }
  }
});

test("of a key that only the log knows, it is told why it was wanted", async (t) => {
  const intended = (at: string, name: string, cause: string): string =>
    JSON.stringify({
      audit: 1,
      at,
      action: "KeyIntended",
      object: { kind: "ServiceBinding", name: "orders" },
      key: { name },
      cause,
    });
  const path = await written(join(await tempFolder(t), "audit.log"), [
    intended("2025-12-01T00:00:00Z", "a", "Forced"),
    line("2025-12-01T00:00:01Z", "KeyPublished", "a"),
    intended("2025-12-05T00:00:00Z", "b", "Compromised"),
    line("2025-12-05T00:00:01Z", "KeyPublished", "b"),
    line("2025-12-05T00:00:02Z", "KeyDeleted", "a"),
    intended("2025-12-17T00:00:00Z", "c", "RotationDue"),
    line("2025-12-17T00:00:01Z", "KeyPublished", "c"),
    line("2025-12-19T00:00:00Z", "KeyDeleted", "b"),
    line("2025-12-20T00:00:00Z", "KeyDeleted", "c"),
  ]);
  const told = await pastIn([path]).deletedOf(["ServiceBinding/orders"]);
  assert.deepEqual(
    told.get("ServiceBinding/orders")?.map(({ id, mark }) => [id, mark]),
    [
      ["c", undefined],
      ["b", { kind: "compromised", words: whyIntended("Compromised") }],
      ["a", { kind: "forced", words: whyIntended("Forced") }],
    ],
  );
});
