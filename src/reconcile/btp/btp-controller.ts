import { providerConfig } from "../../api/btp/provider-config.ts";
import { keyOf } from "../../kube/objects.ts";
import type { ResourceCache } from "../../kube/resource-cache.ts";
import { observedHttp } from "../../providers/observed-http.ts";
import { SecretPublisher } from "../../publish/secret-publisher.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { Controller, ControllerContext } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { type ClusterIdentity, establishIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { type ConfigIndex, ConfigKeeper } from "../managed/config-keeper.ts";
import { createManagedReconcile } from "../managed/managed-controller.ts";
import type { ManagedKind } from "../managed/managed-kind.ts";
import type { Known } from "../managed/rest.ts";
import { StartLimiter } from "../managed/start-limiter.ts";
import { sweep } from "../managed/sweep.ts";
import {
  ANY_INSTANCE,
  type BindingRecord,
  bindingWatch,
  type ConfigRecord,
  configOf,
  configRecord,
  configWatch,
  credentialsWatch,
  instanceWatch,
  type PublishedRecord,
  publishedWatch,
} from "./btp-watches.ts";
import { createServiceBindingKind } from "./service-binding-kind.ts";
import { ServiceManagerSource, versionOf } from "./service-manager-source.ts";

/**
 * BTP service bindings: the managed reconcile on SAP Service Manager, its watches, and the care for ProviderConfigs. Must
 * not: know a rule of the protocol; those are the engine's and the managed reconcile's.
 */
export function createBtpController(settings: ControllerSettings): Controller {
  const kind = createServiceBindingKind(settings);
  // Watches find the bindings that a change concerns in the caches, which exist once the context does.
  let caches: Caches | undefined;
  const bindings = bindingWatch(kind);
  const published = publishedWatch(kind);
  const configs = configWatch((name) => caches?.usersOf(name) ?? []);
  const credentials = credentialsWatch((secret) => caches?.usersOfSecret(secret) ?? []);
  const instances = instanceWatch((name) => caches?.usersOfInstance(name) ?? []);
  return {
    name: "btp",
    watches: [bindings, published, configs, credentials, instances],
    createReconcile: (context) => {
      caches = new Caches({
        bindings: context.cacheOf(bindings),
        published: context.cacheOf(published),
        configs: context.cacheOf(configs),
        credentials: context.cacheOf(credentials),
        instances: context.cacheOf(instances),
      });
      settings.metrics?.addProbe({ kind: kind.type.kind, credentials: caches.credentialViews });
      return createReconcile({ kind, settings, context, caches });
    },
  };
}

interface Assembly {
  readonly kind: ManagedKind;
  readonly settings: ControllerSettings;
  readonly context: ControllerContext;
  readonly caches: Caches;
}

/** What needs the cluster's identity is built when the first key comes: by then this process leads. */
function createReconcile(assembly: Assembly): Reconcile {
  const { kube, random } = assembly.context;
  const { namespace } = assembly.settings;
  let ready: Promise<Reconcile> | undefined;
  return async (key, signal) => {
    ready ??= establishIdentity({ kube, random, namespace, signal }).then((identity) => assemble(assembly, identity));
    let reconcile: Reconcile;
    try {
      reconcile = await ready;
    } catch (error) {
      ready = undefined;
      throw error;
    }
    return reconcile(key, signal);
  };
}

function assemble(
  { kind, settings, context, caches }: Assembly,
  { clusterId, fingerprinter }: ClusterIdentity,
): Reconcile {
  const { kube, clock, logger } = context;
  const { metrics, instance } = settings;
  const { kind: kindName } = kind.type;
  const source = new ServiceManagerSource({
    kube,
    clock,
    http: metrics ? observedHttp(settings.http, clock, metrics.httpObserverOf("service-manager")) : settings.http,
    fingerprinter,
    knownVersion: (name) => caches.versionOf(name),
  });
  const reconcileBinding = createManagedReconcile({
    kind,
    kube,
    clock,
    logger,
    clusterId,
    publisher: new SecretPublisher(kube, fingerprinter, (uid) => caches.publishedOf(uid)),
    startedAt: clock.now(),
    isSkewed: settings.isSkewed,
    driftCheckMs: settings.driftCheckMs,
    known: caches,
    events: new EventRecorder({ kube, clock, logger, reporter: { controller: "btp", instance } }),
    observer: metrics?.observerOf(kindName),
    starts: new StartLimiter({ clock, perSecond: settings.overdueStartsPerSecond }),
    resolve: (object, spec, signal) => source.resolve(object, spec, signal),
    resolveDeparture: (object, spec, signal) => source.resolveDeparture(object, spec, signal),
  });
  const keeper = new ConfigKeeper({
    kind,
    configType: providerConfig,
    secretOf: (config) => configRecord(config).secret,
    kube,
    clock,
    logger,
    index: caches,
    sweepMs: settings.sweepMs,
    sweep: async ({ metadata }, signal) => {
      const connection = await source.visit(metadata.name, signal);
      return sweep({ kind, kube, connection, clusterId, signal });
    },
  });
  return (key, signal) => {
    const config = configOf(key);
    return config === undefined ? reconcileBinding(key, signal) : keeper.reconcile(config, signal);
  };
}

/** What the watches of this controller know, as its parts ask for it. */
class Caches implements Known, ConfigIndex {
  readonly #bindings: ResourceCache<BindingRecord>;
  readonly #published: ResourceCache<PublishedRecord>;
  readonly #configs: ResourceCache<ConfigRecord>;
  readonly #credentials: ResourceCache<undefined>;
  readonly #instances: ResourceCache<undefined>;

  constructor(caches: {
    readonly bindings: ResourceCache<BindingRecord>;
    readonly published: ResourceCache<PublishedRecord>;
    readonly configs: ResourceCache<ConfigRecord>;
    readonly credentials: ResourceCache<undefined>;
    readonly instances: ResourceCache<undefined>;
  }) {
    this.#bindings = caches.bindings;
    this.#published = caches.published;
    this.#configs = caches.configs;
    this.#credentials = caches.credentials;
    this.#instances = caches.instances;
  }

  resource(key: string): string | undefined {
    return this.#bindings.entry(key)?.resourceVersion;
  }

  secret(address: { readonly namespace: string; readonly name: string }): string | undefined {
    return this.#published.entry(keyOf(address))?.resourceVersion;
  }

  secretPosition(): string {
    return this.#published.position;
  }

  inputs(key: string): string {
    const record = this.#bindings.get(key);
    if (!record) return "";
    const instance =
      record.instance === ANY_INSTANCE
        ? this.#instances.position
        : record.instance && this.#instances.entry(record.instance)?.resourceVersion;
    return `${this.versionOf(record.providerConfig)} ${instance}`;
  }

  /** As `ServiceManagerSource` writes it down; undefined when something of it is not there, or not held yet. */
  versionOf(name: string): string | undefined {
    const config = this.#configs.entry(name);
    const secret = config?.record.secret && this.#credentials.entry(keyOf(config.record.secret));
    return config && secret && versionOf(config.resourceVersion, secret.resourceVersion);
  }

  publishedOf(ownerUid: string): readonly PublishedRecord[] {
    return this.#published.find("owner", ownerUid).map(({ record }) => record);
  }

  users(name: string): number {
    return this.#bindings.find("config", name).length;
  }

  heldSecrets(): readonly { readonly namespace: string; readonly name: string }[] {
    return Array.from(this.#credentials.entries(), ({ key }) => addressOf(key));
  }

  neededSecrets(): readonly { readonly namespace: string; readonly name: string }[] {
    const needed = Array.from(this.#configs.entries()).filter(({ key }) => this.users(key) > 0);
    return needed.flatMap(({ record }) => (record.secret ? [record.secret] : []));
  }

  usersOf(name: string): readonly string[] {
    return this.#bindings.find("config", name).map(({ key }) => key);
  }

  usersOfSecret(secret: string): readonly string[] {
    return this.#configs.find("secret", secret).flatMap(({ key }) => this.usersOf(key));
  }

  usersOfInstance(name: string): readonly string[] {
    return [name, ANY_INSTANCE].flatMap((one) => this.#bindings.find("instance", one)).map(({ key }) => key);
  }

  readonly credentialViews = (): Iterable<BindingRecord & { readonly key: string }> =>
    Array.from(this.#bindings.entries(), ({ key, record }) => ({ ...record, key }));
}

function addressOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
