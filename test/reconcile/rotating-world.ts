import assert from "node:assert/strict";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { HttpPort } from "../../src/providers/http-port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { rotatingBindingOf } from "../../src/reconcile/cloudfoundry/rotating-credential-binding.fixture.ts";
import { createRotatingCredentialBindingFamily } from "../../src/reconcile/cloudfoundry/rotating-credential-binding-family.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createManagedReconcile } from "../../src/reconcile/managed/managed-controller.ts";
import { createParentController } from "../../src/reconcile/parents/parent-controller.ts";
import { ParentSource } from "../../src/reconcile/parents/parent-source.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import type { Reconcile } from "../../src/runtime/workers.ts";
import { CloudFoundryWorld, type SaidCondition } from "./cloud-foundry-world.ts";
import type { Fuse } from "./fuse.ts";
import { FINGERPRINTER } from "./managed-world.ts";

type Fields = Readonly<Record<string, unknown>>;

export const FORCE = "rotatingcredentialbinding.cloudfoundry.crossplane.io/force-rotation";
export const EXTERNAL_NAME = "crossplane.io/external-name";

interface ChildEntry {
  readonly uid: string;
  readonly name: string;
  readonly state: string;
  readonly createdAt?: string;
  readonly deletionDate?: string;
}

export interface ParentStatus {
  readonly atProvider: Fields & {
    readonly uid: string;
    readonly name: string;
    readonly createdAt: string;
    readonly children?: readonly ChildEntry[];
    readonly retiredKeys?: readonly (ChildEntry & { readonly cause: string })[];
  };
  readonly pending?: { readonly name: string; readonly uid?: string };
  readonly sequence: number;
  readonly conditions: readonly SaidCondition[];
}

/** How long nothing is written until all is taken to be at rest. */
const CALM_ROUNDS = 2;
const MAX_ROUNDS = 60;
const ROUND_MS = 1_000;

const signal = new AbortController().signal;

/**
 * Parents and their children together, at a sandbox Cloud Foundry, with the garbage collector at work: the production
 * reconcilers of both kinds, called in turn. `WorldOperator` runs them as they are wired.
 */
export class RotatingWorld extends CloudFoundryWorld {
  collectsGarbage = true;
  /** Whoever looks after the children has the day off. */
  parentsOnly = false;
  /** What the last reconcile of each object ended with, if it failed. */
  readonly problems = new Map<string, unknown>();
  #reconcileParent: Reconcile | undefined;
  #fuse: Fuse | undefined;

  override createControllers(settings: ControllerSettings): readonly Controller[] {
    const parents = createParentController(createRotatingCredentialBindingFamily(settings), settings);
    return [...super.createControllers(settings), parents];
  }

  override async populate(): Promise<void> {
    if (this.collectsGarbage) this.server.start();
    await super.populate();
  }

  protected override get operatorKube(): Kube {
    return this.#fuse?.kube(super.operatorKube) ?? super.operatorKube;
  }

  protected override get operatorHttp(): HttpPort {
    return this.#fuse?.http(super.operatorHttp) ?? super.operatorHttp;
  }

  /** A process that dies at one of its writes; the next one knows nothing of it. */
  restartWith(fuse: Fuse): void {
    this.#fuse = fuse;
    this.restart();
  }

  override restart(): void {
    super.restart();
    const kube = this.operatorKube;
    const family = createRotatingCredentialBindingFamily();
    const source = new ParentSource(family, { kube, fingerprinter: FINGERPRINTER });
    this.#reconcileParent = createManagedReconcile({
      ...this.commonOptions(),
      kind: family.kind,
      isNear: true,
      resolve: (object, spec, abort) => source.resolve(object, spec, abort),
      resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
    });
  }

  async reconcileParent(name: string): Promise<void> {
    await this.#attempt(name, () => this.#reconcileParent?.(name, signal));
  }

  /** One after the other, and time for the garbage collector. */
  async round(): Promise<void> {
    const parents = await this.kube.list(rotatingCredentialBinding, { metadataOnly: true });
    for (const { metadata } of parents.items) await this.reconcileParent(metadata.name);
    for (const { metadata } of this.parentsOnly ? [] : await this.children()) {
      await this.#attempt(metadata.name, () => this.reconcile(metadata.name));
    }
    await this.clock.advance(ROUND_MS);
  }

  /** Until nothing is written any more. */
  async calm(): Promise<void> {
    let quiet = 0;
    for (let round = 0; quiet < CALM_ROUNDS; round++) {
      assert.ok(round < MAX_ROUNDS, "no rest");
      const { revision } = this.server.store;
      await this.round();
      quiet = this.server.store.revision === revision ? quiet + 1 : 0;
    }
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.calm();
  }

  async #attempt(name: string, work: () => Promise<unknown> | undefined): Promise<void> {
    this.problems.delete(name);
    try {
      await work();
    } catch (error) {
      this.problems.set(name, error);
    }
    if (this.#fuse?.isBlown) {
      this.#fuse = undefined;
      this.restart();
    }
  }

  async createParent(name: string, forProvider: Fields = {}, spec: Fields = {}): Promise<KubeObject> {
    const fields = { serviceInstance: this.instanceId, ...forProvider };
    return this.kube.create<KubeObject>(
      rotatingCredentialBinding,
      rotatingBindingOf({ metadata: { name }, forProvider: fields, spec }),
    );
  }

  parent(name: string): Promise<KubeObject> {
    return this.kube.get(rotatingCredentialBinding, { name });
  }

  patchParent(name: string, body: Fields): Promise<KubeObject> {
    return this.kube.patch(rotatingCredentialBinding, { name }, { type: "merge", body });
  }

  annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<KubeObject> {
    return this.patchParent(name, { metadata: { annotations } });
  }

  async parentStatus(name: string): Promise<ParentStatus> {
    return (await this.parent(name)).status as ParentStatus;
  }

  /** Status, reason and message of Synced. */
  async parentProblem(name: string): Promise<string> {
    const synced = (await this.parentStatus(name)).conditions.find(({ type }) => type === "Synced");
    return `${synced?.status} ${synced?.reason}: ${synced?.message ?? ""}`;
  }

  async children(): Promise<readonly KubeObject[]> {
    return (await this.kube.list(serviceCredentialBinding)).items;
  }

  /** Names of all Secrets in the namespace that keys are published in, but for those with credentials of our own. */
  async secretNames(): Promise<readonly string[]> {
    const { items } = await this.kube.list(secretType, {
      namespace: "default",
      labelSelector: "keyturn.dev/owner-uid",
    });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  /** Everything is as it should be, seen from all sides. */
  async assertHealthy(name: string): Promise<ParentStatus> {
    const [object, children] = [await this.parent(name), await this.children()];
    const status = object.status as ParentStatus;
    const { uid } = status.atProvider;
    assert.equal(object.metadata.annotations?.[EXTERNAL_NAME], uid);
    assert.equal(status.pending, undefined);
    assert.match(await this.parentProblem(name), /^True/);
    const active = children.find(({ metadata }) => metadata.uid === uid);
    assert.ok(active, "the active child is there");
    for (const { metadata } of children) {
      assert.equal(metadata.ownerReferences?.[0]?.uid, object.metadata.uid, "every child is owned");
    }
    const listed = status.atProvider.children?.map((child) => child.uid).sort();
    assert.deepEqual(listed, children.map(({ metadata }) => metadata.uid).sort(), "every child is in the status");
    assert.deepEqual(
      await this.secretNames(),
      [...children.map(({ metadata }) => metadata.name), `${name}-secret`].sort(),
      "a Secret for each child, and the stable one",
    );
    assert.equal(this.live().length, children.length, "a key for each child");
    assert.deepEqual(await this.secretOf(name), await this.dataOf(active.metadata.name));
    assert.ok(await this.secretWorks(name));
    return status;
  }

  /** The values of any Secret in the namespace default, as text. */
  async dataOf(name: string): Promise<Readonly<Record<string, string>>> {
    const secret = await this.kube.get(secretType, { namespace: "default", name });
    const data = Object.entries((secret.data ?? {}) as Readonly<Record<string, string>>);
    return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  }
}
