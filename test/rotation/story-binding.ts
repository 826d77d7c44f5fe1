import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { NotFound, NotServed } from "../../src/kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import type { Draft, WriteOptions } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { ChildKind, Family, Fields, Rotation } from "../families/family.ts";
import type { InstanceWishes, OutsideKey, StandIn } from "../families/stand-in.ts";
import { eventually } from "../support/eventually.ts";
import type { Stage } from "./stage.ts";
import { keysOf } from "./story-keys.ts";
import { describeView, isCalm, viewOf, type WorldView } from "./world-view.ts";

export const EXTERNAL_NAME = "crossplane.io/external-name";

/** Machines that run tests are busy. */
const PATIENCE_MS = 40_000;

export interface BindingWishes {
  readonly rotation?: Rotation;
  readonly spec?: Fields;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly instance?: InstanceWishes;
  /** A ProviderConfig of its own. */
  readonly config?: string;
}

interface StoryOptions {
  readonly family: Family;
  readonly name: string;
  readonly instance?: InstanceWishes | undefined;
  /** How long to wait for something to come about. */
  readonly patienceMs?: number;
}

/** One binding of any kind, and what a person can do to it, to its Secret and to its keys outside. */
export class StoryBinding {
  readonly family: Family;
  readonly name: string;
  readonly stage: Stage;
  readonly instances: string[] = [];
  readonly #patienceMs: number;
  #secretName: string;

  constructor(stage: Stage, { family, name, instance, patienceMs = PATIENCE_MS }: StoryOptions) {
    this.stage = stage;
    this.family = family;
    this.name = name;
    this.#patienceMs = patienceMs;
    this.#secretName = `${name}-secret`;
    stage.guard.expectOf(name);
    this.addInstance(instance);
  }

  /** The instance that the story begins with. */
  get instanceId(): string {
    return this.instances[0] ?? "";
  }

  get secretRef(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.stage.namespace, name: this.#secretName };
  }

  get ref(): ObjectRef {
    return this.#refOf(this.name, this.family);
  }

  /** Who stands in for the external system. */
  get standIn(): StandIn {
    return this.stage.standInOf(this.family);
  }

  /** A further service instance; its keys count as the story's. */
  addInstance(wishes: InstanceWishes = {}): string {
    const id = this.standIn.putInstance(wishes);
    this.instances.push(id);
    return id;
  }

  /** From now on the story's instance and its broker behave like this. */
  setInstance(wishes: InstanceWishes): void {
    this.standIn.putInstance(wishes, this.instanceId);
  }

  manifest({ rotation, spec, annotations, config = this.stage.namespace }: BindingWishes = {}): Draft<KubeObject> {
    const { name, instanceId, secretRef } = this;
    return this.family.manifest({ name, instanceId, config, secretRef, rotation, annotations, spec });
  }

  async create(manifest: Draft<KubeObject>): Promise<void> {
    await eventually("bindings to be served", () =>
      this.stage.kube.create<KubeObject>(this.family.type, manifest).catch((error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      }),
    );
  }

  view(): WorldView {
    const { stage, family, standIn } = this;
    const object = stage.bindingsOf(family).get(this.ref);
    return viewOf({
      object,
      status: family.readStatus(object),
      secret: stage.secrets.get(this.secretRef),
      outside: this.keys().map(({ id }) => id),
      lets: (credentials) => standIn.lets(credentials),
    });
  }

  /** The keys that live at the story's instances. */
  keysAtService(): readonly OutsideKey[] {
    return this.standIn.keys().filter(({ instanceId }) => this.instances.includes(instanceId));
  }

  /** What the resource itself calls its keys: its children, where it makes some, and what none of them knows of. */
  keys(): readonly OutsideKey[] {
    return keysOf(this.family.children, this.children(), this.keysAtService());
  }

  /** What the resource has made in the cluster, where it makes something there: its name with a suffix. */
  children(): readonly KubeObject[] {
    const { children } = this.family;
    const isOurs = new RegExp(`^${this.name}-[a-z0-9]{8}$`);
    const all = children ? this.stage.bindingsOf(children).list() : [];
    return all.filter(({ metadata }) => isOurs.test(metadata.name));
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
    const { stage, family, ref } = this;
    const patched = await stage.kube.patch(family.type, ref, { type: "merge", body }, options);
    await stage.bindingsOf(family).shows(patched);
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

  /** Another policy, or none. */
  async patchRotation(rotation: Rotation | null): Promise<void> {
    await this.patchSpec(this.family.rotationSpec(rotation));
  }

  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.patch({ metadata: { annotations } });
  }

  /** Asks for a rotation by the annotation. */
  async askForRotation(value: string): Promise<void> {
    await this.annotate({ [this.family.forceAnnotation]: value });
  }

  /** What the force annotation says, as long as it is there. */
  forceIn({ object }: WorldView): string | undefined {
    return object?.metadata.annotations?.[this.family.forceAnnotation];
  }

  /** Rotates by the annotation, and waits for the new key to be in use. */
  async force(value: string): Promise<WorldView> {
    const before = this.view();
    await this.askForRotation(value);
    return this.rotated(before);
  }

  /** The messages of the events about it, oldest first. */
  events(): Promise<readonly string[]> {
    const { namespace } = this.ref;
    return this.stage.eventsOf({ name: this.name, ...(namespace !== undefined && { namespace }) });
  }

  /** As it is on the server now. */
  live(): Promise<KubeObject> {
    return this.stage.kube.get(this.family.type, this.ref);
  }

  liveSecret(): Promise<KubeObject> {
    return this.stage.kube.get(secretType, this.secretRef);
  }

  /** From now on the Secret has this name. */
  moveSecret(name: string): void {
    this.#secretName = name;
  }

  /** A key that somebody made without us; its id. */
  makeByHand(name: string): Promise<string> {
    return this.standIn.makeByHand(name, this.instanceId);
  }

  /** Somebody deletes a key behind our back, or the child that stands for it. */
  async removeOutside(id: string | undefined): Promise<void> {
    const { children } = this.family;
    if (!children) return this.standIn.removeKey(id ?? "");
    const child = this.children().find(({ metadata }) => metadata.uid === id);
    assert.ok(child, `${this.name} has no child ${id}`);
    await this.stage.kube.delete(children.type, this.#refOf(child.metadata.name, children));
  }

  /** What a key was made with. */
  parametersOf(id: string | undefined): unknown {
    return this.standIn.parametersOf(id ?? "");
  }

  /** What a key bears outside. */
  marksOf(id: string): Readonly<Record<string, string>> {
    return this.keys().find((key) => key.id === id)?.marks ?? {};
  }

  /** Whether so many keys of the story are finished outside. */
  hasReady(count: number): boolean {
    return this.keys().filter(({ isReady }) => isReady).length === count;
  }

  /** Whether a broker has been asked for a key of the story, and is at it. */
  isAtBroker(): boolean {
    return this.standIn.isAtBroker(this.instances);
  }

  /** Another binding on the same service instance. */
  neighbour(name: string): StoryBinding {
    const other = new StoryBinding(this.stage, { family: this.family, name: `${this.name}-${name}` });
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
    await this.stage.kube.delete(this.family.type, this.ref).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }

  #refOf(name: string, { type }: ChildKind): ObjectRef {
    return type.namespaced ? { namespace: this.stage.namespace, name } : { name };
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
