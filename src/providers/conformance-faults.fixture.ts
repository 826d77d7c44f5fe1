import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asks,
  becomes,
  CLUSTER,
  type FaultName,
  failsWith,
  failureOf,
  idOf,
  inWorld,
  MINUTE_MS,
  makeKey,
  marksOf,
  requestOf,
  type Start,
  signal,
  underWay,
  VERBS,
  vanishes,
} from "./conformance-harness.fixture.ts";
import type { ProviderErrorCode } from "./provider-error.ts";

/** What each verb owes when something is wrong outside. */
export function defineFaultConformance(start: Start): void {
  defineRefusals(start);
  defineEndings(start);
  defineBackground(start);
  defineUncertainty(start);
}

const REFUSALS: readonly (readonly [fault: FaultName, code: ProviderErrorCode, reason: string])[] = [
  ["outage", "ProviderUnavailable", "a service that is down"],
  ["routerNotFound", "ProviderUnavailable", "a router's 404 is never an answer about a key"],
  ["throttling", "ProviderThrottled", "a service that asks for a pause"],
  ["forbidden", "ProviderForbidden", "credentials without rights"],
];

function defineRefusals(start: Start): void {
  for (const [fault, code, reason] of REFUSALS) {
    for (const [verb, call] of Object.entries(VERBS)) {
      test(
        `${fault}: ${verb} fails with ${code}, always in the same words, and changes nothing (${reason})`,
        inWorld(start, [fault], async (harness, set, context) => {
          if (!asks(harness, verb)) return context.skip("it asks nobody");
          const { key, credentials } = await makeKey(harness);
          const before = await harness.keysOutside();
          await set(fault, true);
          const error = await failsWith(harness, call(harness, key.id, signal), [code]);
          await harness.advance(1_000);
          const again = await failsWith(harness, call(harness, key.id, signal), [code]);
          assert.equal(again.message, error.message);
          assert.deepEqual(await harness.keysOutside(), before);
          assert.equal(await harness.canLogIn(credentials), true);
          await set(fault, false);
          // A pause that was asked for is kept by all callers, also when it would not be needed any more.
          if (error.retry.kind === "after") await harness.advance(error.retry.delayMs);
          assert.deepEqual(await harness.connection.observe(key.id, signal), key, "all is as before once it is over");
        }),
      );
    }
  }

  test(
    "throttling: the error carries a pause",
    inWorld(start, ["throttling"], async (harness, set) => {
      await set("throttling", true);
      const error = await failureOf(harness, harness.connection.listMarked({ clusterId: CLUSTER }, signal));
      assert.equal(error.retry.kind, "after");
      assert.ok(error.retry.kind === "after" && error.retry.delayMs >= 1_000 && error.retry.delayMs <= 3_600_000);
    }),
  );

  test(
    "quota: a create is refused in the same words each time, and the keys that exist stay",
    inWorld(start, ["quota"], async (harness, set) => {
      const { credentials } = await makeKey(harness);
      const before = await harness.keysOutside();
      await set("quota", true);
      const attempt = () => harness.connection.create(requestOf(harness, { name: "orders-2" }), signal);
      const error = await failsWith(harness, attempt(), ["QuotaExceeded"]);
      assert.match(error.message, /quota/);
      await harness.advance(1_000);
      assert.equal((await failureOf(harness, attempt())).message, error.message);
      assert.deepEqual(await harness.keysOutside(), before);
      assert.equal(await harness.canLogIn(credentials), true);
      await set("quota", false);
      await makeKey(harness, { name: "orders-2" });
    }),
  );

  test(
    "expired tokens: nobody notices, neither alone nor many at once",
    inWorld(start, ["expiredTokens"], async (harness, set) => {
      const { key } = await makeKey(harness);
      await set("expiredTokens", true);
      assert.deepEqual(await harness.connection.observe(key.id, signal), key);
      await set("expiredTokens", true);
      const looks = await Promise.all(Array.from({ length: 10 }, () => harness.connection.observe(key.id, signal)));
      assert.deepEqual(
        looks,
        Array.from({ length: 10 }, () => key),
      );
    }),
  );
}

function defineEndings(start: Start): void {
  for (const [verb, call] of Object.entries(VERBS)) {
    test(
      `silence: ${verb} gives up by itself, and at once when its caller leaves`,
      inWorld(start, ["silence"], async (harness, set, context) => {
        if (!asks(harness, verb)) return context.skip("it asks nobody");
        const { key } = await makeKey(harness);
        await set("silence", true);
        const late = failsWith(harness, call(harness, key.id, signal), ["ProviderUnavailable"], "late");
        await harness.advance(10 * MINUTE_MS);
        await late;
        const controller = new AbortController();
        const left = failsWith(harness, call(harness, key.id, controller.signal), ["ProviderUnavailable"], "left");
        await underWay();
        controller.abort();
        await left;
        await failsWith(harness, call(harness, key.id, AbortSignal.abort()), ["ProviderUnavailable"], "never began");
        await set("silence", false);
        assert.deepEqual(await harness.connection.observe(key.id, signal), key);
      }),
    );
  }
}

function defineBackground(start: Start): void {
  test(
    "asynchronous: the id is known at once; the key is being made until it is ready; then it works",
    inWorld(start, ["asynchronous"], async (harness, set) => {
      await set("asynchronous", true);
      const created = await harness.connection.create(requestOf(harness), signal);
      assert.equal(created.kind, "accepted");
      const making = await harness.connection.observe(idOf(created), signal);
      assert.equal(making?.state, "creating");
      assert.deepEqual([making?.name, making?.marks], ["orders-1", marksOf()]);
      const early = harness.connection.readCredentials(idOf(created), signal);
      await failsWith(harness, early, ["ProviderBusy", "ProviderUnavailable"]);
      const key = await becomes(harness, idOf(created), "ready");
      assert.deepEqual(await harness.connection.listMarked({ clusterId: CLUSTER }, signal), [key]);
      assert.equal(await harness.canLogIn(await harness.connection.readCredentials(key.id, signal)), true);
    }),
  );

  test(
    "asynchronous: a key is being removed until it is gone, and is never called gone while it works",
    inWorld(start, ["asynchronous"], async (harness, set) => {
      const { key, credentials } = await makeKey(harness);
      await set("asynchronous", true);
      assert.equal(await harness.connection.delete(key.id, signal), "accepted");
      assert.equal((await harness.connection.observe(key.id, signal))?.state, "deleting");
      const again = await harness.connection.delete(key.id, signal).catch((error: unknown) => error);
      assert.notEqual(again, "gone");
      await vanishes(harness, key.id);
      assert.equal(await harness.canLogIn(credentials), false);
      assert.ok(!(await harness.keysOutside()).includes(key.id));
    }),
  );

  test(
    "failing creates: the key is failed, is not given credentials, and can be removed",
    inWorld(start, ["failingCreates"], async (harness, set) => {
      const before = await harness.keysOutside();
      await set("failingCreates", true);
      const created = await harness.connection.create(requestOf(harness), signal);
      const failed = await becomes(harness, idOf(created), "failed");
      assert.deepEqual(failed.marks, marksOf());
      await failureOf(harness, harness.connection.readCredentials(failed.id, signal));
      await set("failingCreates", false);
      if ((await harness.connection.delete(failed.id, signal)) === "accepted") await vanishes(harness, failed.id);
      assert.deepEqual(await harness.keysOutside(), before);
      await makeKey(harness);
    }),
  );
}

function defineUncertainty(start: Start): void {
  test(
    "lost answer: the create fails, and its one key is found by name and by mark, and can be adopted",
    inWorld(start, ["lostAnswer"], async (harness, set) => {
      // With a log-in at hand, so that it is the create whose answer gets lost.
      await harness.connection.listMarked({ clusterId: CLUSTER }, signal);
      await set("lostAnswer", true);
      await failsWith(harness, harness.connection.create(requestOf(harness), signal), ["ProviderUnavailable"]);
      const [seen, ...others] = await harness.connection.findByName(harness.instanceId, "orders-1", signal);
      assert.ok(seen);
      assert.deepEqual(others, []);
      if (seen.isUnmarkedYet) await harness.connection.mark(seen.id, marksOf(), signal);
      const found = seen.isUnmarkedYet ? await harness.connection.observe(seen.id, signal) : seen;
      assert.ok(found);
      assert.deepEqual(found.marks, marksOf());
      assert.deepEqual(await harness.connection.listMarked({ clusterId: CLUSTER }, signal), [found]);
      const key = await becomes(harness, found.id, "ready");
      assert.equal(await harness.canLogIn(await harness.connection.readCredentials(key.id, signal)), true);
    }),
  );

  test(
    "name collision: all keys of the name are found, and each can be removed by itself",
    inWorld(start, ["nameCollision"], async (harness, set) => {
      await set("nameCollision", true);
      const owners = ["uid-1", "uid-2", "uid-3"];
      const made = await Promise.all(owners.map((ownerUid) => makeKey(harness, { marks: marksOf({ ownerUid }) })));
      const found = await harness.connection.findByName(harness.instanceId, "orders-1", signal);
      assert.deepEqual(found.map(({ marks }) => marks?.ownerUid).sort(), owners);
      const [first, ...rest] = made;
      assert.ok(first);
      if ((await harness.connection.delete(first.key.id, signal)) === "accepted") await vanishes(harness, first.key.id);
      assert.equal(await harness.canLogIn(first.credentials), false);
      for (const { credentials } of rest) assert.equal(await harness.canLogIn(credentials), true);
    }),
  );

  test(
    "eventual consistency: by id a key is known at once; lists come round within a minute",
    inWorld(start, ["eventualConsistency"], async (harness, set) => {
      await set("eventualConsistency", true);
      const { key } = await makeKey(harness);
      assert.deepEqual(await harness.connection.observe(key.id, signal), key);
      await harness.advance(MINUTE_MS);
      assert.deepEqual(await harness.connection.listMarked({ clusterId: CLUSTER }, signal), [key]);
      if ((await harness.connection.delete(key.id, signal)) === "accepted") await vanishes(harness, key.id);
      for (const listed of await harness.connection.listMarked({ clusterId: CLUSTER }, signal)) {
        assert.equal(listed.state, "deleting", "what is still listed is not called ready");
      }
      await harness.advance(MINUTE_MS);
      assert.deepEqual(await harness.connection.listMarked({ clusterId: CLUSTER }, signal), []);
    }),
  );
}
