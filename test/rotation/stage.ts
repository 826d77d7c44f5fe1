import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { AlreadyExists, NotFound } from "../../src/kube/errors.ts";
import { type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaces } from "../conformance/kinds.ts";
import { CloudFoundryStandIn } from "../families/cloud-foundry-stand-in.ts";
import { families } from "../families/families.ts";
import type { ChildKind, Family } from "../families/family.ts";
import { ServiceManagerStandIn } from "../families/service-manager-stand-in.ts";
import type { OutsideKey, StandIn } from "../families/stand-in.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { LeakSearch } from "../support/leak-search.ts";
import { type OpenedStage, openStage, type StageWishes } from "../support/opened-stage.ts";
import type { OperatorAccess } from "../support/operator-access.ts";
import type { RunningTarget } from "../support/target.ts";
import { bindingOf } from "./connection-secret.ts";
import { Mirror } from "./mirror.ts";
import { SecretGuard } from "./secret-guard.ts";

/** A real garbage collector hears of a new kind up to half a minute late. */
const COLLECTED_MS = 60_000;

/** Stands in every secret that a sandbox gives out. */
const CANARY = "sandbox-secret";

const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** The operator's settings for short stories. Sweeps are left to the stories about them. */
export const brisk = ({ sweepEvery = "1h" } = {}): readonly string[] => {
  const looks = ["--drift-check", "1s", "--child-check", "1s", "--sweep-every", sweepEvery];
  return ["--min-frequency", "1s", "--settle-time", "2s", ...looks];
};

export interface StageOptions extends StageWishes {
  /** What the namespace of the Secrets and the ProviderConfigs of that name begin with. */
  readonly name: string;
  /** Of which kinds there may be resources; those of Crossplane providers, where absent. */
  readonly families?: readonly Family[];
}

interface StandIns {
  readonly serviceManager: ServiceManagerStandIn;
  readonly cloudFoundry: CloudFoundryStandIn;
}

/**
 * What rotation stories are played on: a server, the sandboxes over HTTP, ProviderConfigs that lead to them, and
 * operators as processes of their own. It watches all along, and at the end it makes sure that no key material was seen
 * where none belongs. Must not: help the operator in any way.
 */
export class Stage {
  readonly namespace: string;
  readonly server: RunningTarget;
  readonly kube: Kube;
  readonly standIns: StandIns;
  readonly guard: SecretGuard;
  readonly secrets: Mirror;
  readonly operators: KeyturnOperator[] = [];
  readonly leaks = new LeakSearch(() => [CANARY]);
  readonly #families: readonly Family[];
  readonly #bindings = new Map<ResourceType, Mirror>();
  readonly #secretListeners = new Map<string, (secret: KubeObject) => void>();
  readonly #ends: AsyncDisposableStack;
  /** Of its operators. */
  readonly access: OperatorAccess;

  static set(options: StageOptions): Promise<Stage> {
    return openStage(options, async (opened) => {
      const standIns = await openStandIns(opened.ends);
      const stage = new Stage(options, standIns, opened);
      await stage.#furnish();
      return stage;
    });
  }

  private constructor(
    { name, families: told = families }: StageOptions,
    standIns: StandIns,
    { server, kube, access, ends }: OpenedStage,
  ) {
    this.namespace = `${name}-${randomUUID().slice(0, 8)}`;
    this.#families = told;
    this.server = server;
    this.kube = kube;
    this.standIns = standIns;
    this.access = access;
    const everybody = Object.values<StandIn>({ ...standIns });
    this.guard = new SecretGuard(kube, (credentials) => everybody.some((each) => each.lets(credentials)));
    this.secrets = new Mirror(kube, secretType, (secret) => {
      this.guard.see(secret);
      this.#secretListeners.get(keyOf(secret.metadata))?.(secret);
    });
    this.#ends = ends;
    for (const part of [this.secrets, this.guard]) ends.defer(() => part.stop());
  }

  /** Who stands in for the external system of a family. */
  standInOf({ standIn }: Family): StandIn {
    return this.standIns[standIn];
  }

  /** Every key that exists outside. */
  keys(): readonly OutsideKey[] {
    return Object.values<StandIn>({ ...this.standIns }).flatMap((standIn) => standIn.keys());
  }

  /** The resources of a family, or its children, as a watch shows them. */
  bindingsOf({ type }: ChildKind): Mirror {
    return this.#bindings.get(type) ?? assert.fail(`nobody watches ${type.plural}`);
  }

  /** A ProviderConfig under this name, and before it the Secret that it refers to. */
  async putProviderConfig(
    family: Family,
    name: string,
    credentials: object,
    namespace = this.namespace,
  ): Promise<void> {
    const metadata = { ...this.credentialsOf(family, name), namespace };
    const stringData = { credentials: JSON.stringify(credentials) };
    await this.kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
    await this.kube.create<KubeObject>(family.configType, family.config(name, { ...metadata, key: "credentials" }));
  }

  /** Where the credentials of a ProviderConfig are. */
  credentialsOf({ standIn }: Family, name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.namespace, name: `${name}-${standIn.toLowerCase()}` };
  }

  /** One beside the stage's own; where it is there already, it is taken as it is. */
  async putNamespace(name: string): Promise<void> {
    await this.kube.create<KubeObject>(namespaces, namespaceOf(name)).catch((error: unknown) => {
      if (!(error instanceof AlreadyExists)) throw error;
    });
  }

  async removeNamespace(name: string): Promise<void> {
    await this.#remove(namespaces, { name });
  }

  async hasProviderConfig({ configType }: Family, name: string): Promise<boolean> {
    const { items } = await this.kube.list(configType);
    return items.some(({ metadata }) => metadata.name === name);
  }

  /** Starts an operator; the stage ends it, where nobody else does. */
  startOperator(flags: readonly string[], access = this.access): KeyturnOperator {
    const words = ["--log-level", "debug", ...flags];
    const after = (end: () => Promise<void>): void => this.#ends.defer(end);
    const operator = startKeyturnOperator({ ...access, flags: words, after });
    this.operators.push(operator);
    return operator;
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
  async eventsOf({ name, namespace = "default" }: ObjectRef): Promise<readonly string[]> {
    const { items } = await this.kube.list(events, { namespace });
    return items.flatMap((event) => {
      const regarding = event.regarding as ObjectRef | undefined;
      return regarding?.name === name ? [`${event.reason}: ${event.note}`] : [];
    });
  }

  /** Lets go of everything and looks at nothing any more: for the end of a story that could not be told. */
  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }

  /** Takes everything away; fails where something stays, key material was seen or an operator did not leave in peace. */
  async strike(): Promise<void> {
    try {
      // Whoever makes bindings of another kind goes before them, and what all of them need goes last.
      for (const family of this.#families.toReversed()) await this.#endBindings(family);
      for (const { configType } of this.#families) await this.#removeAll(configType);
      await eventually("all Secrets to go with their owners", async () => !this.#hasOwned() || undefined, COLLECTED_MS);
      await this.#readEvents(this.namespace);
      await this.#remove(namespaces, { name: this.namespace });
      for (const operator of this.operators) await this.leaks.lookAt(operator);
      const ends = await Promise.all(this.operators.map(endOf));
      assert.deepEqual(
        ends.filter((end) => end !== "in peace"),
        [],
      );
      await this.#readEvents("default");
      // Once more, ended: what they said last.
      for (const operator of this.operators) await this.leaks.lookAt(operator);
      assert.deepEqual(this.leaks.places, [], "key material was seen");
      assert.ok(this.guard.logins > 0, "somebody logged in");
    } finally {
      await this.#ends.disposeAsync();
    }
  }

  /** A namespace, a ProviderConfig of each kind, and watches that have seen everything. */
  async #furnish(): Promise<void> {
    await this.kube.create<KubeObject>(namespaces, namespaceOf(this.namespace));
    const oneOfEach = new Map(this.#families.map((family) => [family.standIn, family]));
    for (const family of oneOfEach.values()) {
      const { url } = this.standInOf(family);
      await this.putProviderConfig(family, this.namespace, this.standInOf(family).login(url));
    }
    for (const family of this.#families) await this.#surround(family);
    await Promise.all([this.secrets, ...this.#bindings.values()].map((mirror) => mirror.synced()));
    this.guard.start(this.secrets);
  }

  async #surround(family: Family): Promise<void> {
    const { kube, namespace, standIns } = this;
    const operator = this.access.account;
    const end = await family.surround?.({ kube, namespace, login: standIns.cloudFoundry.ownLogin, operator });
    if (end) this.#ends.defer(end);
    for (const { type } of family.children ? [family, family.children] : [family]) {
      if (this.#bindings.has(type)) continue;
      const mirror = new Mirror(kube, type, (binding) => this.leaks.look("a binding", binding));
      this.#bindings.set(type, mirror);
      this.#ends.defer(() => mirror.stop());
    }
  }

  /** Stories end theirs; what a failed one left behind goes here, so that the next suite finds an empty cluster. */
  async #endBindings(family: Family): Promise<void> {
    const names = (): readonly ObjectRef[] =>
      this.bindingsOf(family)
        .list()
        .map(({ metadata: { name, namespace } }) => ({ name, ...(namespace !== undefined && { namespace }) }));
    for (const { name } of names()) this.guard.excuse(name);
    await Promise.all(names().map((ref) => this.#remove(family.type, ref)));
    await eventually(`all ${family.title} to go`, async () => names().length === 0 || undefined).catch(() =>
      Promise.all(names().map((ref) => this.#letGo(family.type, ref))),
    );
  }

  async #removeAll(type: ResourceType): Promise<void> {
    const { items } = await this.kube.list(type);
    for (const { metadata } of items) await this.#remove(type, { name: metadata.name });
  }

  async #readEvents(namespace: string): Promise<void> {
    const { items } = await this.kube.list(events, { namespace });
    for (const event of items) this.leaks.look("an event", event);
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
}

async function openStandIns(ends: AsyncDisposableStack): Promise<StandIns> {
  const serviceManager = await ServiceManagerStandIn.open();
  ends.defer(() => serviceManager.stop());
  const cloudFoundry = await CloudFoundryStandIn.open();
  ends.defer(() => cloudFoundry.stop());
  return { serviceManager, cloudFoundry };
}

/** A story may have killed it; by itself none ends. */
async function endOf(operator: KeyturnOperator): Promise<string> {
  const code = operator.hasEnded ? await operator.ended() : (await operator.stop("SIGTERM")).code;
  return code === 0 || code === "SIGKILL" ? "in peace" : `with ${code}\n${operator.text}`;
}

const namespaceOf = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** For the end of a call whose object may be gone already. */
export function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
