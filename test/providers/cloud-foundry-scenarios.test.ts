import assert from "node:assert/strict";
import { test } from "node:test";
import { Redacted } from "../../src/base/redacted.ts";
import { nextLook } from "../../src/engine/next-look.ts";
import {
  becomes,
  CLUSTER,
  failsWith,
  idOf,
  makeKey,
  marksOf,
  requestOf,
  signal,
  VERBS,
  vanishes,
} from "../../src/providers/conformance-harness.fixture.ts";
import type { Connection } from "../../src/providers/contract.ts";
import { type SandboxHarness, start, type Variant } from "./cloud-foundry-harness.ts";

const usual: Variant = { broker: "synchronous", login: "user", switches: {} };
const background: Variant = { broker: "asynchronous", login: "user", switches: {} };

const countsOf = ({ sandbox }: SandboxHarness): readonly string[] =>
  sandbox
    .requestLog()
    .map(({ method, pattern, count }) => `${count} ${method} ${pattern.replace("/v3/", "")}`)
    .sort();

const owner = { uid: marksOf().ownerUid, kind: marksOf().ownerKind, name: marksOf().ownerName };

test("a rotation with its later deletion takes seven requests, and no log-in but the first", async () => {
  const harness = await start(usual);
  const { connection, sandbox } = harness;
  await makeKey(harness);
  await connection.listMarked({ clusterId: CLUSTER, owner }, signal);
  sandbox.clearRequestLog();
  const next = requestOf(harness, { name: "orders-2", marks: marksOf({ sequence: 2 }) });
  assert.equal((await connection.create(next, signal)).kind, "ready");
  const [old] = await connection.listMarked({ clusterId: CLUSTER, owner }, signal);
  assert.equal(await connection.delete(old?.id ?? "", signal), "gone");
  assert.deepEqual(countsOf(harness), [
    "1 DELETE service_credential_bindings/{guid}",
    "1 GET service_credential_bindings",
    "1 GET service_credential_bindings/{guid}",
    "1 GET service_credential_bindings/{guid}/details",
    "1 POST service_credential_bindings",
    "2 GET jobs/{guid}",
  ]);
});

test("with a broker that takes its time it is one request more per look at an unfinished job", async () => {
  const harness = await start(background, { deleteWaitMs: 60_000 });
  const { connection, sandbox, clock } = harness;
  await makeKey(harness, { name: "warm" });
  sandbox.clearRequestLog();
  const created = await connection.create(requestOf(harness), signal);
  let [looks, waitedMs] = [0, 0];
  while ((await connection.observe(idOf(created), signal))?.state === "creating") {
    looks += 1;
    const pauseMs = nextLook(0, waitedMs) - waitedMs;
    waitedMs += pauseMs;
    await clock.advance(pauseMs);
  }
  assert.ok(waitedMs >= 20_000 && waitedMs <= 21_700, `noticed after ${waitedMs} ms`);
  await connection.readCredentials(idOf(created), signal);
  const deleting = connection.delete(idOf(created), signal);
  await clock.advance(30_000);
  assert.equal(await deleting, "gone");
  const total = sandbox.requestLog().reduce((sum, { count }) => sum + count, 0);
  const jobs = sandbox.requestLog().find(({ pattern }) => pattern.includes("jobs"))?.count ?? 0;
  assert.equal(total - jobs, 4, "POST, key, details, DELETE");
  assert.ok(looks < 25 && jobs < 55, `${looks} looks, ${jobs} at jobs`);
  assert.deepEqual(sandbox.auditEvents(), [{ type: "audit.service_key.show", count: 2 }], "credentials are not polled");
});

test("the role is lost: every verb says so, nothing looks deleted, nothing is made, and all is well when it is back", async () => {
  const harness = await start(usual);
  const { key } = await makeKey(harness);
  const before = await harness.keysOutside();
  for (const connection of [harness.connection, harness.reconnect()]) {
    harness.setRole("none");
    for (const [verb, call] of Object.entries(VERBS)) {
      await failsWith(harness, call({ ...harness, connection }, key.id, signal), ["ProviderForbidden"], verb);
    }
    assert.deepEqual(await harness.keysOutside(), before);
    harness.setRole("space-developer");
    assert.deepEqual(await connection.observe(key.id, signal), key);
    assert.equal((await connection.listMarked({ clusterId: CLUSTER }, signal)).length, 1);
  }
});

test("an auditor sees keys, and is told what role it takes for more", async () => {
  const harness = await start(usual);
  const { key } = await makeKey(harness);
  harness.setRole("space-auditor");
  assert.deepEqual(await harness.connection.observe(key.id, signal), key);
  for (const verb of ["create", "readCredentials", "delete", "mark"] as const) {
    const error = await failsWith(harness, VERBS[verb](harness, key.id, signal), ["ProviderForbidden"], verb);
    assert.match(error.message, /Space Developer/, verb);
  }
});

test("an instance that was removed is gone, and so are its keys", async () => {
  const harness = await start(usual);
  const { key } = await makeKey(harness);
  harness.sandbox.controls.removeInstance(harness.instanceId);
  assert.equal(await harness.connection.observeInstance(harness.instanceId, signal), "gone");
  assert.equal(await harness.connection.observe(key.id, signal), undefined);
  assert.equal(await harness.connection.delete(key.id, signal), "gone");
  await failsWith(harness, harness.connection.create(requestOf(harness), signal), ["InstanceNotFound"]);
});

test("a failed unbind leaves the key; the next delete works", async () => {
  for (const variant of [usual, background]) {
    const harness = await start(variant);
    const { connection, sandbox, instanceId } = harness;
    const { key } = await makeKey(harness);
    sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "unbind" }, instanceId);
    const first = await connection.delete(key.id, signal).catch(({ code }: { code: string }) => code);
    assert.equal(first, variant === usual ? "ProviderRefused" : "accepted");
    await harness.advance(30_000);
    assert.equal((await connection.observe(key.id, signal))?.state, "ready", "it is still there");
    await failsWith(harness, connection.readCredentials(key.id, signal), ["CredentialsUnavailable"]);
    if ((await connection.delete(key.id, signal)) === "accepted") await vanishes(harness, key.id);
    assert.ok(!(await harness.keysOutside()).includes(key.id));
  }
});

test("most deletes end within the call, by their job", async () => {
  const harness = await start({ ...usual, switches: { jobQueueMs: 2_000 } }, { deleteWaitMs: 5_000 });
  const { key } = await makeKey(harness);
  const deleting = harness.connection.delete(key.id, signal);
  await harness.advance(5_000);
  assert.equal(await deleting, "gone");
  await harness.stop();
});

test("a delete in a queue looks like nothing; whoever asked for it knows better, whoever did not asks again", async () => {
  const harness = await start({ ...usual, switches: { jobQueueMs: 10_000 } });
  const { key } = await makeKey(harness);
  assert.equal(await harness.connection.delete(key.id, signal), "accepted");
  assert.equal((await harness.connection.observe(key.id, signal))?.state, "deleting");
  const restarted = harness.reconnect();
  assert.equal((await restarted.observe(key.id, signal))?.state, "ready");
  assert.equal(await restarted.delete(key.id, signal), "accepted");
  await harness.advance(30_000);
  assert.equal(await restarted.observe(key.id, signal), undefined);
  assert.equal(await restarted.delete(key.id, signal), "gone");
});

test("a key whose create failed gives its name up", async () => {
  const harness = await start(background);
  const { connection, sandbox, instanceId } = harness;
  sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "bind" }, instanceId);
  const failed = await connection.create(requestOf(harness), signal);
  await becomes(harness, idOf(failed), "failed");
  const { key } = await makeKey(harness);
  assert.notEqual(key.id, idOf(failed));
});

test("the binding of an app: made, read and removed; one that somebody else made is said in words", async () => {
  for (const type of ["managed", "user-provided"] as const) {
    const harness = await start(usual);
    const { connection, sandbox } = harness;
    const { id: appId } = sandbox.controls.putApp({ name: "shop" });
    const { id: instanceId } = sandbox.controls.putInstance({ type });
    const request = requestOf(harness, { appId, instanceId, parameters: new Redacted({}) });
    const created = await connection.create(request, signal);
    assert.equal(created.kind, "ready", type);
    assert.equal(sandbox.liveKeys().at(-1)?.type, "app");
    assert.deepEqual(
      (await connection.listMarked({ clusterId: CLUSTER }, signal)).map(({ id }) => id),
      [idOf(created)],
    );
    const again = { ...request, name: "orders-2" };
    const error = await failsWith(harness, connection.create(again, signal), ["ProviderRefused"]);
    assert.match(error.message, /bound to the service instance already/);
    assert.equal(await connection.delete(idOf(created), signal), "gone");
    assert.equal(await connection.observe(idOf(created), signal), undefined);
  }
});

test("what stands on the resource stands on its key", async () => {
  const harness = await start(usual);
  const metadata = { labels: { team: "orders" }, annotations: { "example.com/owner": "somebody, somewhere" } };
  const { key } = await makeKey(harness, { metadata });
  const live = harness.sandbox.liveKeys().find(({ id }) => id === key.id);
  assert.equal(live?.metadata.labels.team, "orders");
  assert.equal(live?.metadata.annotations["example.com/owner"], "somebody, somewhere");
});

test("quotas and plans are said in words that people can act on", async () => {
  const harness = await start(usual);
  const { controls } = harness.sandbox;
  const attempt = () => harness.connection.create(requestOf(harness), signal);
  controls.putOrganization({ keyQuota: 0 }, controls.organizations()[0]?.id);
  assert.match((await failsWith(harness, attempt(), ["QuotaExceeded"])).message, /quota of the organization/);
  controls.putSpace({ keyQuota: 0 }, controls.spaces()[0]?.id);
  assert.match((await failsWith(harness, attempt(), ["QuotaExceeded"])).message, /quota of the space/);
  controls.putInstance({ bindable: false }, harness.instanceId);
  assert.match((await failsWith(harness, attempt(), ["ProviderRefused"])).message, /another plan/);
  controls.putInstance({ bindable: true, isBusy: true }, harness.instanceId);
  await failsWith(harness, attempt(), ["ProviderBusy"]);
});

test("a rate limit that is reached stops all callers, and lets them go on together", async () => {
  const harness = await start({ ...usual, switches: { retryAfter: "none", rateLimitWindowMs: 60_000 } });
  const { connection, sandbox } = harness;
  const { key } = await makeKey(harness);
  sandbox.controls.set({ rateLimit: 3 });
  for (let index = 0; index < 3; index += 1) await connection.observe(key.id, signal);
  sandbox.clearRequestLog();
  const errors = [];
  for (let index = 0; index < 5; index += 1) {
    errors.push(await failsWith(harness, connection.observe(key.id, signal), ["ProviderThrottled"]));
  }
  assert.equal(
    sandbox.requestLog().reduce((sum, { count }) => sum + count, 0),
    1,
    "asked once, by the first",
  );
  assert.deepEqual(errors[0]?.retry, { kind: "after", delayMs: 60_000 });
  await harness.advance(60_000);
  assert.deepEqual(await connection.observe(key.id, signal), key);
});

test("without metadata in a create: whoever dies before the key is marked finds it by its name, and marks it", async () => {
  const harness = await start({ broker: "asynchronous", login: "user", switches: { metadataInCreate: "refused" } });
  const { sandbox, instanceId } = harness;
  await harness.connection.findByName(instanceId, harness.foreignKey.name, signal);
  sandbox.controls.set({ lostAnswers: 1, lostAnswersTo: "POST" });
  await failsWith(harness, harness.connection.create(requestOf(harness), signal), ["ProviderUnavailable"]);
  const restarted: Connection = harness.reconnect();
  const [found] = await restarted.findByName(instanceId, "orders-1", signal);
  assert.deepEqual([found?.isUnmarkedYet, found?.marks, found?.state], [true, undefined, "creating"]);
  await restarted.mark(found?.id ?? "", marksOf(), signal);
  assert.deepEqual((await restarted.findByName(instanceId, "orders-1", signal))[0]?.marks, marksOf());
  const [listed] = await restarted.listMarked({ clusterId: CLUSTER }, signal);
  assert.equal(listed?.id, found?.id);
});

test("metadata that is refused from one create to the next: the next key is made all the same, and marked", async () => {
  const harness = await start(usual);
  const { connection, sandbox, instanceId } = harness;
  await connection.create(requestOf(harness), signal);
  sandbox.controls.set({ metadataInCreate: "refused" });
  await connection.create(requestOf(harness, { name: "orders-2", marks: marksOf({ sequence: 2 }) }), signal);
  const [found] = await connection.findByName(instanceId, "orders-2", signal);
  assert.deepEqual(found?.marks, marksOf({ sequence: 2 }));
});
