import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { decide } from "./decide.ts";
import { EngineWorld, settledWorld } from "./engine-world.fixture.ts";
import { live, wildHistory } from "./history.fixture.ts";
import type { Decision, HistoryEntry, Request } from "./model.ts";
import { MAX_HISTORY } from "./rotation-history.ts";

const DAY_MS = 86_400_000;

/** `key outcome reason`, the latest first. */
const told = ({ state }: EngineWorld): readonly string[] =>
  state.history.map(({ keyId, outcome, reason }) => `${keyId} ${outcome} ${reason}`);

/** Steps are taken up to the first of this kind, which is not. */
function until(world: EngineWorld, kind: Decision["kind"]): void {
  for (let decision = world.decide(); decision.kind !== kind; decision = world.decide()) world.perform(decision);
}

const due = (world: EngineWorld): void => {
  world.now += 12 * DAY_MS;
};
const asked =
  (request: Request) =>
  (world: EngineWorld): void =>
    world.ask(request);

/** The key that is to be the next one is there and gives no credentials, after so long: it is given up. */
function withhold(world: EngineWorld, afterMs = 0): void {
  until(world, "publish");
  const decision = world.decide();
  world.now += afterMs;
  if (decision.kind === "publish") world.observation = { ...world.observation, unreadable: decision.id };
  world.perform(world.decide());
}

test("what became of a rotation, and why it was begun", () => {
  const forced: Request = { value: "monday", isCompromised: false };
  const compromised: Request = { value: "leaked", isCompromised: true };
  const first = "id-1 Succeeded FirstKey";
  type Story = (world: EngineWorld) => void;
  const table: readonly (readonly [reason: string, story: Story, expected: readonly string[]])[] = [
    ["the first key alone", () => {}, [first]],
    ["one that was due", due, ["id-2 Succeeded RotationDue", first]],
    ["one that was asked for", asked(forced), ["id-2 Succeeded Forced", first]],
    ["one that was compromised", asked(compromised), ["id-2 Succeeded Compromised", first]],
    [
      "a request that comes meanwhile does not change why it was begun",
      (world) => {
        due(world);
        until(world, "create");
        world.ask(forced);
      },
      ["id-2 Succeeded RotationDue", first],
    ],
    [
      "unless the old key turns out to be compromised",
      (world) => {
        due(world);
        until(world, "create");
        world.ask(compromised);
      },
      ["id-2 Succeeded Compromised", first],
    ],
    [
      "what it is made from has changed",
      (world) => {
        world.madeFrom = "v2";
      },
      ["id-2 Succeeded SpecChanged", first],
    ],
    [
      "the old credentials again",
      (world) => {
        due(world);
        world.givesSameCredentials = true;
      },
      ["id-2 Ineffective RotationDue", first],
    ],
    [
      "a key that was given up, and the next one, are for the same reason",
      (world) => {
        due(world);
        withhold(world);
      },
      ["id-3 Succeeded RotationDue", "id-2 Abandoned RotationDue", first],
    ],
    [
      "the name was taken: no key was made, so there is nothing to tell",
      (world) => {
        world.make(undefined, { name: "key-2" });
        due(world);
        world.isContinued = false;
        world.forget();
      },
      ["id-3 Succeeded RotationDue", first],
    ],
    [
      "the count was put back: the key that is found again has its entry",
      (world) => {
        world.state = { ...world.state, sequence: 0 };
      },
      [first],
    ],
    [
      "the status was lost",
      (world) => {
        world.state = { ...new EngineWorld().state, hasFinalizer: true, externalName: "id-1" };
        world.isContinued = false;
      },
      ["id-1 Succeeded StatusFromThePast"],
    ],
  ];
  for (const [reason, story, expected] of table) {
    const world = settledWorld();
    story(world);
    world.settle();
    assert.deepEqual(told(world), expected, reason);
  }
});

test("since when a key was wanted, and when it was there", () => {
  const world = settledWorld();
  due(world);
  const wantedAt = world.now;
  withhold(world, 1000);
  world.now += 1000;
  world.settle();
  const [there, givenUp] = world.state.history.map(({ startedAt, endedAt }) => [startedAt, endedAt - wantedAt]);
  assert.deepEqual(
    [there, givenUp],
    [
      [wantedAt, 2000],
      [wantedAt, 1000],
    ],
  );
});

test("the last ten are kept", () => {
  const world = settledWorld();
  for (let count = 0; count < 12; count++) {
    due(world);
    world.settle();
  }
  const keyIds = world.state.history.map(({ keyId }) => keyId);
  assert.deepEqual(
    keyIds,
    Array.from({ length: MAX_HISTORY }, (_, index) => `id-${13 - index}`),
  );
});

test("whatever has happened, each key became active once, the active one last, and nothing told is taken back", () => {
  fc.assert(
    fc.property(wildHistory, (history) => {
      let before: readonly HistoryEntry[] = [];
      live(history, (_, { state }) => {
        const succeeded = state.history.filter(({ outcome }) => outcome === "Succeeded").map(({ keyId }) => keyId);
        if (succeeded.length > 0) assert.equal(succeeded[0], state.active?.id);
        assert.equal(new Set(succeeded).size, succeeded.length);
        if (state.history !== before) assert.deepEqual(state.history.slice(1), before.slice(0, MAX_HISTORY - 1));
        before = state.history;
      });
    }),
    { numRuns: 1000 },
  );
});

test("nothing is decided on the history", () => {
  fc.assert(
    fc.property(wildHistory, (history) => {
      live(history, (decision, situation) => {
        assert.deepEqual(decide({ ...situation, state: { ...situation.state, history: [] } }), decision);
      });
    }),
    { numRuns: 300 },
  );
});
