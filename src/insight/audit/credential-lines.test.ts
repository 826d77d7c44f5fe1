import assert from "node:assert/strict";
import { test } from "node:test";
import { credentialLines } from "./credential-lines.ts";
import { linesOf } from "./read-lines.ts";

const line = (name: string, at: string, action: string, namespace?: string): string =>
  JSON.stringify({ audit: 1, at, action, object: { kind: "RotatingResource", namespace, name }, outcome: "done" });

async function* bytes(...texts: string[]): AsyncIterable<Uint8Array> {
  yield Buffer.from(`${texts.join("\n")}\n`);
}

const wanted = { kind: "RotatingResource", namespace: "shop", name: "orders", sinceAt: Date.UTC(2026, 0, 1), most: 2 };

test("of a log only what is about the resource is taken, the latest of it", async () => {
  const lines = linesOf(
    bytes(
      line("orders", "2025-12-31T23:59:59Z", "TooOld", "shop"),
      line("orders", "2026-01-01T00:00:01Z", "First", "shop"),
      line("orders", "2026-01-02T00:00:00Z", "OfAnother", "bank"),
      "{ not a line",
      `kubelet says: ${line("orders", "2026-01-03T00:00:00Z", "Second", "shop")}`,
      line("invoices", "2026-01-04T00:00:00Z", "OfAnother", "shop"),
      line("orders", "never", "Undated", "shop"),
      line("orders", "2026-01-05T00:00:00Z", "Third", "shop"),
    ),
  );
  const found = await credentialLines(lines, wanted);
  assert.deepEqual(
    found.map(({ action }) => action),
    ["Second", "Third"],
  );
});
