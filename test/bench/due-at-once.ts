import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Rotation } from "../families/family.ts";
import { changeRotation, inMs, listBindings, listSecrets, NOT_YET } from "./many-bindings.ts";
import { between, type RequestCounts, type RequestMeter, sandboxMeter } from "./request-counts.ts";
import type { RotationWorld } from "./rotation-world.ts";

export interface DueAtOnceOptions {
  readonly count: number;
  /** How often all of them become due: enough for all rotations and deletions, and for a rest after them. */
  readonly everyMinutes: number;
  /** How long a replaced key lives on: longer than all rotations together, so that deletions come after them. */
  readonly overlapMs: number;
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
const MINUTE_MS = 60_000;

/**
 * Makes all bindings with a policy due at one instant, again and again: their keys are old enough when a window opens that
 * all of them wait for. The first time does not count, since the operator looks outside before it rotates what somebody has
 * touched; of the second it is measured how fast they are rotated, and what that and the deletions ask for.
 */
export async function measureDueAtOnce(world: RotationWorld, options: DueAtOnceOptions): Promise<DueAtOnceResult> {
  const { count, everyMinutes, patienceMs, kubeMeter } = options;
  const { family } = world;
  const earlier = await Rounds.begin(world, options);
  const chosen = (await listBindings(world)).filter((binding) => family.readRotation(binding));
  assert.equal(chosen.length, count);
  const newestAt = Math.max(...chosen.map((binding) => family.readStatus(binding).createdAt));
  await sleep(changeAt(newestAt, options) - Date.now());
  await changeRotation(world, chosen, () => policyOf(options));
  await earlier.untilOver(1);
  const before = (await listBindings(world)).filter((binding) => family.readRotation(binding));
  const dueAt = nextOpening(everyMinutes);
  await sleep(dueAt - AFTERMATH_MS / 2 - Date.now());
  const meters = [kubeMeter, sandboxMeter(world)] as const;
  const [kubeBefore, outsideBefore] = await Promise.all(meters.map((read) => read()));
  const anchorsBefore = (await world.operator.metrics()).get(ANCHORS) ?? 0;
  await earlier.untilRotated(2);
  const secondsToRotate = (Date.now() - dueAt) / 1000;
  await earlier.untilOver(2);
  await sleep(AFTERMATH_MS);
  const [kubeAfter, outsideAfter] = await Promise.all(meters.map((read) => read()));
  const anchorsAfter = (await world.operator.metrics()).get(ANCHORS) ?? 0;
  assert.ok(Date.now() < dueAt + everyMinutes * MINUTE_MS, "not over before they are due again: too short a round");
  await ensureAllRotated(world, before);
  await changeRotation(world, before, () => NOT_YET);
  await world.untilIdle(patienceMs);
  return {
    rotationsPerSecond: count / secondsToRotate,
    secondsToRotate,
    kube: between(kubeBefore ?? {}, kubeAfter ?? {}),
    outside: between(outsideBefore ?? {}, outsideAfter ?? {}),
    anchors: anchorsAfter - anchorsBefore,
  };
}

/** How often all of them were rotated, and their former keys deleted, since a beginning. */
class Rounds {
  readonly #world: RotationWorld;
  readonly #options: DueAtOnceOptions;
  readonly #names: { readonly rotated: string; readonly deleted: string };
  readonly #before: ReadonlyMap<string, number>;

  private constructor(world: RotationWorld, options: DueAtOnceOptions, before: ReadonlyMap<string, number>) {
    this.#world = world;
    this.#options = options;
    const labels = `{kind="${world.family.type.kind}",cause="rotated"}`;
    this.#names = { rotated: `keyturn_rotations_total${labels}`, deleted: `keyturn_keys_deleted_total${labels}` };
    this.#before = before;
  }

  static async begin(world: RotationWorld, options: DueAtOnceOptions): Promise<Rounds> {
    return new Rounds(world, options, await world.operator.metrics());
  }

  untilRotated(round: number): Promise<void> {
    return this.#until(`all to be rotated (round ${round})`, this.#names.rotated, round);
  }

  async untilOver(round: number): Promise<void> {
    await this.untilRotated(round);
    await this.#until(`all to be deleted (round ${round})`, this.#names.deleted, round);
    await this.#world.untilIdle(this.#options.patienceMs);
  }

  #until(what: string, name: string, round: number): Promise<void> {
    const { count, patienceMs } = this.#options;
    const isReached = (metrics: ReadonlyMap<string, number>): boolean =>
      (metrics.get(name) ?? 0) - (this.#before.get(name) ?? 0) >= round * count;
    return this.#world.untilMetrics(what, patienceMs, isReached);
  }
}

/**
 * A key is due again only after the window in which it was made has closed, and before the next one opens; and after all
 * deletions, since whoever is due while it is closed says so in its status.
 */
function policyOf({ everyMinutes, overlapMs }: DueAtOnceOptions): Rotation {
  const everyMs = everyMinutes * MINUTE_MS;
  const frequencyMs = FREQUENCY * everyMs;
  return {
    frequency: inMs(frequencyMs),
    ttl: inMs(frequencyMs + overlapMs),
    windows: [{ schedule: `*/${everyMinutes} * * * *`, duration: inMs(OPEN * everyMs) }],
  };
}

/** In shares of what is between two openings. */
const [OPEN, FREQUENCY, CLOSED_BY] = [0.6, 0.75, 0.62];

/** Right after a window would have closed, and late enough that every key is old enough when the next one opens. */
function changeAt(newestAt: number, { everyMinutes }: DueAtOnceOptions): number {
  const everyMs = everyMinutes * MINUTE_MS;
  const earliestAt = Math.max(Date.now(), newestAt + FREQUENCY * everyMs - (1 - CLOSED_BY) * everyMs);
  return Math.ceil(earliestAt / everyMs - CLOSED_BY) * everyMs + CLOSED_BY * everyMs;
}

function nextOpening(everyMinutes: number): number {
  const everyMs = everyMinutes * MINUTE_MS;
  return Math.ceil(Date.now() / everyMs) * everyMs;
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
