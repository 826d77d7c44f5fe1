import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { type EmbeddedCluster, embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { secretType } from "../publish/secret-publisher.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { ANCHOR_SECRET, AuditLedger, KEY_SECRET } from "./audit-ledger.ts";
import { AuditLog } from "./audit-log.ts";
import { FileCheck } from "./file-check.ts";
import type { LineSink } from "./line-sink.ts";
import { judge, type Verdict } from "./verdict.ts";

const { signal } = new AbortController();
const entry = (name: string): AuditEntry => ({
  controller: "btp",
  action: "KeyRotated",
  object: { kind: "ServiceBinding", name: "orders", uid: "u" },
  key: { id: name, name },
  outcome: "done",
  note: `Key ${name} is active.`,
});

/** What a process writes, in memory; `problem` is thrown instead while it is there. */
class MemorySink implements LineSink {
  text = "";
  problem: Error | undefined;
  async mend(): Promise<number> {
    const torn = this.text.length - (this.text.lastIndexOf("\n") + 1);
    if (torn > 0) this.text += "\n";
    return torn;
  }
  async write(text: string): Promise<void> {
    if (this.problem) throw this.problem;
    this.text += text;
  }
  async close(): Promise<void> {}
}

interface Place {
  readonly cluster: EmbeddedCluster;
  readonly sink: MemorySink;
}

function begin({ cluster, sink }: Place, chain: string, clock = new ManualClock(Date.UTC(2026, 0, 1))) {
  const { kube } = cluster;
  const counted: string[] = [];
  const log = new AuditLog({
    sink,
    openLedger: (aborted) => AuditLedger.open({ kube, namespace: "default", random: seededRandom(3) }, aborted),
    clock,
    logger: silentLogger,
    instance: `pod of ${chain}`,
    chain,
    version: "1",
    observer: {
      written: (lines) => void counted.push(`written ${lines}`),
      anchored: () => void counted.push("anchored"),
      failed: (what) => void counted.push(`failed ${what}`),
      lost: (lines) => void counted.push(`lost ${lines}`),
    },
  });
  return { log, clock, counted };
}

const place = (): Place => ({ cluster: embeddedCluster(), sink: new MemorySink() });

/** Until nothing more happens: what is under way takes turns of the loop, and no time. */
async function settled(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !holds(); turn++) await new Promise((resolve) => queueMicrotask(() => resolve(0)));
  for (let turn = 0; turn < 200 && !holds(); turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(holds());
}

async function verdictOn({ cluster, sink }: Place): Promise<Verdict> {
  const ledger = await AuditLedger.find({ kube: cluster.kube, namespace: "default" });
  const check = new FileCheck({ file: "audit.log", key: ledger.key, isMixed: false });
  const lines = sink.text.split("\n");
  for (const line of lines.slice(0, -1)) check.next(line, Buffer.byteLength(line));
  const anchors = await ledger.read();
  return judge({ files: [check.finish(lines.at(-1)?.length ?? 0)], anchors, sinceAt: -Infinity });
}

const linesOf = ({ sink }: Place): readonly Record<string, unknown>[] =>
  sink.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("what is recorded is written in order, and anchored now and then and at the end", async () => {
  const here = place();
  const { log, clock, counted } = begin(here, "one");
  log.record(entry("a"));
  log.record(entry("b"));
  await settled(() => log.state.waiting === 0 && log.state.unanchored === 3);
  const before = await verdictOn(here);
  assert.equal(before.isSound, true);
  assert.match(before.notes.join(), /3 lines after the anchor/);
  clock.advance(10_000);
  await settled(() => log.state.unanchored === 0);
  assert.deepEqual((await verdictOn(here)).notes, []);
  log.record(entry("c"));
  await log.close(signal);
  log.record(entry("too late"));
  const after = await verdictOn(here);
  assert.deepEqual([after.isSound, after.notes, after.lines], [true, [], 5]);
  assert.deepEqual(
    after.chains.map(({ instance, isEnded }) => [instance, isEnded]),
    [["pod of one", true]],
  );
  assert.deepEqual(
    linesOf(here).map(({ action, key }) => [action, (key as { id: string } | undefined)?.id]),
    [
      ["AuditBegun", undefined],
      ["KeyRotated", "a"],
      ["KeyRotated", "b"],
      ["KeyRotated", "c"],
      ["AuditEnded", undefined],
    ],
  );
  assert.deepEqual(counted.slice(0, 2), ["anchored", "written 3"]);
});

test("a process that does nothing leaves no trace", async () => {
  const here = place();
  const { log } = begin(here, "one");
  await log.close(signal);
  assert.equal(here.sink.text, "");
  assert.deepEqual((await here.cluster.kube.list(secretType, { namespace: "default" })).items, []);
});

test("processes one after the other know of each other, also of one that died in the middle of a line", async () => {
  const here = place();
  const { log: died } = begin(here, "one");
  died.record(entry("a"));
  await settled(() => died.state.waiting === 0 && died.state.unanchored > 0);
  here.sink.text += '{"audit":1,"chai';
  const { log: next } = begin(here, "two");
  next.record(entry("b"));
  await next.close(signal);
  const verdict = await verdictOn(here);
  assert.deepEqual(verdict.faults, []);
  assert.match(verdict.notes.join(), /chain one: 2 lines after the anchor/);
  here.sink.text = here.sink.text.slice(here.sink.text.indexOf("chai\n") + 5);
  const cut = await verdictOn(here);
  assert.equal(cut.isSound, true, "nothing of the first was ever anchored, so nothing of it can be missed");
});

test("what cannot be written is tried again, and what there is no room for is counted in a line", async () => {
  const here = place();
  here.sink.problem = new Error("the disk is full");
  const { log, clock, counted } = begin(here, "one");
  for (let count = 0; count < 10_002; count++) log.record(entry(`key-${count}`));
  await settled(() => counted.includes("failed write"));
  here.sink.problem = undefined;
  clock.advance(60_000);
  await settled(() => log.state.waiting === 0);
  await log.close(signal);
  const verdict = await verdictOn(here);
  assert.deepEqual(verdict.faults, []);
  assert.equal(verdict.lines, 10_003);
  const lost = linesOf(here).filter(({ action }) => action === "AuditLost");
  assert.deepEqual(
    lost.map(({ count }) => count),
    [2],
  );
  assert.ok(counted.includes("lost 2"));
});

test("two processes anchor in turns, and neither takes the other's away", async () => {
  const here = place();
  const others = { cluster: here.cluster, sink: new MemorySink() };
  const one = begin(here, "one");
  const two = begin(others, "two");
  for (let round = 0; round < 3; round++) {
    one.log.record(entry(`a${round}`));
    two.log.record(entry(`b${round}`));
    await settled(() => one.log.state.waiting + two.log.state.waiting === 0);
    one.clock.advance(10_000);
    two.clock.advance(10_000);
    await settled(() => one.log.state.unanchored + two.log.state.unanchored === 0);
  }
  await Promise.all([one.log.close(signal), two.log.close(signal)]);
  const ledger = await AuditLedger.find({ kube: here.cluster.kube, namespace: "default" });
  const { anchors } = await ledger.read();
  assert.deepEqual(anchors.map(({ chain, sequence, isEnded }) => [chain, sequence, isEnded]).sort(), [
    ["one", 5, true],
    ["two", 5, true],
  ]);
});

test("the key is the operator's own and shows nowhere; a damaged one is refused with the remedy", async () => {
  const here = place();
  const { log } = begin(here, "one");
  log.record(entry("a"));
  await log.close(signal);
  const { kube } = here.cluster;
  const secret = await kube.get(secretType, { namespace: "default", name: KEY_SECRET });
  assert.equal(secret.immutable, true);
  const { key } = secret.data as { readonly key: string };
  const anchors = await kube.get(secretType, { namespace: "default", name: ANCHOR_SECRET });
  assert.ok(!here.sink.text.includes(key) && !JSON.stringify(anchors).includes(key));
  await kube.delete(secretType, { namespace: "default", name: KEY_SECRET });
  const damaged: KubeObject = {
    ...secret,
    metadata: { namespace: "default", name: KEY_SECRET },
    data: { key: "YQ==" },
  };
  await kube.create(secretType, damaged);
  await assert.rejects(AuditLedger.find({ kube, namespace: "default" }), { code: "AuditKeyDamaged" });
});
