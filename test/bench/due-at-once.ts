import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type BindingObject, changeRotation, createdAt, inMs, listBindings, listSecrets } from "./many-bindings.ts";
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
  readonly serviceManager: RequestCounts;
}

const ROTATED = 'keyturn_rotations_total{kind="ServiceBinding",cause="rotated"}';
const DELETED = 'keyturn_keys_deleted_total{kind="ServiceBinding",cause="rotated"}';
/** Long enough for the last answers to be counted. */
const AFTERMATH_MS = 1500;

/** Makes all bindings with a policy due at one instant; measures how fast they are rotated, and what that and the deletions ask for. */
export async function measureDueAtOnce(world: RotationWorld, options: DueAtOnceOptions): Promise<DueAtOnceResult> {
  const { count, leadMs, overlapMs, leastAgeMs, patienceMs, kubeMeter } = options;
  const { kube } = world;
  const before = (await listBindings(kube)).filter(({ spec }) => spec.rotation);
  assert.equal(before.length, count);
  const newestAt = Math.max(...before.map(createdAt));
  const dueAt = Math.max(Date.now() + leadMs, newestAt + leastAgeMs);
  await changeRotation(kube, before, (binding) => {
    const frequencyMs = dueAt - createdAt(binding);
    return { frequency: inMs(frequencyMs), ttl: inMs(frequencyMs + overlapMs) };
  });
  await world.untilIdle(patienceMs);
  assert.ok(Date.now() < dueAt - AFTERMATH_MS, "the policies were not in force in time: a longer lead is needed");
  await sleep(dueAt - AFTERMATH_MS / 2 - Date.now());
  const meters = [kubeMeter, sandboxMeter(world.sandbox)] as const;
  const [kubeBefore, outsideBefore] = await Promise.all(meters.map((read) => read()));
  await world.untilMetrics("all to be rotated", patienceMs, (metrics) => metrics.get(ROTATED) === count);
  const secondsToRotate = (Date.now() - dueAt) / 1000;
  await world.untilMetrics("all to be deleted", patienceMs, (metrics) => metrics.get(DELETED) === count);
  await world.untilIdle(patienceMs);
  await sleep(AFTERMATH_MS);
  const [kubeAfter, outsideAfter] = await Promise.all(meters.map((read) => read()));
  await ensureAllRotated(world, before);
  return {
    rotationsPerSecond: count / secondsToRotate,
    secondsToRotate,
    kube: between(kubeBefore ?? {}, kubeAfter ?? {}),
    serviceManager: between(outsideBefore ?? {}, outsideAfter ?? {}),
  };
}

/** Every binding has another key than before, in its Secret too, and no other one is left outside. */
async function ensureAllRotated({ kube, sandbox }: RotationWorld, before: readonly BindingObject[]): Promise<void> {
  const former = new Map(before.map(({ metadata, status }) => [metadata.name, status?.atProvider?.id]));
  const secrets = await listSecrets(kube);
  const after = await listBindings(kube);
  for (const { metadata, status } of after) {
    const id = status?.atProvider?.id;
    if (!former.has(metadata.name)) continue;
    assert.notEqual(id, former.get(metadata.name), `${metadata.name} has its old key`);
    assert.equal(secrets.get(metadata.name)?.metadata.annotations?.["keyturn.dev/key-id"], id);
    assert.deepEqual(status?.retiredKeys ?? [], [], `${metadata.name} has retired keys`);
  }
  assert.equal((await sandbox.bindings()).length, after.length, "keys outside");
}
