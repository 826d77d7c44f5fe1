import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { defineProviderConformance } from "../../src/providers/conformance.fixture.ts";
import { marksOf, type ProviderHarness, requestOf, signal } from "../../src/providers/conformance-harness.fixture.ts";
import type { Connection } from "../../src/providers/contract.ts";
import { parseServiceManagerCredentials } from "../../src/providers/service-manager/credentials.ts";
import { connectServiceManager } from "../../src/providers/service-manager/service-manager.ts";
import { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { SandboxHttp } from "./sandbox-http.ts";

const URL = "http://127.0.0.1:1";
const CANARY = "canary-6b1f";
const FOREIGN_LABELS = { environment: ["production", "eu"] };

interface Variant {
  /** How brokers work while nothing asks for otherwise. */
  readonly broker: "synchronous" | "asynchronous";
  readonly login: "secret" | "certificate";
  readonly retryAfter: "seconds" | "http-date" | "go-time" | "none";
  readonly deletedStatus: 404 | 410;
}

interface SandboxHarness extends ProviderHarness {
  readonly sandbox: SandboxServiceManager;
}

/** Connects a caller that is not ours to make the foreign key with. */
async function makeForeignKey(sandbox: SandboxServiceManager, instanceId: string) {
  const issued = sandbox.controls.issueClient(URL);
  const http = new SandboxHttp(sandbox);
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: issued.clientid });
  form.set("client_secret", "clientsecret" in issued ? issued.clientsecret : "");
  const send = async (
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<Record<string, unknown>> => {
    const answer = await http.send({ method: "POST", url: URL + path, headers, body: new Redacted(body) }, signal);
    return JSON.parse(answer.body.reveal());
  };
  const { access_token } = await send("/oauth/token", form.toString(), {});
  const body = JSON.stringify({ name: "theirs", service_instance_id: instanceId, labels: FOREIGN_LABELS });
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const { id } = await send("/v1/service_bindings", body, headers);
  return { id: String(id), name: "theirs" };
}

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nsandbox\n-----END CERTIFICATE-----";
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----`;

async function start(variant: Variant): Promise<SandboxHarness> {
  const clock = new ManualClock();
  const sandbox = new SandboxServiceManager({ clock, random: seededRandom(11), canary: CANARY });
  const { controls } = sandbox;
  const { id: instanceId } = controls.putInstance({ name: "orders-db", offering: "postgresql", plan: "small" });
  const foreignKey = await makeForeignKey(sandbox, instanceId);
  controls.putInstance({ broker: variant.broker, brokerWorkMs: 20_000 }, instanceId);
  controls.set({ retryAfter: variant.retryAfter, deletedStatus: variant.deletedStatus });
  const client = controls.issueClient(URL, variant.login === "certificate" ? { certificate: CERTIFICATE } : {});
  const secret = { ...client, ...(variant.login === "certificate" && { key: PRIVATE_KEY }) };
  const http = new SandboxHttp(sandbox);
  const credentials = parseServiceManagerCredentials(new Redacted(secret));
  const connection: Connection = connectServiceManager({ credentials, http, clock });
  const put = (settings: Parameters<typeof controls.putInstance>[0]): void => {
    controls.putInstance(settings, instanceId);
  };
  const { broker } = variant;
  return {
    sandbox,
    connection,
    instanceId,
    instance: { name: "orders-db", offering: "postgresql", plan: "small", tags: ["postgresql", "sandbox"] },
    renameInstance: (name) => put({ name }),
    missingInstanceId: "3f2b7c1e-0000-4000-8000-00000000dead",
    missingKeyId: "3f2b7c1e-0000-4000-8000-00000000beef",
    foreignKey,
    moreThanAPage: 205,
    canary: CANARY,
    faults: {
      outage: { set: (isOn) => controls.set({ outage: isOn ? "unavailable" : "none" }) },
      routerNotFound: { set: (isOn) => controls.set({ outage: isOn ? "unknown-route" : "none" }) },
      throttling: { set: (isOn) => controls.set({ outage: isOn ? "throttled" : "none" }) },
      silence: {
        set: (isOn) => {
          http.isSilent = isOn;
        },
      },
      forbidden: {
        set: (isOn) => {
          controls.setClientPlan(client.clientid, isOn ? "service-operator-access" : "subaccount-admin");
        },
      },
      quota:
        broker === "asynchronous"
          ? { impossible: "an asynchronous broker says it in the operation: the create fails later" }
          : { set: (isOn) => put({ bindingQuota: isOn ? 2 : null }) },
      asynchronous: { set: (isOn) => put({ broker: isOn ? "asynchronous" : broker }) },
      failingCreates: {
        set: (isOn) =>
          put({ broker: isOn ? "asynchronous" : broker, brokerFailsOn: "bind", brokerFailures: isOn ? "always" : 0 }),
      },
      eventualConsistency: {
        set: (isOn) => controls.set({ createdHiddenMs: isOn ? 30_000 : 0, deletedListedMs: isOn ? 30_000 : 0 }),
      },
      nameCollision: { set: (isOn) => controls.set({ nameRaceMs: isOn ? 60_000 : 0 }) },
      lostAnswer: { set: (isOn) => controls.set({ lostAnswers: isOn ? 1 : 0, lostAnswersTo: "POST" }) },
      expiredTokens: { set: () => controls.revokeTokens() },
    },
    foreignLabels: async () => {
      const labels = sandbox.liveBindings().find(({ id }) => id === foreignKey.id)?.labels ?? {};
      return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("keyturn_")));
    },
    keysOutside: async () => sandbox.liveBindings().map(({ id }) => id),
    canLogIn: async (given) => sandbox.authenticate(given.reveal()),
    advance: (byMs) => clock.advance(byMs),
    stop: async () => assert.equal(clock.timerCount, 0, "a timer was left behind"),
  };
}

const synchronous: Variant = { broker: "synchronous", login: "secret", retryAfter: "go-time", deletedStatus: 404 };
const asynchronous: Variant = { broker: "asynchronous", login: "certificate", retryAfter: "none", deletedStatus: 410 };

defineProviderConformance({ name: "Service Manager, synchronous broker", start: () => start(synchronous) });
defineProviderConformance({ name: "Service Manager, asynchronous broker", start: () => start(asynchronous) });

test("a rotation with its later deletion takes three requests, and no token but the first", async () => {
  const harness = await start(synchronous);
  const { connection, sandbox } = harness;
  await connection.create(requestOf(harness), signal);
  sandbox.clearRequestLog();
  const created = await connection.create(requestOf(harness, { name: "b", marks: marksOf({ sequence: 2 }) }), signal);
  assert.equal(created.kind, "ready");
  const [old] = await connection.listMarked({ clusterId: marksOf().clusterId }, signal);
  assert.ok(old);
  assert.equal(await connection.delete(old.id, signal), "gone");
  const counts = sandbox.requestLog().map(({ method, pattern, count }) => `${count} ${method} ${pattern}`);
  assert.deepEqual(counts.sort(), [
    "1 DELETE /v1/service_bindings/{id}",
    "1 GET /v1/service_bindings",
    "1 POST /v1/service_bindings",
  ]);
});

test("a plan without bindings is said in words", async () => {
  const harness = await start(synchronous);
  const { id: instanceId } = harness.sandbox.controls.putInstance({ bindable: false });
  await assert.rejects(harness.connection.create(requestOf(harness, { instanceId }), signal), {
    code: "ProviderRefused",
    message: "the plan of the service instance does not allow bindings: use an instance of another plan",
  });
});

test("a create that was given up shows itself later as a failed key of ours, and can be removed", async () => {
  const harness = await start(synchronous);
  const { connection, sandbox, instanceId } = harness;
  const before = await harness.keysOutside();
  sandbox.controls.putInstance({ brokerLatencyMs: 90_000 }, instanceId);
  const late = assert.rejects(connection.create(requestOf(harness), signal), { code: "ProviderUnavailable" });
  await harness.advance(80_000);
  await late;
  assert.deepEqual(await connection.findByName(instanceId, "orders-1", signal), [], "nothing to be seen yet");
  await harness.advance(20_000);
  const [found] = await connection.listMarked({ clusterId: marksOf().clusterId }, signal);
  assert.deepEqual([found?.state, found?.marks], ["failed", marksOf()]);
  sandbox.controls.putInstance({ brokerLatencyMs: 0 }, instanceId);
  assert.equal(await connection.delete(found?.id ?? "", signal), "gone");
  assert.deepEqual(await harness.keysOutside(), before);
});

test("concurrent updates are busy, a forgotten delete operation is no obstacle, and polls that fail are no answer", async () => {
  const harness = await start(asynchronous);
  const { connection, sandbox, foreignKey } = harness;
  sandbox.controls.set({
    patchConflicts: 1,
    deleteOperations: "forgotten",
    operationTypeCase: "upper",
    operationErrors: "array",
  });
  await assert.rejects(connection.mark(foreignKey.id, marksOf(), signal), { code: "ProviderBusy" });
  await connection.mark(foreignKey.id, marksOf(), signal);
  sandbox.controls.set({ operationPollFailures: "always" });
  assert.equal(await connection.delete(foreignKey.id, signal), "accepted");
  assert.equal((await connection.observe(foreignKey.id, signal))?.state, "deleting");
  await harness.advance(30_000);
  assert.equal(await connection.observe(foreignKey.id, signal), undefined);
  assert.deepEqual(await harness.keysOutside(), []);
});

test("a delete that fails leaves the key as it was, and works the next time", async () => {
  for (const variant of [synchronous, asynchronous]) {
    const harness = await start(variant);
    const { connection, sandbox, foreignKey, instanceId } = harness;
    sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "unbind" }, instanceId);
    const first = await connection.delete(foreignKey.id, signal).catch((error: { code: string }) => error.code);
    assert.equal(first, variant.broker === "synchronous" ? "ProviderRefused" : "accepted");
    await harness.advance(30_000);
    assert.equal((await connection.observe(foreignKey.id, signal))?.state, "ready");
    await connection.delete(foreignKey.id, signal);
    await harness.advance(30_000);
    assert.equal(await connection.observe(foreignKey.id, signal), undefined);
  }
});
