import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { Slots, type SlotsOptions } from "./slots.ts";

/** What the caches say, in the hands of the test. */
function world(
  caps: Pick<SlotsOptions, "maxRollouts" | "maxRolloutsPerNamespace">,
  ownCaps: Record<string, number> = {},
) {
  const clock = new ManualClock();
  const rolling = new Map<string, number>();
  const behind = new Set<string>();
  const caches: SlotsOptions["caches"] = {
    *rolling() {
      for (const [key, at] of rolling) yield [key, { state: { restartedAt: [at] } }];
    },
    capOf: (namespace) => ownCaps[namespace],
    isCurrent: (key) => !behind.has(key),
  };
  const slots = new Slots({ clock, caches, ...caps });
  return {
    clock,
    slots,
    /** A rollout that was begun and that no watch has seen yet. */
    begin: (key: string): boolean => {
      if (!slots.take(key)) return false;
      behind.add(key);
      slots.begin(key, false);
      return true;
    },
    seen: (key: string): void => {
      behind.delete(key);
      rolling.set(key, clock.now());
    },
    over: (key: string): void => {
      behind.delete(key);
      rolling.delete(key);
    },
  };
}

const key = (namespace: string, name: string): string => `Deployment/${namespace}/${name}`;

test("the caps of the cluster, of a namespace, and of one that has its own", () => {
  const { begin } = world({ maxRollouts: 4, maxRolloutsPerNamespace: 2 }, { own: 1, wide: 0 });
  assert.deepEqual([begin(key("a", "1")), begin(key("a", "2")), begin(key("a", "3"))], [true, true, false]);
  assert.deepEqual([begin(key("own", "1")), begin(key("own", "2"))], [true, false]);
  assert.deepEqual([begin(key("wide", "1")), begin(key("wide", "2"))], [true, false], "the cluster is full");
  const free = world({ maxRollouts: 0, maxRolloutsPerNamespace: 0 });
  for (let index = 0; index < 100; index++) assert.ok(free.begin(key("a", String(index))), "no cap");
});

test("a slot is held from the decision to the end of the rollout, by whoever began it", () => {
  const { slots, begin, seen, over } = world({ maxRollouts: 1, maxRolloutsPerNamespace: 0 });
  const [a, b] = [key("n", "a"), key("n", "b")];
  assert.ok(slots.take(a));
  assert.ok(!slots.isFree(b), "taken, not begun yet");
  slots.putBack(a);
  assert.ok(slots.isFree(b), "not needed after all");
  assert.ok(begin(a));
  slots.putBack(a);
  assert.ok(!slots.isFree(b), "what has begun is not put back");
  seen(a);
  assert.ok(!slots.isFree(b));
  assert.ok(slots.isFree(a), "its own next restart needs no second one");
  over(a);
  assert.ok(slots.isFree(b));
});

test("who takes too long keeps nobody waiting", async () => {
  const { clock, slots, begin, seen } = world({ maxRollouts: 2, maxRolloutsPerNamespace: 0 });
  begin(key("n", "seen"));
  seen(key("n", "seen"));
  begin(key("n", "unseen"));
  await clock.advance(9 * 60_000);
  assert.equal(slots.underWay, 2);
  await clock.advance(60_000);
  assert.equal(slots.underWay, 0);
});

test("who waits is admitted in the order in which it came, as far as there is room", () => {
  const { slots, begin, over } = world({ maxRollouts: 3, maxRolloutsPerNamespace: 2 });
  for (const name of ["a", "b"]) begin(key("full", name));
  begin(key("other", "c"));
  for (const waiting of [key("full", "1"), key("other", "2"), key("third", "3")]) slots.wait(waiting);
  assert.deepEqual(slots.admitted(), []);
  over(key("other", "c"));
  assert.deepEqual(slots.admitted(), [key("other", "2")], "there is no room in the first one's namespace");
  over(key("full", "a"));
  assert.deepEqual(slots.admitted(), [key("full", "1"), key("other", "2")]);
  slots.stopWaiting(key("full", "1"));
  assert.deepEqual(slots.admitted(), [key("other", "2"), key("third", "3")]);
});

test("never more than the caps, whatever is begun, seen and over", () => {
  const steps = fc.array(
    fc.record({ what: fc.constantFrom("begin", "seen", "over"), namespace: fc.nat(2), name: fc.nat(5) }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), (list, all, each) => {
      const it = world({ maxRollouts: all, maxRolloutsPerNamespace: each });
      const underWay = new Set<string>();
      for (const { what, namespace, name } of list) {
        const one = key(String(namespace), String(name));
        if (what === "begin" && it.begin(one)) underWay.add(one);
        if (what === "seen" && underWay.has(one)) it.seen(one);
        if (what === "over" && underWay.delete(one)) it.over(one);
        const inNamespace = [...underWay].filter((other) => other.includes(`/${namespace}/`)).length;
        assert.ok(underWay.size <= all && inNamespace <= each, `${underWay.size} and ${inNamespace}`);
        assert.equal(it.slots.underWay, underWay.size);
      }
    }),
  );
});
