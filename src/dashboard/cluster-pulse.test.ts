import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { Forbidden, Unreachable } from "../kube/errors.ts";
import { ClusterPulse } from "./cluster-pulse.ts";

/** A cluster that answers, refuses, or hangs, and counts what it is asked. */
function pulseWorld() {
  const clock = new ManualClock();
  const cluster = { mood: "well" as "well" | "refuses" | "hangs", asked: 0 };
  const fetch = async (_: string, { timeoutMs = 0 }: { readonly timeoutMs?: number } = {}): Promise<unknown> => {
    cluster.asked++;
    if (cluster.mood === "refuses") throw new Forbidden("no", { status: 403 });
    if (cluster.mood === "well") return {};
    return new Promise((_, reject) => clock.setTimer(() => reject(new Unreachable("no answer")), timeoutMs));
  };
  return { clock, cluster, pulse: new ClusterPulse({ kube: { fetch }, clock }) };
}

test("a cluster that hangs is known as silent since it was last heard, and as well again once it answers", async () => {
  const { clock, cluster, pulse } = pulseWorld();
  await pulse.beat();
  assert.equal(pulse.silentSince, undefined);
  const heardAt = clock.now();
  cluster.mood = "hangs";
  await clock.advance(10_000);
  const beat = pulse.beat();
  await clock.advance(5000);
  await beat;
  assert.equal(pulse.silentSince, heardAt);
  cluster.mood = "well";
  await clock.advance(10_000);
  await pulse.beat();
  assert.equal(pulse.silentSince, undefined);
});

test("a refusal is an answer, and many pages ask one question", async () => {
  const { cluster, pulse } = pulseWorld();
  cluster.mood = "refuses";
  await Promise.all([pulse.beat(), pulse.beat(), pulse.beat()]);
  assert.deepEqual([pulse.silentSince, cluster.asked], [undefined, 1]);
});

test("what waits for a silent cluster is given up after a quarter of a minute, and what takes long is not", async () => {
  const { clock, cluster, pulse } = pulseWorld();
  const long = pulse.patiently(async () => {
    await new Promise<void>((resolve) => clock.setTimer(resolve, 40_000));
    return "done";
  });
  await clock.advance(41_000);
  assert.equal(await long, "done");
  cluster.mood = "hangs";
  const vain = assert.rejects(
    pulse.patiently(() => new Promise(() => {})),
    /does not answer/,
  );
  await clock.advance(15_000);
  await vain;
});
