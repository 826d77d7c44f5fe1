import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { AuditPast } from "./audit-past.ts";

const line = (at: string, action: string, key: string, name = "orders"): string =>
  JSON.stringify({ audit: 1, at, action, object: { kind: "ServiceBinding", name }, key: { id: key, name: key } });

test("keys that are no more are drawn from when they were published to when they were deleted", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-past-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "audit.log");
  const lines = [
    line("2024-01-01T00:00:00Z", "KeyPublished", "too-old"),
    line("2024-02-01T00:00:00Z", "KeyDeleted", "too-old"),
    line("2025-12-01T00:00:00Z", "KeyPublished", "a"),
    line("2025-12-02T00:00:00Z", "KeyPublished", "of-another", "invoices"),
    line("2025-12-10T00:00:00Z", "KeyPublished", "b"),
    line("2025-12-12T00:00:00Z", "KeyDeleted", "a"),
    line("2025-12-13T00:00:00Z", "KeyDeleted", "never-seen"),
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const log: LogLine[] = [];
  const audit = { paths: [path, join(folder, "missing.log")], namespace: "" };
  const past = new AuditPast({ audit, clock, logger: recordingLogger(log) });
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
