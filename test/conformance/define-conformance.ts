import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Target } from "../support/target.ts";
import type { Behaviour, BehaviourGroup } from "./behaviour.ts";
import { exceptions, holdToDifference } from "./exceptions.ts";
import { groups } from "./groups.ts";
import { Session } from "./session.ts";

type Attempt = (behaviour: Behaviour) => Promise<void>;

/**
 * Turns the behaviours into tests against one server. The same behaviours run everywhere; where a server is known to
 * differ, `exceptions.ts` says so and the test then holds the server to differing. Must not: know either server.
 */
export function defineConformance(target: Target, seed: number): void {
  describe(`conformance of the ${target.name} server (seed ${seed})`, { concurrency: 1 }, () => {
    let session: Session | undefined;
    before(async () => {
      session = await Session.start(target, seed);
    });
    after(() => session?.end());
    const attempt: Attempt = async (behaviour) => {
      assert.ok(session, "the session has begun");
      const world = session.world();
      try {
        await behaviour.run(world);
      } finally {
        world.close();
      }
    };
    for (const group of groups) defineGroup(group, target, attempt);
  });
  defineListChecks();
}

function defineGroup(group: BehaviourGroup, target: Target, attempt: Attempt): void {
  if (group.needs === "kubectl" && target.kubectl === undefined) {
    const skip = "no kubectl here: install one, or run `npm run test:cluster`, which builds one";
    test(`${group.name} (${group.behaviours.length} behaviours)`, { skip }, () => {});
    return;
  }
  // Most of a behaviour's time is waiting for the server, so several can wait at once.
  describe(group.name, { concurrency: 6 }, () => {
    for (const behaviour of group.behaviours) {
      const exception = exceptions.find((e) => e.server === target.name && e.behaviour === fullName(group, behaviour));
      const name = exception ? `${behaviour.name} (known to differ)` : behaviour.name;
      test(name, { timeout: 120_000 }, () => {
        return exception ? holdToDifference(exception, attempt(behaviour)) : attempt(behaviour);
      });
    }
  });
}

function defineListChecks(): void {
  const names = groups.flatMap((group) => group.behaviours.map((behaviour) => fullName(group, behaviour)));
  test("every exception names a behaviour", () => {
    const unknown = exceptions.filter((exception) => !names.includes(exception.behaviour));
    assert.deepEqual(unknown, []);
  });
  test("behaviours have names of their own", () => {
    const doubled = names.filter((name, index) => names.indexOf(name) !== index);
    assert.deepEqual(doubled, []);
  });
}

const fullName = (group: BehaviourGroup, behaviour: Behaviour): string => `${group.name}: ${behaviour.name}`;
