import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { Delta, Entry } from "../../kube/resource-cache.ts";
import type { Watch } from "../../runtime/controller.ts";
import {
  ANY_INSTANCE,
  configKey,
  configOf,
  configWatch,
  credentialsWatch,
  instanceWatch,
  managedWatch,
} from "../managed/family-watches.ts";
import { publishedWatch } from "../managed/managed-watches.ts";
import { createBtpFamily } from "./btp-family.ts";
import { bindingOf } from "./btp-objects.fixture.ts";

const family = createBtpFamily();
type Fields = Readonly<Record<string, unknown>>;
const binding = (spec: Fields = {}, status: Fields = {}): KubeObject => ({
  ...bindingOf({ instanceId: "i-1", metadata: { name: "orders", uid: "uid-1" }, spec }),
  status,
});
const entryOf = <R>(watch: Watch<R>, key: string, object: KubeObject): Entry<R> => ({
  key,
  uid: "uid-1",
  resourceVersion: "1",
  record: recordOf(watch, object),
});

function recordOf<R>({ source }: Watch<R>, object: KubeObject): R {
  const record = source.record(object);
  assert.ok(record !== undefined, `${object.metadata.name} is not kept`);
  return record;
}

/** What the watch asks for when an object comes, changes or goes. */
function keys<R>(watch: Watch<R>, key: string, was: KubeObject | undefined, is: KubeObject | undefined): string[] {
  const [old, entry] = [was && entryOf(watch, key, was), is && entryOf(watch, key, is)];
  const common = { key, via: "watch" } as const;
  if (old && entry) return [...watch.keysOf({ ...common, type: "updated", old, entry })];
  if (entry) return [...watch.keysOf({ ...common, type: "added", entry })];
  return old ? [...watch.keysOf({ ...common, type: "deleted", old } satisfies Delta<R>)] : [];
}

test("a key of a ProviderConfig is told from that of a binding by its form", () => {
  assert.equal(configOf(configKey("default")), "default");
  for (const key of ["default", "ProviderConfig", "namespace/name"]) assert.equal(configOf(key), undefined, key);
});

test("a binding is asked for whenever it changes, its ProviderConfig when users come, go or move", () => {
  const watch = managedWatch(family);
  const other = binding({ providerConfigRef: { name: "other" } });
  const table: readonly (readonly [
    was: KubeObject | undefined,
    is: KubeObject | undefined,
    expected: readonly string[],
    reason: string,
  ])[] = [
    [undefined, binding(), ["orders", configKey("default")], "it comes"],
    [binding(), binding({ secretKey: "x" }), ["orders"], "it changes"],
    [binding(), other, ["orders", configKey("default"), configKey("other")], "it moves to another"],
    [other, undefined, ["orders", configKey("other")], "it goes"],
  ];
  for (const [was, is, expected, reason] of table) assert.deepEqual(keys(watch, "orders", was, is), expected, reason);
});

test("a binding is found by its ProviderConfig and by the instance that it refers to", () => {
  const watch = managedWatch(family);
  const ref = { serviceInstanceRef: { name: "db" } };
  const selector = { serviceInstanceSelector: { matchLabels: { app: "orders" } } };
  const table: readonly (readonly [forProvider: Fields, instance: string | undefined, reason: string])[] = [
    [{ serviceInstanceId: "i-1" }, undefined, "an id needs nobody"],
    [ref, "db", "by name"],
    [selector, ANY_INSTANCE, "by labels: any may become the one"],
    [{ ...selector, ...ref }, "db", "the name counts"],
    [{ serviceInstanceId: "i-1", ...ref }, undefined, "the id counts"],
  ];
  for (const [forProvider, instance, reason] of table) {
    const entry = entryOf(watch, "orders", binding({ forProvider: { name: "x", ...forProvider } }));
    assert.equal(entry.record.instance, instance, reason);
    assert.deepEqual(watch.source.indexes?.config?.(entry.record), ["default"], reason);
    assert.deepEqual(watch.source.indexes?.instance?.(entry.record), instance === undefined ? [] : [instance], reason);
  }
});

test("what metrics tell of a binding: dates, retired keys, and whether all is well", () => {
  const watch = managedWatch(family);
  const createdDate = "2026-01-01T00:00:00Z";
  const at = Date.parse(createdDate);
  const atProvider = { id: "k-1", name: "n", createdDate };
  const conditions = (ready: string, synced: string) => [
    { type: "Ready", status: ready },
    { type: "Synced", status: synced },
  ];
  const well = { atProvider, retiredKeys: [{ id: "k-0" }], conditions: conditions("True", "True") };
  const facts = (spec: Fields, status: Fields): readonly unknown[] => {
    const { activeSince, rotationAt, retired, isHealthy } = recordOf(watch, binding(spec, status));
    return [activeSince, rotationAt, retired, isHealthy];
  };
  const table: readonly (readonly [spec: Fields, status: Fields, expected: readonly unknown[], reason: string])[] = [
    [{}, well, [at, at + 288 * 3_600_000, 1, true], "all is well"],
    [{}, {}, [undefined, Infinity, 0, false], "new"],
    [{ rotation: undefined }, well, [at, Infinity, 1, true], "a static one is never due"],
    [{ rotation: { ttl: "1h", frequency: "2h" } }, well, [at, Infinity, 1, true], "a spec that cannot be read"],
    [{}, { ...well, conditions: conditions("True", "False") }, [at, at + 288 * 3_600_000, 1, false], "out of sync"],
    [{}, { atProvider, conditions: "damaged" }, [at, at + 288 * 3_600_000, 0, false], "conditions that are none"],
  ];
  for (const [spec, status, expected, reason] of table) assert.deepEqual(facts(spec, status), expected, reason);
});

test("a published Secret asks for its binding, and for nobody when its owner is of another kind", () => {
  const watch = publishedWatch(family.kind);
  assert.deepEqual([watch.source.selection?.labelSelector, watch.source.metadataOnly], ["keyturn.dev/owner-uid", true]);
  const secret = (ownerKind: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "shop",
      name: "orders",
      uid: "uid-s",
      resourceVersion: "7",
      labels: { "keyturn.dev/owner-uid": "uid-1" },
      annotations: { "keyturn.dev/key-id": "k-1" },
      ownerReferences: [{ apiVersion: "x/v1", kind: ownerKind, name: "orders-binding", uid: "uid-1" }],
    },
  });
  const { record } = entryOf(watch, "shop/orders", secret("ServiceBinding"));
  assert.deepEqual(record, { keyId: "k-1", ownerUid: "uid-1", owners: "ServiceBinding/orders-binding" });
  assert.deepEqual(watch.source.indexes?.owner?.(record), ["uid-1"]);
  assert.deepEqual(keys(watch, "shop/orders", undefined, secret("ServiceBinding")), ["orders-binding"]);
  assert.deepEqual(keys(watch, "shop/orders", secret("ServiceBinding"), undefined), ["orders-binding"]);
  assert.deepEqual(keys(watch, "shop/orders", undefined, secret("Other")), []);
});

test("configurations, their Secrets and instances ask for all who use them", () => {
  const users = (of: string) => [`user-of-${of}`];
  const config = (secretRef: Fields | undefined): KubeObject => ({
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ProviderConfig",
    metadata: { name: "default" },
    spec: { serviceManagerSecret: { source: "Secret", secretRef } },
  });
  const configs = configWatch(family, users);
  const whole = config({ namespace: "default", name: "sm" });
  assert.deepEqual(keys(configs, "default", undefined, whole), [configKey("default"), "user-of-default"]);
  assert.deepEqual(keys(configs, "default", whole, undefined), [configKey("default"), "user-of-default"]);
  assert.deepEqual(configs.source.indexes?.secret?.(recordOf(configs, whole)), ["default/sm"]);
  for (const broken of [undefined, {}, { name: "sm" }, { namespace: "", name: "sm" }]) {
    assert.deepEqual(configs.source.indexes?.secret?.(recordOf(configs, config(broken))), [], JSON.stringify(broken));
  }
  const secrets = credentialsWatch(family, users);
  assert.deepEqual(
    [secrets.source.selection?.labelSelector, secrets.source.metadataOnly],
    ["keyturn.dev/credentials-of=btp", true],
  );
  assert.deepEqual(keys(secrets, "default/sm", whole, undefined), ["user-of-default/sm"]);
  assert.deepEqual(keys(instanceWatch(family, users), "db", undefined, whole), ["user-of-db"]);
});

test("what only the status says is nobody's wish, and does not cut a back-off short", () => {
  const watch = managedWatch(family);
  const changed = (metadata: Fields, status: Fields = {}): KubeObject => {
    const object = binding({}, status);
    return { ...object, metadata: { ...object.metadata, generation: 1, ...metadata } };
  };
  const before = changed({ annotations: { a: "1", b: "2" } });
  const table: readonly (readonly [is: KubeObject, expected: boolean, reason: string])[] = [
    [changed({ annotations: { b: "2", a: "1" } }, { sequence: 7 }), false, "the status alone"],
    [changed({ annotations: { a: "1", b: "2" }, finalizers: ["x"] }), false, "a finalizer"],
    [changed({ annotations: { a: "1", b: "3" } }), true, "an annotation"],
    [changed({ annotations: { a: "1", b: "2" }, generation: 2 }), true, "the spec"],
    [changed({ annotations: { a: "1", b: "2" }, deletionTimestamp: "2026-01-01T00:00:00Z" }), true, "it is to go"],
  ];
  const [key, via] = ["orders", "watch"] as const;
  const old = entryOf(watch, key, before);
  for (const [is, expected, reason] of table) {
    const isWish = watch.isWish?.({ key, via, type: "updated", old, entry: entryOf(watch, key, is) });
    assert.equal(isWish, expected, reason);
  }
  assert.equal(watch.isWish?.({ key, via, type: "added", entry: old }), true);
});

test("a rotation is due when nothing holds it back: no window, no freeze, no pause, and the right to make keys", () => {
  const watch = managedWatch(family);
  const createdDate = "2026-01-01T00:00:00Z";
  const status = { atProvider: { id: "k-1", name: "n", createdDate } };
  const dueAt = Date.parse(createdDate) + 288 * 3_600_000;
  const rotation = { ttl: "336h", frequency: "288h" };
  const nightly = [{ schedule: "0 2 * * *", duration: "1h" }];
  const annotated = (key: string): Partial<KubeObject["metadata"]> => ({ annotations: { [key]: "true" } });
  const table: readonly (readonly [
    spec: Fields,
    metadata: Partial<KubeObject["metadata"]>,
    expected: number,
    reason: string,
  ])[] = [
    [{}, {}, dueAt, "by its date"],
    [{ rotation: { ...rotation, windows: nightly } }, {}, dueAt + 2 * 3_600_000, "when the window opens"],
    [{}, annotated("keyturn.dev/freeze"), Infinity, "frozen"],
    [{}, annotated("crossplane.io/paused"), Infinity, "paused"],
    [{ managementPolicies: ["Observe"] }, {}, Infinity, "nobody may make a key"],
    [{ rotation: undefined }, {}, Infinity, "static"],
  ];
  for (const [spec, metadata, expected, reason] of table) {
    const object = binding(spec, status);
    const record = recordOf(watch, { ...object, metadata: { ...object.metadata, ...metadata } });
    assert.equal(record.dueAt, expected, reason);
  }
});
