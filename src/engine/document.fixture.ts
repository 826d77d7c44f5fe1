import assert from "node:assert/strict";
import { test } from "node:test";
import { type EngineWorld, settledWorld } from "./engine-world.fixture.ts";
import type { Decision } from "./model.ts";

/**
 * What the document on service binding rotation says, line by line, as far as the engine alone decides it. The lines are
 * those of `docs/requirements/000-service-binding-rotation.md`, which also names the tests for everything else.
 */
interface Sentence {
  readonly line: number;
  readonly says: string;
  readonly shows: (says: string) => void;
}

export const DAY_MS = 86_400_000;
export const OFF = { frequencyMs: Infinity, ttlMs: undefined };

export const retiredIds = (world: EngineWorld): readonly string[] => world.state.retired.map((key) => key.id);
export const publishedId = (world: EngineWorld): string | undefined => world.secret?.keyId;
export const outsideIds = (world: EngineWorld): readonly string[] => [...world.outside.keys()];

/** Goes there, and does what is to be done there. */
export function pass(world: EngineWorld, days: number): void {
  world.now += days * DAY_MS;
  world.settle();
  assert.deepEqual(world.broken, []);
}

/** A day at a time, as an operator that sleeps in between. */
export function passDaily(world: EngineWorld, days: number): void {
  for (let day = 0; day < days; day++) pass(world, 1);
}

/** Three retired keys beside the active one: retired on days 1, 2 and 3, to be deleted on days 4, 5 and 6. */
export function threeRetired(): EngineWorld {
  const world = settledWorld({ frequencyMs: DAY_MS, ttlMs: 4 * DAY_MS });
  passDaily(world, 3);
  assert.deepEqual(retiredIds(world), ["id-1", "id-2", "id-3"]);
  world.policy = { ...world.policy, frequencyMs: Infinity };
  return world;
}

export const kindsOf = (decisions: readonly Decision[]): readonly string[] =>
  decisions.map((decision) => decision.kind);

/** What is decided and done, in order, until there is nothing to do. */
export function steps(world: EngineWorld): readonly Decision[] {
  const taken: Decision[] = [];
  world.forget();
  for (let step = 0; step < 40; step++) {
    const decision = world.decide();
    if (decision.kind === "wait") return taken;
    taken.push(decision);
    world.perform(decision);
  }
  return assert.fail("it does not come to rest");
}

export function testSentences(sentences: readonly Sentence[]): void {
  for (const { line, says, shows } of sentences) test(`line ${line}: ${says}`, () => shows(says));
}
