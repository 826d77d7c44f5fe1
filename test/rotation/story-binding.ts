import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { NotFound, NotServed } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Draft, WriteOptions } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { InstanceSettings } from "../../src/sandbox/service-manager/switches.ts";
import { eventually } from "../support/eventually.ts";
import type { Stage } from "./stage.ts";
import { describeView, isCalm, type RetiredKey, viewOf, type WorldView } from "./world-view.ts";

export const FORCE = "servicebinding.account.btp.crossplane.io/force-rotation";
export const EXTERNAL_NAME = "crossplane.io/external-name";

/** Machines that run tests are busy. */
const PATIENCE_MS = 40_000;

export type Fields = Readonly<Record<string, unknown>>;

export interface BindingWishes {
  readonly rotation?: { readonly ttl: string; readonly frequency: string };
  readonly spec?: Fields;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly instance?: Partial<InstanceSettings>;
}

interface StoryOptions {
  readonly instance?: Partial<InstanceSettings> | undefined;
  /** How long to wait for something to come about. */
  readonly patienceMs?: number;
}

/** One ServiceBinding and what a person can do to it, to its Secret and to its keys outside. */
export class StoryBinding {
  readonly name: string;
  readonly stage: Stage;
  readonly instances: string[] = [];
  readonly #patienceMs: number;
  #secretName: string;

  constructor(stage: Stage, name: string, { instance, patienceMs = PATIENCE_MS }: StoryOptions = {}) {
    this.stage = stage;
    this.name = name;
    this.#patienceMs = patienceMs;
    this.#secretName = `${name}-secret`;
    this.addInstance(instance);
  }

  /** The instance that the story begins with. */
  get instanceId(): string {
    return this.instances[0] ?? "";
  }

  get secretRef(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.stage.namespace, name: this.#secretName };
  }

  /** A further service instance; its keys count as the story's. */
  addInstance(settings: Partial<InstanceSettings> = {}): string {
    const { id } = this.stage.sandbox.controls.putInstance(settings);
    this.instances.push(id);
    return id;
  }

  /** From now on the story's instance and its broker behave like this. */
  setInstance(settings: Partial<InstanceSettings>): void {
    this.stage.sandbox.controls.putInstance(settings, this.instanceId);
  }

  manifest({ rotation, spec = {}, annotations }: BindingWishes = {}): Draft<KubeObject> {
    return {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      metadata: { name: this.name, ...(annotations && { annotations }) },
      spec: {
        ...(rotation && { rotation }),
        providerConfigRef: { name: this.stage.namespace },
        forProvider: { name: this.name, serviceInstanceId: this.instanceId },
        writeConnectionSecretToRef: this.secretRef,
        ...spec,
      },
    };
  }

  async create(manifest: Draft<KubeObject>): Promise<void> {
    await eventually("bindings to be served", () =>
      this.stage.kube.create<KubeObject>(serviceBinding, manifest).catch((error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      }),
    );
  }

  view(): WorldView {
    const { bindings, secrets, sandbox } = this.stage;
    const isOurs = ({ instanceId }: { readonly instanceId: string }): boolean => this.instances.includes(instanceId);
    return viewOf({
      object: bindings.get({ name: this.name }),
      secret: secrets.get(this.secretRef),
      outside: sandbox
        .liveBindings()
        .filter(isOurs)
        .map(({ id }) => id),
      lets: (credentials) => sandbox.authenticate(credentials),
    });
  }

  /** Waits for the world to be so; `what` says in the failure what was waited for. */
  async until(what: string, isSo: (view: WorldView) => boolean): Promise<WorldView> {
    try {
      const probe = async () => {
        const view = this.view();
        return isSo(view) ? view : undefined;
      };
      return await eventually(`${this.name}: ${what}`, probe, this.#patienceMs);
    } catch (error) {
      const log = this.stage.logOf(this.name);
      throw new Error(`${error instanceof Error ? error.message : error}\n${describeView(this.view())}\n${log}`);
    }
  }

  /** The same of something that has to be asked for. */
  async untilAsync(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await eventually(`${this.name}: ${what}`, async () => (await isSo()) || undefined, this.#patienceMs);
  }

  /** Looks again and again for so long; fails at the first look at which it is not so. */
  async remains(forMs: number, isSo: (view: WorldView) => boolean): Promise<WorldView> {
    const endsAt = Date.now() + forMs;
    for (;;) {
      const view = this.view();
      assert.ok(isSo(view), `${this.name} did not remain as it was\n${describeView(view)}`);
      if (Date.now() >= endsAt) return view;
      await sleep(50);
    }
  }

  /** Waits until resource, Secret and outside agree, and something more is so. */
  calm(what = "all to agree", isSo: (view: WorldView) => boolean = () => true): Promise<WorldView> {
    return this.until(what, (view) => isCalm(view) && isSo(view));
  }

  /** Waits for the key after this one to be in use. */
  rotated(from: WorldView): Promise<WorldView> {
    return this.calm("a later key to be in use", (view) => view.sequence > from.sequence);
  }

  /** Waits until a key is neither known nor alive any more. */
  removed(id: string): Promise<WorldView> {
    return this.calm("a key to be gone", ({ outside }) => !outside.includes(id));
  }

  async patch(body: Fields, options: WriteOptions = {}): Promise<KubeObject> {
    const { kube, bindings } = this.stage;
    const patched = await kube.patch(serviceBinding, { name: this.name }, { type: "merge", body }, options);
    await bindings.shows(patched);
    return patched;
  }

  async patchSecret(body: Fields): Promise<void> {
    const { kube, secrets } = this.stage;
    await secrets.shows(await kube.patch(secretType, this.secretRef, { type: "merge", body }));
  }

  /** Resolves when the Secret that was there is gone; another may have taken its place. */
  async deleteSecret(): Promise<void> {
    const { kube, secrets } = this.stage;
    const { uid } = (await this.liveSecret()).metadata;
    await kube.delete(secretType, this.secretRef);
    await this.until("the Secret to be deleted", () => secrets.get(this.secretRef)?.metadata.uid !== uid);
  }

  async patchSpec(spec: Fields): Promise<void> {
    await this.patch({ spec });
  }

  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.patch({ metadata: { annotations } });
  }

  /** Rotates by the annotation, and waits for the new key to be in use. */
  async force(value: string): Promise<WorldView> {
    const before = this.view();
    await this.annotate({ [FORCE]: value });
    return this.rotated(before);
  }

  /** As it is on the server now. */
  live(): Promise<KubeObject> {
    return this.stage.kube.get(serviceBinding, { name: this.name });
  }

  liveSecret(): Promise<KubeObject> {
    return this.stage.kube.get(secretType, this.secretRef);
  }

  /** From now on the Secret has this name. */
  moveSecret(name: string): void {
    this.#secretName = name;
  }

  /** A key that somebody made at the Service Manager itself. */
  async makeByHand(name: string): Promise<{ readonly id: string }> {
    const body = JSON.stringify({ name, service_instance_id: this.instanceId });
    const made = await this.stage.callServiceManager("/v1/service_bindings", { method: "POST", body });
    assert.equal(made.status, 201);
    return (await made.json()) as { readonly id: string };
  }

  /** What a key was made with. */
  parametersOf(id: string): unknown {
    return this.stage.sandbox.snapshot().bindings.find((key) => key.id === id)?.parameters;
  }

  /** What a key bears outside. */
  labelsOf(id: string): Readonly<Record<string, readonly string[]>> {
    return this.stage.sandbox.liveBindings().find((key) => key.id === id)?.labels ?? {};
  }

  /** Whether so many keys of the story are finished outside. */
  hasReady(count: number): boolean {
    const { sandbox } = this.stage;
    const isOurs = (instanceId: string): boolean => this.instances.includes(instanceId);
    return sandbox.liveBindings().filter((key) => key.isReady && isOurs(key.instanceId)).length === count;
  }

  /** Another binding on the same service instance. */
  neighbour(name: string): StoryBinding {
    const other = new StoryBinding(this.stage, `${this.name}-${name}`);
    other.instances[0] = this.instanceId;
    return other;
  }

  /** What happens meanwhile to the Secret is not held against the operator: the story itself does harm. */
  async doingHarm<T>(act: () => Promise<T>): Promise<T> {
    this.stage.guard.excuse(this.name);
    const result = await act();
    this.stage.guard.expectAgain(this.name);
    return result;
  }

  async delete(): Promise<void> {
    this.stage.guard.excuse(this.name);
    await this.stage.kube.delete(serviceBinding, { name: this.name }).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }

  async gone(): Promise<void> {
    await this.until("the resource to be gone", ({ object }) => object === undefined);
  }

  /** The end of every story: the Secret has always let workloads in, and with the resource everything outside goes. */
  async end(): Promise<void> {
    const { guard } = this.stage;
    assert.deepEqual(guard.problemsOf(this.name), [], "the Secret always held a living key");
    await this.delete();
    await this.gone();
    await this.until("nothing to be left outside", ({ outside }) => outside.length === 0);
  }
}

/** When a retired key may go, in milliseconds. */
export const deletionAt = ({ deletionDate }: RetiredKey): number => Date.parse(deletionDate);
