import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/kube/objects.ts";
import { changeRotation, inMs, listBindings, listSecrets } from "./many-bindings.ts";
import { between, type RequestCounts, type RequestMeter, sandboxMeter } from "./request-counts.ts";
import type { RotationWorld } from "./rotation-world.ts";

export interface DueAtOnceOptions {
  readonly count: number;
  /** How long before the common due time the policies are changed. */
  readonly leadMs: number;
  /** How long a replaced key lives on: longer than all rotations together, so that deletions come after them. */
  readonly overlapMs: number;
  /** The age of the youngest key when it is due; until a key of that age is due again, everything must be over. */
  readonly leastAgeMs: number;
  readonly patienceMs: number;
  readonly kubeMeter: RequestMeter;
}

export interface DueAtOnceResult {
  readonly rotationsPerSecond: number;
  readonly secondsToRotate: number;
  /** All requests from before the first rotation until after the last deletion. */
  readonly kube: RequestCounts;
  readonly outside: RequestCounts;
  /** Those of the audit log that were written in the same time. */
  readonly anchors: number;
}

const ANCHORS = "keyturn_audit_anchors_total";

/** Long enough for the last answers to be counted. */
const AFTERMATH_MS = 1500;

/** Makes all bindings with a policy due at one instant; measures how fast they are rotated, and what that and the deletions ask for. */
export async function measureDueAtOnce(world: RotationWorld, options: DueAtOnceOptions): Promise<DueAtOnceResult> {
  const { count, leadMs, overlapMs, leastAgeMs, patienceMs, kubeMeter } = options;
  const { family } = world;
  const before = (await listBindings(world)).filter((binding) => family.readRotation(binding));
  assert.equal(before.length, count);
  const createdAt = (binding: KubeObject): number => family.readStatus(binding).createdAt;
  const newestAt = Math.max(...before.map(createdAt));
  const dueAt = Math.max(Date.now() + leadMs, newestAt + leastAgeMs);
  await changeRotation(world, before, (binding) => {
    const frequencyMs = dueAt - createdAt(binding);
    return { frequency: inMs(frequencyMs), ttl: inMs(frequencyMs + overlapMs) };
  });
  await world.untilIdle(patienceMs);
  assert.ok(Date.now() < dueAt - AFTERMATH_MS, "the policies were not in force in time: a longer lead is needed");
  await sleep(dueAt - AFTERMATH_MS / 2 - Date.now());
  const labels = `{kind="${family.type.kind}",cause="rotated"}`;
  const [rotated, deleted] = [`keyturn_rotations_total${labels}`, `keyturn_keys_deleted_total${labels}`];
  const earlier = await world.operator.metrics();
  const isReached = (name: string) => (metrics: ReadonlyMap<string, number>) =>
    (metrics.get(name) ?? 0) - (earlier.get(name) ?? 0) === count;
  const meters = [kubeMeter, sandboxMeter(world)] as const;
  const [kubeBefore, outsideBefore] = await Promise.all(meters.map((read) => read()));
  await world.untilMetrics("all to be rotated", patienceMs, isReached(rotated));
  const secondsToRotate = (Date.now() - dueAt) / 1000;
  await world.untilMetrics("all to be deleted", patienceMs, isReached(deleted));
  await world.untilIdle(patienceMs);
  await sleep(AFTERMATH_MS);
  const [kubeAfter, outsideAfter] = await Promise.all(meters.map((read) => read()));
  const later = await world.operator.metrics();
  await ensureAllRotated(world, before);
  return {
    rotationsPerSecond: count / secondsToRotate,
    secondsToRotate,
    kube: between(kubeBefore ?? {}, kubeAfter ?? {}),
    outside: between(outsideBefore ?? {}, outsideAfter ?? {}),
    anchors: (later.get(ANCHORS) ?? 0) - (earlier.get(ANCHORS) ?? 0),
  };
}

/** Every binding has another key than before, in its Secret too, and no other one is left outside. */
async function ensureAllRotated(world: RotationWorld, before: readonly KubeObject[]): Promise<void> {
  const { family } = world;
  const former = new Map(before.map((binding) => [binding.metadata.name, family.readStatus(binding).activeId]));
  const secrets = await listSecrets(world);
  const after = await listBindings(world);
  for (const binding of after) {
    const { name } = binding.metadata;
    const { activeId, retired } = family.readStatus(binding);
    if (!former.has(name)) continue;
    assert.notEqual(activeId, former.get(name), `${name} has its old key`);
    assert.equal(secrets.get(name)?.metadata.annotations?.["keyturn.dev/key-id"], activeId);
    assert.deepEqual(retired, [], `${name} has retired keys`);
  }
  assert.equal((await world.keysOutside()).length, after.length, "keys outside");
}
