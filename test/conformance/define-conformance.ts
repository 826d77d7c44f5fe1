import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { seededRandom } from "../../src/base/random.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Behaviour, BehaviourGroup } from "./behaviour.ts";
import { type Connection, connect } from "./connect.ts";
import { type Exception, exceptions } from "./exceptions.ts";
import { groups } from "./groups.ts";
import type { Target } from "./target.ts";
import { World, type WorldOptions } from "./world.ts";

/**
 * Turns the behaviours into tests against one server. The same behaviours run everywhere; where a server is known to
 * differ, `exceptions.ts` says so and the test then holds the server to differing. Must not: know either server.
 */
export async function defineConformance(target: Target, seed: number): Promise<void> {
  const home = await mkdtemp(path.join(tmpdir(), "keyturn-conformance-"));
  const connection = await connect(target.kubeconfig);
  const shared: WorldOptions = {
    kube: connection.kube,
    wire: connection.wire,
    stranger: connection.stranger,
    random: seededRandom(seed),
    ...(target.kubectl && { kubectl: { command: target.kubectl, env: kubectlEnvironment(target, home) } }),
    sharedKinds: new Map<string, Promise<ResourceType>>(),
    made: [],
  };
  describe(`conformance of the ${target.name} server (seed ${seed})`, { concurrency: 1 }, () => {
    for (const group of groups) defineGroup(group, target, shared);
    defineExceptionChecks();
    after(() => cleanUp(connection, target, { made: shared.made, home }));
  });
}

function defineGroup(group: BehaviourGroup, target: Target, shared: WorldOptions): void {
  if (group.needs === "kubectl" && target.kubectl === undefined) {
    const skip = "no kubectl here: install one, or run `npm run test:cluster`, which builds one";
    test(`${group.behaviours.length} behaviours over plain kubectl`, { skip }, () => {});
    return;
  }
  // Most of a behaviour's time is waiting for the server, so several can wait at once.
  describe(group.name, { concurrency: 6 }, () => {
    for (const behaviour of group.behaviours) {
      const exception = exceptions.find((e) => e.server === target.name && e.behaviour === fullName(group, behaviour));
      const name = exception ? `${behaviour.name} (known to differ)` : behaviour.name;
      test(name, { timeout: 60_000 }, () => {
        return exception ? expectDifference(behaviour, exception, shared) : attempt(behaviour, shared);
      });
    }
  });
}

async function attempt(behaviour: Behaviour, shared: WorldOptions): Promise<void> {
  const world = new World(shared);
  try {
    await behaviour.run(world);
  } finally {
    world.close();
  }
}

async function expectDifference(behaviour: Behaviour, exception: Exception, shared: WorldOptions): Promise<void> {
  const isDifferent = await attempt(behaviour, shared).then(
    () => false,
    () => true,
  );
  assert.ok(isDifferent, `no longer differs ("${exception.reason}"): take it off the list in exceptions.ts`);
}

function defineExceptionChecks(): void {
  test("every exception names a behaviour", () => {
    const names = new Set(groups.flatMap((group) => group.behaviours.map((b) => fullName(group, b))));
    const unknown = exceptions.filter((exception) => !names.has(exception.behaviour));
    assert.deepEqual(unknown, []);
  });
  test("behaviours have names of their own", () => {
    const names = groups.flatMap((group) => group.behaviours.map((b) => fullName(group, b)));
    const doubled = names.filter((name, index) => names.indexOf(name) !== index);
    assert.deepEqual(doubled, []);
  });
}

const fullName = (group: BehaviourGroup, behaviour: Behaviour): string => `${group.name}: ${behaviour.name}`;

/** Nothing of the person's own kubectl set-up may leak in, nor a discovery cache of another server out. */
function kubectlEnvironment(target: Target, home: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    KUBECONFIG: target.kubeconfig,
    KUBECACHEDIR: path.join(home, "cache"),
  };
}

interface Leftovers {
  readonly made: WorldOptions["made"];
  readonly home: string;
}

async function cleanUp(connection: Connection, target: Target, leftovers: Leftovers): Promise<void> {
  try {
    const deletions = leftovers.made.map(({ type, name }) => connection.kube.delete(type, { name }));
    // Some were deleted by their behaviour, which is as good.
    await Promise.allSettled(deletions);
  } finally {
    await connection.close();
    await rm(leftovers.home, { recursive: true, force: true });
    await target.stop();
  }
}
