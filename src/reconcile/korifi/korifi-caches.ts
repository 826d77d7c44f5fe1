import { BINDING_KIND, INSTANCE_KIND } from "../../api/korifi/names.ts";
import type { Binding, Instance } from "../../korifi/model.ts";
import { isRefused, type Read, readBinding, readInstance } from "../../korifi/read-objects.ts";
import { directoryOf, projectedInto } from "../../korifi/service-binding-object.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Entry, ResourceCache } from "../../kube/resource-cache.ts";
import type { ControllerContext, Watch } from "../../runtime/controller.ts";
import type { MadeObjects } from "../objects/owned-objects.ts";
import { directoryKey, type SecretRecord, type ServiceRecord, serviceBindingType } from "./korifi-sources.ts";

/** The watches of one controller; what they lead to differs, what they look at does not. */
export interface KorifiWatches {
  readonly instances: Watch<ServiceRecord>;
  readonly bindings: Watch<ServiceRecord>;
  readonly secrets: Watch<SecretRecord>;
  /** Only where they are made. */
  readonly projections?: Watch<KubeObject>;
}

/** An object of the cache, and what it says. */
export interface Seen<T> {
  readonly object: KubeObject;
  readonly said: T;
}

/** What the watches know. Must not: ask the server for anything. */
export class KorifiCaches implements MadeObjects {
  readonly #instances: ResourceCache<ServiceRecord>;
  readonly #bindings: ResourceCache<ServiceRecord>;
  readonly #secrets: ResourceCache<SecretRecord>;
  readonly #projections: ResourceCache<KubeObject> | undefined;

  constructor(watches: KorifiWatches, { cacheOf }: Pick<ControllerContext, "cacheOf">) {
    this.#instances = cacheOf(watches.instances);
    this.#bindings = cacheOf(watches.bindings);
    this.#secrets = cacheOf(watches.secrets);
    this.#projections = watches.projections && cacheOf(watches.projections);
  }

  instance(key: string): KubeObject | undefined {
    return this.#instances.get(key)?.object;
  }

  binding(key: string): KubeObject | undefined {
    return this.#bindings.get(key)?.object;
  }

  /** The instance of a binding, where it is there and says what can be followed. */
  instanceOf(namespace: string, { instanceName }: Binding): Seen<Instance> | undefined {
    const object = this.instance(keyOf({ namespace, name: instanceName }));
    return object && seen(object, readInstance(object));
  }

  bindingsOf(instanceKey: string): readonly Seen<Binding>[] {
    return bindingsIn(this.#bindings.find("instance", instanceKey));
  }

  bindingsOfApp(appKey: string): readonly Seen<Binding>[] {
    return bindingsIn(this.#bindings.find("app", appKey));
  }

  /** The bindings that have something to do with a Secret by its name. */
  bindingsNear(secretKey: string): readonly string[] {
    return this.#bindings.find("secret", secretKey).map(({ key }) => key);
  }

  /** The instances that may have to do something when a Secret changes. */
  instancesNear(secretKey: string): readonly string[] {
    return this.#instances.find("secret", secretKey).map(({ key }) => key);
  }

  /** The bindings of those whose credentials are in the Secret. */
  bindingsMadeFrom(secretKey: string): readonly Seen<Binding>[] {
    return this.#instances.find("credentials", secretKey).flatMap(({ key }) => this.bindingsOf(key));
  }

  secret(key: string): Entry<SecretRecord> | undefined {
    return this.#secrets.entry(key);
  }

  secretsOf({ metadata }: KubeObject): readonly Entry<SecretRecord>[] {
    return this.#secrets.find("owner", metadata.uid ?? "");
  }

  /** Whether somebody else writes its status. */
  isStrange({ kind, metadata }: KubeObject): boolean {
    const cache = kind === INSTANCE_KIND ? this.#instances : this.#bindings;
    return cache.get(keyOf(metadata))?.stranger !== undefined;
  }

  /** An object of a namespace whose status somebody else writes, in words. */
  strangeObject(namespace: string): string | undefined {
    const [instance] = this.#instances.find("strange", namespace);
    const [binding] = this.#bindings.find("strange", namespace);
    const [kind, entry] = instance ? [INSTANCE_KIND, instance] : [BINDING_KIND, binding];
    return entry && `${entry.record.stranger} writes the status of ${kind} ${entry.key}`;
  }

  /** What projects bindings into a directory of an application. */
  projectionsAt(namespace: string, appName: string, directory: string): readonly KubeObject[] {
    const entries = this.#projections?.find("directory", directoryKey(namespace, appName, directory)) ?? [];
    return entries.map(({ record }) => record);
  }

  /** What is projected into the directory of another one. */
  projectionsBeside(projection: KubeObject): readonly KubeObject[] {
    const { namespace = "" } = projection.metadata;
    const [appName, directory] = [projectedInto(projection), directoryOf(projection)];
    return appName === undefined || directory === undefined ? [] : this.projectionsAt(namespace, appName, directory);
  }

  /** The bindings of an application that are to have this directory. */
  bindingsWishing(namespace: string, appName: string, directory: string): readonly Seen<Binding>[] {
    return bindingsIn(this.#bindings.find("directory", directoryKey(namespace, appName, directory)));
  }

  made({ kind, metadata }: KubeObject): KubeObject | undefined {
    return kind === serviceBindingType.kind ? this.#projections?.get(keyOf(metadata)) : undefined;
  }

  noteWrite({ kind, metadata }: KubeObject): void {
    this.#cacheOf(kind)?.noteWrite(keyOf(metadata), metadata.resourceVersion ?? "");
  }

  isCurrent({ kind, metadata }: KubeObject): boolean {
    return this.#cacheOf(kind)?.isCurrent(keyOf(metadata)) ?? true;
  }

  #cacheOf(kind: string): ResourceCache<unknown> | undefined {
    const byKind: Readonly<Record<string, unknown>> = {
      [INSTANCE_KIND]: this.#instances,
      [BINDING_KIND]: this.#bindings,
      [serviceBindingType.kind]: this.#projections,
      Secret: this.#secrets,
    };
    return byKind[kind] as ResourceCache<unknown> | undefined;
  }
}

const seen = <T extends object>(object: KubeObject, read: Read<T>): Seen<T> | undefined =>
  isRefused(read) ? undefined : { object, said: read };

const bindingsIn = (entries: readonly Entry<ServiceRecord>[]): readonly Seen<Binding>[] =>
  entries.flatMap(({ record: { object } }) => seen(object, readBinding(object)) ?? []);
