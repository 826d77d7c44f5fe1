import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogFields } from "../base/logger.ts";
import { silentLogger } from "../base/logger.ts";
import { embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import { EventRecorder, type Happening } from "./event-recorder.ts";

const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};
const { signal } = new AbortController();
const binding = (name: string, uid = "uid-1"): KubeObject => ({
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ServiceBinding",
  metadata: { name, uid, resourceVersion: "7" },
});
const happening: Happening = {
  type: "Normal",
  reason: "KeyRotated",
  action: "Rotate",
  note: "Key a is active.",
  id: "a",
};

function start(instance = "pod-1") {
  const { clock, kube } = embeddedCluster(Date.UTC(2026, 0, 1, 12));
  const warnings: LogFields[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields: LogFields = {}) => void warnings.push(fields) };
  const recorder = new EventRecorder({ kube, clock, logger, reporter: { controller: "btp", instance } });
  const list = async (namespace = "default"): Promise<readonly KubeObject[]> =>
    (await kube.list(events, { namespace })).items;
  return { recorder, list, warnings };
}

test("an event says what happened to whom, when, and who says so", async () => {
  const { recorder, list } = start();
  await recorder.record(binding("orders"), happening, signal);
  const [event] = await list();
  assert.ok(event);
  assert.match(event.metadata.name, /^orders\.[0-9a-f]{16}$/);
  assert.partialDeepStrictEqual(event, {
    reason: "KeyRotated",
    action: "Rotate",
    note: "Key a is active.",
    type: "Normal",
    reportingController: "keyturn.dev/btp",
    reportingInstance: "pod-1",
    eventTime: "2026-01-01T12:00:00.000000Z",
    regarding: {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      name: "orders",
      uid: "uid-1",
      resourceVersion: "7",
    },
  });
});

test("what is told twice is one event; what differs in anything is another", async () => {
  const table: readonly (readonly [object: KubeObject, changes: Partial<Happening>, count: number, reason: string])[] =
    [
      [binding("orders"), {}, 1, "told again after a crash"],
      [binding("orders"), { note: "in other words" }, 1, "the same happening in other words"],
      [binding("orders"), { id: "b" }, 2, "another key"],
      [binding("orders"), { reason: "KeyDeleted" }, 2, "something else about the same key"],
      [binding("orders", "uid-2"), {}, 2, "another resource of that name"],
    ];
  for (const [object, changes, count, reason] of table) {
    const { recorder, list, warnings } = start();
    await recorder.record(binding("orders"), happening, signal);
    await recorder.record(object, { ...happening, ...changes }, signal);
    assert.equal((await list()).length, count, reason);
    assert.deepEqual(warnings, [], reason);
  }
});

test("an object in a namespace has its events there", async () => {
  const { recorder, list } = start();
  const object = binding("orders");
  await recorder.record({ ...object, metadata: { ...object.metadata, namespace: "kube-public" } }, happening, signal);
  assert.equal((await list("kube-public")).length, 1);
  assert.deepEqual(await list(), []);
});

test("long names, notes and instances are cut to what the API takes", async () => {
  const longName = `${"a".repeat(229)}-.${"b".repeat(20)}`;
  const table: readonly (readonly [name: string, note: string, instance: string, reason: string])[] = [
    ["orders", "x".repeat(1024), "p".repeat(128), "just what fits"],
    ["orders", "x".repeat(5000), "p".repeat(300), "plain letters"],
    ["orders", "ü".repeat(5000), "ü".repeat(300), "letters of two bytes"],
    ["orders", "🔑".repeat(5000), "🔑".repeat(300), "letters of four bytes"],
    ["orders", `x${"🔑".repeat(5000)}`, "p", "letters that do not fit evenly"],
    [longName, "x", "p", "a name that would end in what no name ends in"],
    ["a".repeat(253), "x", "p", "the longest name"],
  ];
  for (const [name, note, instance, reason] of table) {
    const { recorder, list, warnings } = start(instance);
    await recorder.record(binding(name), { ...happening, note }, signal);
    assert.deepEqual(warnings, [], reason);
    const [event] = await list();
    const written = String(event?.note);
    assert.ok(written === note || (written.endsWith("…") && note.startsWith(written.slice(0, -1))), reason);
  }
});

test("an event that cannot be written is logged by its reason, and is nobody's problem", async () => {
  const { recorder, warnings } = start();
  const object = binding("orders");
  const lost = { ...object, metadata: { ...object.metadata, namespace: "nowhere" } };
  await recorder.record(lost, happening, signal);
  assert.deepEqual(
    warnings.map(({ event, object: name }) => [event, name]),
    [["KeyRotated", "orders"]],
  );
  await recorder.record(lost, happening, AbortSignal.abort());
  assert.equal(warnings.length, 1, "whoever leaves has no need of it");
});
