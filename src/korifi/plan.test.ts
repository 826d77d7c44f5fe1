import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { KorifiWorld, type Start } from "./korifi-world.fixture.ts";
import { bindingStatus } from "./plan.ts";

test("references have the names of the document and the later ones", () => {
  assert.deepEqual(bindingStatus({ mountName: "b1", envName: "db" }), {
    binding: { name: "b1" },
    mountSecretRef: { name: "b1" },
    credentials: { name: "db" },
    envSecretRef: { name: "db" },
  });
});

type Step =
  | { readonly kind: "change"; readonly type: string }
  | { readonly kind: "break" }
  | { readonly kind: "move" }
  | { readonly kind: "bind" }
  /** The operator is started, and killed after so many writes. */
  | { readonly kind: "run"; readonly writes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("change"), type: fc.constantFrom("user-provided", "a", "b") }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: "break" }, { kind: "move" }, { kind: "bind" }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("run"), writes: fc.nat({ max: 7 }) }) },
);

function take(world: KorifiWorld, one: Step): void {
  if (one.kind === "change") world.changeCredentials(one.type);
  else if (one.kind === "break") world.breakCredentials();
  else if (one.kind === "move") world.moveSource();
  else if (one.kind === "bind") world.bind();
  else world.run(one.writes);
}

/** Until there is nothing left to write. */
function settle(world: KorifiWorld): void {
  for (let passes = 0; passes < 5; passes++) if (world.run() === 0) return;
  assert.fail("the writes do not come to an end");
}

const start = fc.constantFrom<Start>("own", "legacy", "followed");

test("killed after any write, whatever people do: no Secret is missing, mixed or older than before", () => {
  fc.assert(
    fc.property(start, fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 14 }), (from, bindings, steps) => {
      const world = new KorifiWorld(from, bindings);
      for (const one of steps) take(world, one);
      settle(world);
      world.changeCredentials("c");
      settle(world);
      world.checkRest();
    }),
    { numRuns: 1500 },
  );
});

test("one look is enough: after it, there is nothing left to write", () => {
  for (const from of ["own", "legacy", "followed"] as const) {
    const world = new KorifiWorld(from, 3);
    assert.ok(world.run() > 0, from);
    assert.equal(world.run(), 0, from);
    world.changeCredentials("a");
    assert.ok(world.run() > 0, from);
    assert.equal(world.run(), 0, from);
    world.checkRest();
  }
});

test("an upgrade moves no reference, and a change of legacy credentials moves each of them once", () => {
  const world = new KorifiWorld("legacy", 3);
  settle(world);
  assert.deepEqual(world.mounts, ["db", "db", "db"]);
  world.moveSource();
  settle(world);
  assert.deepEqual(world.mounts, ["db", "db", "db"]);
  world.changeCredentials();
  settle(world);
  assert.deepEqual(world.mounts, ["b0", "b1", "b2"]);
  world.changeCredentials();
  settle(world);
  assert.deepEqual(world.mounts, ["b0", "b1", "b2"]);
});
