import assert from "node:assert/strict";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { type CloudFoundryOptions, connectCloudFoundry } from "../../src/providers/cloud-foundry/cloud-foundry.ts";
import { parseCloudFoundryCredentials } from "../../src/providers/cloud-foundry/credentials.ts";
import { type ProviderHarness, signal } from "../../src/providers/conformance-harness.fixture.ts";
import { SandboxCloudFoundry } from "../../src/sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import { SandboxHttp } from "./sandbox-http.ts";

export const URL_OF_SANDBOX = "http://127.0.0.1:1";
const CANARY = "canary-6b1f";
const FOREIGN_LABELS = { environment: "production" };

export interface Variant {
  /** How brokers work while nothing asks for otherwise. */
  readonly broker: "synchronous" | "asynchronous";
  readonly login: "user" | "origin" | "client" | "token";
  readonly switches: Parameters<SandboxCloudFoundry["controls"]["set"]>[0];
}

export interface SandboxHarness extends ProviderHarness {
  readonly sandbox: SandboxCloudFoundry;
  readonly clock: ManualClock;
  readonly http: SandboxHttp;
  /** Another connection with the same credentials: what one has learnt, it does not know. */
  reconnect(): ProviderHarness["connection"];
  setRole(role: "space-developer" | "space-auditor" | "none"): void;
}

const issue = (sandbox: SandboxCloudFoundry, login: Variant["login"]) =>
  sandbox.controls.issueLogin(URL_OF_SANDBOX, {
    kind: login === "client" ? "client" : "user",
    ...(login === "origin" && { origin: "sap.ids" }),
  });

const idOfLogin = (login: ReturnType<typeof issue>): string => ("username" in login ? login.username : login.clientId);

/** Makes the foreign key by way of a connection that is not ours, and takes its marks off. */
async function makeForeignKey(sandbox: SandboxCloudFoundry, clock: ManualClock, instanceId: string) {
  const login = issue(sandbox, "user");
  const token = sandbox.controls.issueToken(idOfLogin(login));
  const body = JSON.stringify({
    type: "key",
    name: "theirs",
    relationships: { service_instance: { data: { guid: instanceId } } },
  });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const http = new SandboxHttp(sandbox);
  const url = `${URL_OF_SANDBOX}/v3/service_credential_bindings`;
  await http.send({ method: "POST", url, headers, body: new Redacted(body) }, signal);
  await clock.advance(60_000);
  const [key] = sandbox.liveKeys();
  assert.ok(key);
  const patch = new Redacted(JSON.stringify({ metadata: { labels: FOREIGN_LABELS } }));
  await http.send({ method: "PATCH", url: `${url}/${key.id}`, headers, body: patch }, signal);
  return { id: key.id, name: "theirs" };
}

export async function start(variant: Variant, options: Partial<CloudFoundryOptions> = {}): Promise<SandboxHarness> {
  const clock = new ManualClock();
  const sandbox = new SandboxCloudFoundry({ clock, random: seededRandom(11), canary: CANARY, url: URL_OF_SANDBOX });
  const { controls } = sandbox;
  const { id: instanceId } = controls.putInstance({ name: "orders-db", offering: "postgresql", plan: "small" });
  const foreignKey = await makeForeignKey(sandbox, clock, instanceId);
  const { broker } = variant;
  const put = (settings: Parameters<typeof controls.putInstance>[0]): void => {
    controls.putInstance(settings, instanceId);
  };
  put({ broker, brokerWorkMs: 20_000 });
  // Tokens outlive every test but those that end them: a log-in that is never answered holds all callers for its time.
  controls.set({ tokenLifetimeMs: 86_400_000, ...variant.switches });
  const login = issue(sandbox, variant.login);
  const token = variant.login === "token" ? controls.issueToken(idOfLogin(login)) : undefined;
  const secret: Record<string, string> = token === undefined ? { ...login } : { token };
  const credentials = parseCloudFoundryCredentials(new Redacted(secret), { apiUrl: URL_OF_SANDBOX });
  const http = new SandboxHttp(sandbox);
  // Nobody moves the clock while a conformance test waits for a delete.
  const reconnect = () => connectCloudFoundry({ credentials, http, clock, deleteWaitMs: 0, ...options });
  const setRole = (role: "space-developer" | "space-auditor" | "none"): void => {
    controls.setRole(idOfLogin(login), role);
  };
  const [space] = controls.spaces();
  const connection = reconnect();
  return {
    sandbox,
    clock,
    http,
    reconnect,
    setRole,
    connection,
    instanceId,
    instance: { name: "orders-db", offering: "postgresql", plan: "small", tags: ["postgresql", "sandbox"] },
    renameInstance: (name) => put({ name }),
    missingInstanceId: "3f2b7c1e-0000-4000-8000-00000000dead",
    missingKeyId: "3f2b7c1e-0000-4000-8000-00000000beef",
    foreignKey,
    moreThanAPage: 25,
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
      forbidden: { set: (isOn) => setRole(isOn ? "none" : "space-developer") },
      quota: { set: (isOn) => void controls.putSpace({ keyQuota: isOn ? 2 : null }, space?.id) },
      asynchronous: { set: (isOn) => put({ broker: isOn ? "asynchronous" : broker }) },
      failingCreates: {
        set: (isOn) =>
          put({ broker: isOn ? "asynchronous" : broker, brokerFailsOn: "bind", brokerFailures: isOn ? "always" : 0 }),
      },
      eventualConsistency: {
        set: (isOn) => controls.set({ createdHiddenMs: isOn ? 30_000 : 0, deletedListedMs: isOn ? 30_000 : 0 }),
      },
      nameCollision: { impossible: "the names of a service instance's keys are unique in the database" },
      lostAnswer: {
        set: async (isOn) => {
          // What the foundation takes in a create is known by then, so that the answer that gets lost is of the key's own.
          await connection.findByName(instanceId, foreignKey.name, signal);
          controls.set({ lostAnswers: isOn ? 1 : 0, lostAnswersTo: "POST" });
        },
      },
      expiredTokens:
        variant.login === "token"
          ? { impossible: "whoever has made the token has to make another one" }
          : { set: () => controls.revokeTokens() },
    },
    foreignLabels: async () => {
      const labels = sandbox.liveKeys().find(({ id }) => id === foreignKey.id)?.metadata.labels ?? {};
      return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("keyturn.dev/")));
    },
    keysOutside: async () => sandbox.liveKeys().map(({ id }) => id),
    canLogIn: async (given) => sandbox.authenticate(given.reveal()),
    advance: (byMs) => clock.advance(byMs),
    stop: async () => assert.equal(clock.timerCount, 0, "a timer was left behind"),
  };
}
