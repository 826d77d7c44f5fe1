import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { type ServedSandbox, startSandbox } from "../../src/sandbox/http/serve-sandbox.ts";
import type { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import type { IssuedCredentials } from "../../src/sandbox/service-manager/tokens.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import type { RunningTarget, Target } from "../support/target.ts";
import { bindingOf } from "./connection-secret.ts";
import { Mirror } from "./mirror.ts";
import { SecretGuard } from "./secret-guard.ts";

/** A real garbage collector hears of a new kind up to half a minute late. */
const COLLECTED_MS = 60_000;

/** Stands in every secret that the sandbox gives out. */
const CANARY = "sandbox-secret";

const namespaces: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** The operator's settings for short stories. Sweeps are left to the stories about them. */
export const brisk = ({ sweepEvery = "1h" } = {}): readonly string[] => {
  return ["--min-frequency", "1s", "--drift-check", "1s", "--settle-time", "2s", "--sweep-every", sweepEvery];
};

export interface StageOptions {
  readonly target: Target;
  /** What the namespace of the Secrets and the ProviderConfig of that name begin with. */
  readonly name: string;
  /** The way to the API server for operators, where it is not the straight one. */
  readonly kubeconfigFor?: (server: RunningTarget) => Promise<string>;
}

interface Props {
  readonly server: RunningTarget;
  readonly kube: Kube;
  readonly served: ServedSandbox;
  readonly ends: AsyncDisposableStack;
}

/**
 * What rotation stories are played on: a server, a sandbox Service Manager over HTTP, a ProviderConfig that leads to it,
 * and operators as processes of their own. It watches all along, and at the end it makes sure that no key material was
 * seen where none belongs. Must not: help the operator in any way.
 */
export class Stage {
  readonly namespace: string;
  readonly server: RunningTarget;
  readonly kube: Kube;
  readonly served: ServedSandbox;
  readonly guard: SecretGuard;
  readonly bindings: Mirror;
  readonly secrets: Mirror;
  readonly operators: KeyturnOperator[] = [];
  readonly #leaks = new Set<string>();
  readonly #secretListeners = new Map<string, (secret: KubeObject) => void>();
  /** Whatever was opened, to be closed in reverse, also when a story or the stage itself fails. */
  readonly #ends: AsyncDisposableStack;
  #operatorKubeconfig: string;

  static async set(options: StageOptions): Promise<Stage> {
    const ends = new AsyncDisposableStack();
    try {
      const server = await options.target.start();
      ends.defer(() => server.stop());
      const kube = await connect(server.kubeconfig);
      ends.defer(() => kube.close());
      await installDefinitions(kube);
      const served = await startSandbox({ clock: systemClock, random: systemRandom });
      ends.defer(() => served.stop());
      const stage = new Stage(`${options.name}-${randomUUID().slice(0, 8)}`, { server, kube, served, ends });
      if (options.kubeconfigFor) stage.#operatorKubeconfig = await options.kubeconfigFor(server);
      await kube.create<KubeObject>(namespaces, namespaceOf(stage.namespace));
      await stage.putProviderConfig(stage.namespace, served.credentials);
      await Promise.all([stage.bindings.synced(), stage.secrets.synced()]);
      stage.guard.start(stage.secrets);
      return stage;
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(namespace: string, { server, kube, served, ends }: Props) {
    this.namespace = namespace;
    this.server = server;
    this.kube = kube;
    this.served = served;
    this.#operatorKubeconfig = server.kubeconfig;
    this.guard = new SecretGuard(kube, served.sandbox);
    this.secrets = new Mirror(kube, secretType, (secret) => {
      this.guard.see(secret);
      this.#secretListeners.get(keyOf(secret.metadata))?.(secret);
    });
    this.bindings = new Mirror(kube, serviceBinding, (binding) => this.#lookForLeaks("a binding", binding));
    this.#ends = ends;
    for (const part of [this.secrets, this.bindings, this.guard]) ends.defer(() => part.stop());
  }

  get sandbox(): SandboxServiceManager {
    return this.served.sandbox;
  }

  /** A credential Secret and a ProviderConfig, both under this name. */
  async putProviderConfig(name: string, credentials: IssuedCredentials): Promise<void> {
    const secretRef = { namespace: this.namespace, name };
    const stringData = { credentials: JSON.stringify(credentials) };
    await this.kube.create<KubeObject>(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: secretRef,
      stringData,
    });
    await this.kube.create<KubeObject>(providerConfig, {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ProviderConfig",
      metadata: { name },
      spec: { serviceManagerSecret: { source: "Secret", secretRef: { ...secretRef, key: "credentials" } } },
    });
  }

  async hasProviderConfig(name: string): Promise<boolean> {
    const { items } = await this.kube.list(providerConfig);
    return items.some(({ metadata }) => metadata.name === name);
  }

  /** Starts an operator; the stage ends it, where nobody else does. */
  startOperator(flags: readonly string[]): KeyturnOperator {
    const words = ["--log-level", "debug", ...flags];
    const after = (end: () => Promise<void>): void => this.#ends.defer(end);
    const operator = startKeyturnOperator({ kubeconfig: this.#operatorKubeconfig, flags: words, after });
    this.operators.push(operator);
    return operator;
  }

  /** What a person with the credentials of the ProviderConfig can do. */
  async callServiceManager(path: string, init: RequestInit): Promise<Response> {
    const { url, credentials } = this.served;
    const form = { grant_type: "client_credentials", client_id: credentials.clientid };
    const proof = "clientsecret" in credentials ? { client_secret: credentials.clientsecret } : {};
    const body = new URLSearchParams({ ...form, ...proof });
    const granted = await fetch(`${url}/oauth/token`, { method: "POST", body });
    const { access_token: token } = (await granted.json()) as { readonly access_token: string };
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(url + path, { ...init, headers });
  }

  /** The last lines in which the operators speak of something. */
  logOf(name: string): string {
    const lines = this.operators.flatMap(({ text }) => text.split("\n").filter((line) => line.includes(name)));
    return lines.slice(-30).join("\n");
  }

  /** Tells of every state that this Secret is in from now on. */
  onSecret(ref: ObjectRef, listener: (secret: KubeObject) => void): void {
    this.#secretListeners.set(keyOf(ref), listener);
  }

  /** The messages of the events about one object, oldest first. */
  async eventsOf(name: string): Promise<readonly string[]> {
    const { items } = await this.kube.list(events, { namespace: "default" });
    return items.flatMap((event) => {
      const regarding = event.regarding as ObjectRef | undefined;
      return regarding?.name === name ? [`${event.reason}: ${event.note}`] : [];
    });
  }

  /** Takes everything away; fails where something stays, key material was seen or an operator did not leave in peace. */
  async strike(): Promise<void> {
    try {
      await this.#endBindings();
      await eventually("all Secrets to go with their owners", async () => !this.#hasOwned() || undefined, COLLECTED_MS);
      await this.#remove(namespaces, { name: this.namespace });
      const ends = await Promise.all(this.operators.map(endOf));
      assert.deepEqual(
        ends.filter((end) => end !== "in peace"),
        [],
      );
      const { items } = await this.kube.list(events, { namespace: "default" });
      for (const event of items) this.#lookForLeaks("an event", event);
      for (const operator of this.operators) this.#lookForLeaks("the log", operator.text);
      assert.deepEqual([...this.#leaks], [], "key material was seen");
      assert.ok(this.guard.logins > 0, "somebody logged in");
    } finally {
      await this.#ends.disposeAsync();
    }
  }

  /** Stories end theirs; what a failed one left behind goes here, so that the next suite finds an empty cluster. */
  async #endBindings(): Promise<void> {
    for (const { metadata } of this.bindings.list()) this.guard.excuse(metadata.name);
    const all = this.bindings.list().map(({ metadata }) => this.#remove(serviceBinding, { name: metadata.name }));
    await Promise.all(all);
    await eventually("all bindings to go", async () => this.bindings.list().length === 0 || undefined).catch(() =>
      Promise.all(this.bindings.list().map(({ metadata }) => this.#letGo(serviceBinding, { name: metadata.name }))),
    );
    for (const { metadata } of (await this.kube.list(providerConfig)).items) {
      await this.#remove(providerConfig, { name: metadata.name });
    }
  }

  #hasOwned(): boolean {
    return this.secrets.list().some((secret) => bindingOf(secret) !== undefined);
  }

  async #remove(type: ResourceType, ref: ObjectRef): Promise<void> {
    await this.kube.delete(type, ref).catch(ignoreMissing);
  }

  async #letGo(type: ResourceType, ref: ObjectRef): Promise<void> {
    await this.kube.patch(type, ref, { type: "merge", body: { metadata: { finalizers: [] } } }).catch(ignoreMissing);
  }

  #lookForLeaks(where: string, what: unknown): void {
    const text = typeof what === "string" ? what : JSON.stringify(what);
    if (text.includes(CANARY)) this.#leaks.add(where);
  }
}

/** A story may have killed it; by itself none ends. */
async function endOf(operator: KeyturnOperator): Promise<string> {
  const code = operator.hasEnded ? await operator.ended() : (await operator.stop("SIGTERM")).code;
  return code === 0 || code === "SIGKILL" ? "in peace" : `with ${code}\n${operator.text}`;
}

const namespaceOf = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
