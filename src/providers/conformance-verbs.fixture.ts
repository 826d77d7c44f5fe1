import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  CLUSTER,
  failsWith,
  inWorld,
  MINUTE_MS,
  makeKey,
  marksOf,
  type ProviderHarness,
  requestOf,
  type Start,
  signal,
  vanishes,
} from "./conformance-harness.fixture.ts";
import type { MarkFilter } from "./contract.ts";

const idsOf = (keys: readonly { readonly id: string }[]): string[] => keys.map(({ id }) => id).sort();

/** What each verb owes when nothing is wrong outside. */
export function defineVerbConformance(start: Start): void {
  defineMaking(start);
  defineFinding(start);
  defineRemoving(start);
  defineMarking(start);
}

function defineMaking(start: Start): void {
  test(
    "create: the key exists under its name, works, and carries its marks from the start",
    inWorld(start, [], async (harness) => {
      const before = harness.connection;
      const { key, credentials } = await makeKey(harness);
      assert.deepEqual([key.name, key.instanceId, key.state], ["orders-1", harness.instanceId, "ready"]);
      assert.deepEqual(key.marks, marksOf());
      assert.equal(await harness.canLogIn(credentials), true);
      assert.deepEqual(await before.observe(key.id, signal), key);
      assert.ok(!inspect({ key, credentials }, { depth: 9 }).includes(harness.canary), "credentials show themselves");
    }),
  );

  test(
    "create: two keys have different credentials, and both work",
    inWorld(start, [], async (harness) => {
      const one = await makeKey(harness);
      const two = await makeKey(harness, { name: "orders-2", marks: marksOf({ sequence: 2 }) });
      assert.notDeepEqual(one.credentials.reveal(), two.credentials.reveal());
      assert.deepEqual(
        [await harness.canLogIn(one.credentials), await harness.canLogIn(two.credentials)],
        [true, true],
      );
    }),
  );

  test(
    "create: a taken name is NameTaken, an unknown instance InstanceNotFound, and neither makes a key",
    inWorld(start, [], async (harness) => {
      await makeKey(harness);
      const before = await harness.keysOutside();
      const again = harness.connection.create(requestOf(harness, { marks: marksOf({ sequence: 2 }) }), signal);
      await failsWith(harness, again, ["NameTaken"]);
      const { name } = harness.foreignKey;
      await failsWith(
        harness,
        harness.connection.create(requestOf(harness, { name }), signal),
        ["NameTaken"],
        "foreign",
      );
      const nowhere = requestOf(harness, { name: "orders-3", instanceId: harness.missingInstanceId });
      await failsWith(harness, harness.connection.create(nowhere, signal), ["InstanceNotFound"]);
      assert.deepEqual(await harness.keysOutside(), before);
    }),
  );

  test(
    "create: many at once are all made, once each",
    inWorld(start, [], async (harness) => {
      const before = await harness.keysOutside();
      const sequences = Array.from({ length: 20 }, (_, index) => index + 1);
      const made = await Promise.all(
        sequences.map((sequence) => makeKey(harness, { name: `orders-${sequence}`, marks: marksOf({ sequence }) })),
      );
      assert.equal((await harness.keysOutside()).length, before.length + 20);
      const listed = await harness.connection.listMarked({ clusterId: CLUSTER }, signal);
      assert.deepEqual(idsOf(listed), idsOf(made.map(({ key }) => key)));
    }),
  );

  test(
    "readCredentials: the same credentials again, complete",
    inWorld(start, [], async (harness) => {
      const { key, credentials } = await makeKey(harness);
      const again = await harness.connection.readCredentials(key.id, signal);
      assert.deepEqual(again.reveal(), credentials.reveal());
    }),
  );
}

function defineFinding(start: Start): void {
  test(
    "observe: a key that was never there is undefined; a foreign one has no marks; looking changes nothing",
    inWorld(start, [], async (harness) => {
      const before = [await harness.keysOutside(), await harness.foreignLabels()];
      assert.equal(await harness.connection.observe(harness.missingKeyId, signal), undefined);
      for (const odd of ["", ".", "..", "a/b", "a b", "a?b=c", "ü", "x".repeat(5000)]) {
        assert.equal(await harness.connection.observe(odd, signal), undefined, JSON.stringify(odd.slice(0, 20)));
      }
      const foreign = await harness.connection.observe(harness.foreignKey.id, signal);
      assert.deepEqual([foreign?.name, foreign?.state, foreign?.marks], [harness.foreignKey.name, "ready", undefined]);
      assert.deepEqual([await harness.keysOutside(), await harness.foreignLabels()], before);
    }),
  );

  test(
    "findByName: every key of that name and of no other, ours or not",
    inWorld(start, [], async (harness) => {
      const { connection, instanceId, foreignKey } = harness;
      const { key } = await makeKey(harness);
      assert.deepEqual(await connection.findByName(instanceId, "orders-1", signal), [key]);
      assert.deepEqual(idsOf(await connection.findByName(instanceId, foreignKey.name, signal)), [foreignKey.id]);
      for (const name of ["orders", "orders-10", "ORDERS-1", "", "it's", "'", "a\\", "x' or name eq 'orders-1"]) {
        assert.deepEqual(await connection.findByName(instanceId, name, signal), [], JSON.stringify(name));
      }
      assert.deepEqual(await connection.findByName(harness.missingInstanceId, "orders-1", signal), []);
    }),
  );

  test(
    "listMarked: by cluster, by owner's UID, by kind and name whatever the UID; nobody else's keys",
    inWorld(start, [], async (harness) => {
      const namespaced = marksOf({ ownerNamespace: "shop", ownerUid: "uid-2", sequence: 2 });
      const made = await makeKey(harness);
      const other = await makeKey(harness, { name: "orders-2", marks: namespaced });
      await makeKey(harness, { name: "orders-3", marks: marksOf({ clusterId: "another-cluster" }) });
      const { ownerUid: uid, ownerKind: kind, ownerName: name } = marksOf();
      const table: readonly (readonly [filter: MarkFilter, expected: readonly string[], reason: string])[] = [
        [{ clusterId: CLUSTER }, [made.key.id, other.key.id], "the cluster"],
        [{ clusterId: CLUSTER, owner: { uid, kind, name } }, [made.key.id], "the owner"],
        [{ clusterId: CLUSTER, owner: { uid: "new", kind, name } }, [made.key.id], "a restored owner"],
        [
          { clusterId: CLUSTER, owner: { uid: "new", kind, name, namespace: "shop" } },
          [other.key.id],
          "in a namespace",
        ],
        [{ clusterId: CLUSTER, owner: { uid: "new", kind, name: "order" } }, [], "another name"],
        [{ clusterId: CLUSTER, owner: { uid: "new", kind: "Other", name } }, [], "another kind"],
        [{ clusterId: "nobody" }, [], "another cluster"],
      ];
      for (const [filter, expected, reason] of table) {
        const found = await harness.connection.listMarked(filter, signal);
        assert.deepEqual(idsOf(found), [...expected].sort(), reason);
      }
      const [listed] = await harness.connection.listMarked({ clusterId: CLUSTER, owner: { uid, kind, name } }, signal);
      assert.deepEqual(listed, made.key, "a list tells what observe tells");
    }),
  );

  test(
    "listMarked: complete beyond one page, nothing twice",
    inWorld(start, [], async (harness) => {
      const count = harness.moreThanAPage;
      for (let sequence = 1; sequence <= count; sequence += 1) {
        await makeKey(harness, { name: `orders-${sequence}`, marks: marksOf({ sequence }) });
      }
      const listed = await harness.connection.listMarked({ clusterId: CLUSTER }, signal);
      const sequences = listed.map(({ marks }) => marks?.sequence ?? 0).sort((a, b) => a - b);
      assert.deepEqual(
        sequences,
        Array.from({ length: count }, (_, index) => index + 1),
      );
    }),
  );

  test(
    "observeInstance: present or gone",
    inWorld(start, [], async (harness) => {
      assert.equal(await harness.connection.observeInstance(harness.instanceId, signal), "present");
      assert.equal(await harness.connection.observeInstance(harness.missingInstanceId, signal), "gone");
    }),
  );

  test(
    "describeInstance: its name of now, its offering, plan and tags; undefined when it is not there",
    inWorld(start, [], async (harness, _set, context) => {
      const { connection, instanceId: id, instance } = harness;
      if ("impossible" in instance) return context.skip(instance.impossible);
      assert.deepEqual(await connection.describeInstance(id, signal), { id, ...instance });
      await harness.renameInstance("renamed");
      assert.deepEqual(await connection.describeInstance(id, signal), { id, ...instance, name: "renamed" });
      assert.equal(await connection.describeInstance(harness.missingInstanceId, signal), undefined);
    }),
  );
}

async function remove(harness: ProviderHarness, id: string): Promise<void> {
  if ((await harness.connection.delete(id, signal)) === "accepted") await vanishes(harness, id);
}

function defineRemoving(start: Start): void {
  test(
    "delete: the key stops working and is gone everywhere, all others stay",
    inWorld(start, [], async (harness) => {
      const before = await harness.keysOutside();
      const doomed = await makeKey(harness);
      const kept = await makeKey(harness, { name: "orders-2", marks: marksOf({ sequence: 2 }) });
      await remove(harness, doomed.key.id);
      assert.equal(await harness.canLogIn(doomed.credentials), false);
      assert.equal(await harness.canLogIn(kept.credentials), true);
      assert.equal(await harness.connection.observe(doomed.key.id, signal), undefined);
      assert.deepEqual(await harness.connection.findByName(harness.instanceId, "orders-1", signal), []);
      assert.deepEqual([...(await harness.keysOutside())].sort(), [...before, kept.key.id].sort());
    }),
  );

  test(
    "delete: what is not there is gone, again and again",
    inWorld(start, [], async (harness) => {
      const { key } = await makeKey(harness);
      await remove(harness, key.id);
      const left = await harness.keysOutside();
      assert.equal(await harness.connection.delete(key.id, signal), "gone");
      for (const id of [harness.missingKeyId, "", "..", "a/b"]) {
        assert.equal(await harness.connection.delete(id, signal), "gone", id);
      }
      assert.deepEqual(await harness.keysOutside(), left);
    }),
  );

  test(
    "delete: a name is free again, and its new key is another one",
    inWorld(start, [], async (harness) => {
      const one = await makeKey(harness);
      await remove(harness, one.key.id);
      await harness.advance(MINUTE_MS);
      const two = await makeKey(harness);
      assert.notEqual(two.key.id, one.key.id);
      assert.equal(await harness.canLogIn(two.credentials), true);
      assert.equal(await harness.canLogIn(one.credentials), false);
    }),
  );
}

function defineMarking(start: Start): void {
  test(
    "mark: a foreign key is marked, marked otherwise, and left as it was; others' labels stay throughout",
    inWorld(start, [], async (harness) => {
      const { connection, foreignKey } = harness;
      const theirs = await harness.foreignLabels();
      const seen = async () => (await connection.observe(foreignKey.id, signal))?.marks;
      for (const marks of [
        marksOf(),
        marksOf({ ownerUid: "restored", sequence: 9, ownerNamespace: "shop" }),
        marksOf(),
      ]) {
        for (const _ of ["first", "again"]) {
          await connection.mark(foreignKey.id, marks, signal);
          assert.deepEqual(await seen(), marks);
          assert.deepEqual(await harness.foreignLabels(), theirs);
        }
      }
      assert.deepEqual(idsOf(await connection.listMarked({ clusterId: CLUSTER }, signal)), [foreignKey.id]);
      for (const _ of ["first", "again"]) await connection.mark(foreignKey.id, undefined, signal);
      assert.equal(await seen(), undefined);
      assert.deepEqual(await connection.listMarked({ clusterId: CLUSTER }, signal), []);
      assert.deepEqual(await harness.foreignLabels(), theirs);
    }),
  );

  test(
    "mark: the key goes on working; one that is not there is an error to mark and none to unmark",
    inWorld(start, [], async (harness) => {
      const { key, credentials } = await makeKey(harness);
      await harness.connection.mark(key.id, marksOf({ sequence: 2 }), signal);
      assert.equal(await harness.canLogIn(credentials), true);
      assert.equal((await harness.connection.observe(key.id, signal))?.state, "ready");
      await failsWith(harness, harness.connection.mark(harness.missingKeyId, marksOf(), signal), ["ProviderRefused"]);
      await harness.connection.mark(harness.missingKeyId, undefined, signal);
    }),
  );
}
