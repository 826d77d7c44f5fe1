import { fc } from "../base/properties.fixture.ts";
import { nextInstant } from "./decide.ts";
import { EngineWorld } from "./engine-world.fixture.ts";
import type { Decision, Policy, SeenKey, Situation } from "./model.ts";

/**
 * Histories: a policy, and what happens to a resource under it, drawn at random and lived through step by step. Whole
 * seconds throughout, as the dates in a status are.
 */
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Something happens. It may take the place of any step, also between two that belong together. */
type Happening = (world: EngineWorld) => void;

interface History {
  readonly policy: Policy;
  readonly startAt: number;
  /** Things happen between any two steps; else only when the last one has been dealt with. */
  readonly isHasty: boolean;
  readonly happenings: readonly Happening[];
}

const seconds = (minMs: number, maxMs: number): fc.Arbitrary<number> =>
  fc.integer({ min: minMs / SECOND_MS, max: maxMs / SECOND_MS }).map((count) => count * SECOND_MS);

/** From a minute to a year; alive for up to six times as long, exactly as long, or for ever. */
const rhythm: fc.Arbitrary<Pick<Policy, "frequencyMs" | "ttlMs">> = fc
  .oneof(
    { weight: 6, arbitrary: fc.tuple(seconds(60_000, 400 * DAY_MS), fc.integer({ min: 0, max: 20 })) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
  .map((drawn) => {
    if (drawn === undefined) return { frequencyMs: Infinity, ttlMs: undefined };
    const [frequencyMs, quarters] = drawn;
    const ttlMs = frequencyMs + Math.floor((frequencyMs * quarters) / 4 / SECOND_MS) * SECOND_MS;
    return { frequencyMs, ttlMs };
  });

const policy: fc.Arbitrary<Policy> = fc
  .tuple(rhythm, fc.boolean())
  .map(([drawn, publishes]) => ({ ...drawn, publishes, forcedOverlapMs: DAY_MS, maxForced: 5, illGraceMs: 600_000 }));

const startAt = seconds(Date.UTC(2024, 1, 27), Date.UTC(2028, 2, 2));

/** What was being made is there now. */
function finishCreates(world: EngineWorld): void {
  for (const [id, key] of world.outside)
    if (key.state === "creating") world.outside.set(id, { ...key, state: "ready" });
}

/** Time goes on to when there is something to do, or past it. */
const onTime: fc.Arbitrary<Happening> = fc.constant((world) => {
  const at = nextInstant(world.situation());
  if (Number.isFinite(at)) world.now = Math.max(world.now, at);
});
const late: fc.Arbitrary<Happening> = fc.integer({ min: 1, max: 30 }).map((tenths) => (world) => {
  const lengthMs = Number.isFinite(world.policy.frequencyMs) ? world.policy.frequencyMs : DAY_MS;
  world.now += Math.ceil((lengthMs * tenths) / 10 / SECOND_MS) * SECOND_MS;
});
const crash: fc.Arbitrary<Happening> = fc.constant((world) => world.forget());
const request: fc.Arbitrary<Happening> = fc
  .record({ value: fc.nat(20).map(String), isCompromised: fc.constantFrom(true, false, false, false) })
  .map((asked) => (world) => world.ask({ ...asked }));
const frozen: fc.Arbitrary<Happening> = fc
  .constantFrom(true, false, false)
  .map((isFrozen) => (world) => void Object.assign(world, { isFrozen }));
const slow: fc.Arbitrary<Happening> = fc
  .constantFrom<SeenKey["state"]>("ready", "creating")
  .map((createsAs) => (world) => {
    world.createsAs = createsAs;
    finishCreates(world);
  });
const closed: fc.Arbitrary<Happening> = fc
  .option(seconds(60_000, 30 * DAY_MS), { nil: undefined })
  .map((lengthMs) => (world) => {
    world.window = lengthMs === undefined ? OPEN : { isOpen: false, opensAt: world.now + lengthMs };
  });

/** What the operator's users do with their own resource. */
const edited: fc.Arbitrary<Happening> = fc.oneof(
  rhythm.map(
    (drawn): Happening =>
      (world) => {
        world.policy = { ...world.policy, ...drawn };
      },
  ),
  fc.nat(3).map(
    (version): Happening =>
      (world) => {
        world.madeFrom = `v${version}`;
      },
  ),
);

/** What nobody should do, and somebody does. */
const meddled: fc.Arbitrary<Happening> = fc.constantFrom<Happening>(
  (world) => {
    world.secret = undefined;
  },
  (world) => {
    world.state = { ...world.state, externalName: "tampered" };
  },
  (world) => {
    for (const id of [...world.outside.keys()].slice(-1)) {
      world.lost.add(id);
      world.outside.delete(id);
    }
    world.forget();
    world.driftCheckAt = world.now;
  },
  (world) => void (world.state.pending && world.make(world.state.pending.sequence)),
  (world) => void (world.state.pending && world.make(world.state.pending.sequence, { state: "failed" })),
  (world) => {
    world.isSkewed = !world.isSkewed;
  },
  (world) => {
    world.may = { create: !world.may.create, delete: !world.may.delete };
  },
);

/** Somebody uses the key that is active now, and goes on using it when it is retired. */
const used: fc.Arbitrary<Happening> = fc
  .constantFrom("Deployment shop/web", "CronJob shop/bill")
  .map((who) => (world) => {
    const { id } = world.state.active ?? {};
    if (id !== undefined) world.behind.set(id, [...new Set([...(world.behind.get(id) ?? []), who])].sort());
  });
/** Everybody, or whoever uses the oldest of those keys, has moved on. */
const moved: fc.Arbitrary<Happening> = fc.boolean().map((isEverybody) => (world) => {
  for (const id of [...world.behind.keys()].slice(0, isEverybody ? undefined : 1)) world.behind.delete(id);
});

const timeAndRequests = [onTime, onTime, onTime, late, crash, request, request, frozen, closed] as const;
const withEdits = [...timeAndRequests, slow, edited] as const;
const withMeddling = [...withEdits, meddled] as const;

const holdingPolicy: fc.Arbitrary<Policy> = fc
  .tuple(policy, seconds(60_000, 30 * DAY_MS))
  .map(([drawn, maxHoldMs]) => ({ ...drawn, maxHoldMs }));

const historyOf = (
  kinds: readonly fc.Arbitrary<Happening>[],
  { isHasty = true, policies = policy }: { readonly isHasty?: boolean; readonly policies?: fc.Arbitrary<Policy> } = {},
): fc.Arbitrary<History> =>
  fc.record({
    policy: policies,
    startAt,
    isHasty: fc.constant(isHasty),
    happenings: fc.array(fc.oneof(...kinds), { maxLength: 60, size: "max" }),
  });

/** Nobody edits anything: time passes, rotations are asked for, things come late. */
export const quietHistory = historyOf(timeAndRequests, { isHasty: false });
/** The same, and it happens in the middle of rotations, which then take as long as they take. */
export const hastyHistory = historyOf(timeAndRequests);
/** The spec is edited too. */
export const editedHistory = historyOf(withEdits);
/** Everything, meddling included. */
export const wildHistory = historyOf(withMeddling);
const withConsumers = [used, used, moved] as const;
/** Retired keys wait for those who use them, under a policy that is edited. */
export const heldHistory = historyOf([...withEdits, ...withConsumers], { policies: holdingPolicy });
/** Everything, meddling included. */
export const wildHeldHistory = historyOf([...withMeddling, ...withConsumers], { policies: holdingPolicy });

/** More than any sequence of steps needs. */
const STEPS_TO_REST = 60;

const OPEN: EngineWorld["window"] = { isOpen: true, opensAt: undefined };

/** Sees every decision, before it is performed. */
type Witness = (decision: Decision, situation: Situation, world: EngineWorld) => void;

/**
 * Lives through a history. Between two happenings some steps are taken: all, or in haste now all and now a few, so that
 * a happening may fall between any two of them. In the end the outside finishes what it has begun, and the world is left alone until it rests.
 */
export function live(history: History, witness: Witness): EngineWorld {
  const world = new EngineWorld();
  const { policy: start, startAt: now, isHasty, happenings } = history;
  Object.assign(world, { now, policy: start });
  for (const [index, happen] of happenings.entries()) {
    take(world, isHasty && index % 3 !== 0 ? index % 7 : STEPS_TO_REST, witness);
    happen(world);
    if ((world.window.opensAt ?? Infinity) <= world.now) world.window = OPEN;
  }
  world.createsAs = "ready";
  finishCreates(world);
  world.forget();
  const isAtRest = take(world, STEPS_TO_REST, witness);
  if (!isAtRest) world.broken.push(`not at rest after ${STEPS_TO_REST} steps: ${world.log.slice(-12).join(" ")}`);
  return world;
}

/** Takes steps until there is nothing to do, or as many as it may; says whether it has come to rest. */
function take(world: EngineWorld, limit: number, witness: Witness): boolean {
  for (let step = 0; step < limit; step++) {
    const situation = world.situation();
    const decision = world.decide();
    witness(decision, situation, world);
    if (decision.kind === "wait") {
      world.forget();
      return true;
    }
    world.perform(decision);
    if (decision.kind === "look") world.driftCheckAt = Infinity;
  }
  return false;
}
