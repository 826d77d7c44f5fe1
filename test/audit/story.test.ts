import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { AuditLedger } from "../../src/audit/audit-ledger.ts";
import { AuditLog } from "../../src/audit/audit-log.ts";
import { FileSink } from "../../src/audit/line-sink.ts";
import { UsageError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { runOn, type Said } from "../cli/command-world.ts";
import { BtpWorld } from "../reconcile/btp-world.ts";
import { CANARY } from "../reconcile/managed-world.ts";
import { WorldOperator } from "../reconcile/world-operator.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const MINUTE_MS = 60_000;
const { signal } = new AbortController();

/** An operator that writes an audit log to a file, until it is told to stop. */
function operate(world: BtpWorld, path: string, chain: string) {
  const { kube, clock, random } = world;
  const log = new AuditLog({
    sink: new FileSink(path),
    openLedger: (aborted) => AuditLedger.open({ kube, namespace: "default", random }, aborted),
    clock,
    logger: silentLogger,
    instance: `pod-${chain}`,
    chain,
    version: "0",
  });
  const operator = new WorldOperator(world, { audit: log });
  return async (): Promise<void> => {
    await operator.stop();
    await log.close(signal);
  };
}

const verify = (world: BtpWorld, ...words: readonly string[]): Promise<Said> =>
  runOn(world, ["audit", "verify", "-n", "default", ...words]);

interface Line {
  readonly action: string;
  readonly outcome?: string;
  readonly cause?: string;
  readonly key?: { readonly id?: string; readonly name: string };
}

test("a key from its intent to its deletion, and what is said of the log after each thing that may become of it", async (context) => {
  const folder = scratchFolder();
  const path = join(folder, "audit.log");
  const world = new BtpWorld();
  await world.populate();
  const stop = operate(world, path, "one");
  await world.clock.advance(2000);
  await world.create("orders", { rotation: { frequency: "12m", ttl: "14m" } });
  await world.clock.advance(15 * MINUTE_MS);
  await stop();
  const text = await readFile(path, "utf8");
  const lines = text.trimEnd().split("\n");
  const told = lines.map((line) => JSON.parse(line) as Line);

  await context.test("every step is there with what it was done for", () => {
    assert.deepEqual(
      told.map(({ action, outcome, cause }) => [action, outcome, cause].filter(Boolean).join(" ")),
      [
        "AuditBegun",
        "KeyIntended intended FirstKey",
        "KeyPublished done",
        "KeyCreated done first",
        "KeyIntended intended RotationDue",
        "KeyPublished done",
        "KeyRotated done rotated",
        "KeyDeleted done rotated",
        "AuditEnded",
      ],
    );
    const [, , first, , , second, , deleted] = told;
    assert.equal(deleted?.key?.id, first?.key?.id);
    assert.notEqual(second?.key?.id, first?.key?.id);
    assert.doesNotMatch(text, new RegExp(CANARY), "no key material");
  });

  await context.test("it is sound", async () => {
    const { code, stdout } = await verify(world, path);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^Sound: 9 lines of 1 process, all as they were written\.\n/);
    assert.match(stdout, /^one +pod-one +1-9 +9 +in order$/m);
  });

  await context.test("what somebody has done to it is named, with the place", async () => {
    const table: readonly (readonly [content: readonly string[], fault: RegExp, reason: string])[] = [
      [lines.with(4, lines[4]?.replace("RotationDue", "Compromised") ?? ""), /:5 {2}changed: /, "another cause"],
      [lines.toSpliced(6, 1), /:7 {2}missing: line 7 of its chain is missing before it/, "a line less"],
      [lines.slice(0, 5), /cut off: the anchor is ahead of the file by 4 lines, at line 9/, "its end"],
      [lines.with(1, lines[2] ?? "").with(2, lines[1] ?? ""), /:3 {2}reordered: /, "in another order"],
      [[], /missing: nothing is there of this chain of pod-one, which had 9 lines/, "all of it"],
    ];
    for (const [content, fault, reason] of table) {
      const other = join(folder, "other.log");
      await writeFile(other, content.map((line) => `${line}\n`).join(""));
      const { code, stdout } = await verify(world, other);
      assert.equal(code, 1, reason);
      assert.match(stdout, fault, reason);
    }
  });

  await context.test("logrotate and a second process", async () => {
    await rename(path, `${path}.1`);
    const stopNext = operate(world, path, "two");
    await world.clock.advance(15 * MINUTE_MS);
    await stopNext();
    await writeFile(`${path}.1.gz`, gzipSync(await readFile(`${path}.1`)));
    const { code, stdout } = await verify(world, path, `${path}.1.gz`);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /of 2 processes/);
    assert.match((await verify(world, path)).stdout, /nothing is there of this chain of pod-one/);
    assert.equal((await verify(world, path, "--instance", "pod-two")).code, 0, "only of the other one");
    assert.equal((await verify(world, path, "--since", "2025-11-05T13:29:45Z")).code, 0, "the first is old enough");
  });

  await context.test("as it comes out of kubectl logs, and for programs", async () => {
    const mixed = join(folder, "mixed.log");
    const second = (await readFile(path, "utf8")).trimEnd().split("\n");
    await writeFile(mixed, [...lines, ...second].map((line) => `{"level":"info"}\n${line}\n`).join(""));
    assert.equal((await verify(world, mixed)).code, 1, "others wrote to it");
    const { code, stdout } = await verify(world, mixed, "--mixed", "-o", "json");
    assert.equal(code, 0);
    const { isSound, foreign } = JSON.parse(stdout) as { readonly isSound: boolean; readonly foreign: number };
    assert.deepEqual([isSound, foreign], [true, lines.length + second.length]);
  });

  await context.test("what cannot be read is one line", async () => {
    await assert.rejects(verify(world, join(folder, "none.log")), UsageError);
    await assert.rejects(runOn(world, ["audit", "verify", "-n", "kube-public", path]), /no key of an audit log/);
    await assert.rejects(runOn(world, ["audit"]), /keyturn audit verify FILE/);
  });
});
