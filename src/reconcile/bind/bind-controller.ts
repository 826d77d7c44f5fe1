import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { ConfigLimits } from "../../bind/rndc-key-config.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import type { SendCommand } from "../../providers/bind/ports.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { Controller, Watch } from "../../runtime/controller.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { recordsOf } from "../managed/managed-watches.ts";
import { createObjectReconcile, type Looker } from "../objects/object-reconcile.ts";
import { ObjectStatus } from "../objects/object-status.ts";
import { OwnedObjects } from "../objects/owned-objects.ts";
import { BindCaches, type BindWatches } from "./bind-caches.ts";
import { bindSources, controllerOf } from "./bind-sources.ts";

/** Who writes the fields of what is made. */
const FIELD_MANAGER = "keyturn-bind9";
const MADE_KINDS: readonly ResourceType[] = Object.values(bindSources).map(({ type }) => type);

/** What the controllers of the document's kinds are told, beside what every controller is. */
export interface BindSettings extends Pick<ControllerSettings, "namespace" | "instance">, ConfigLimits {
  /** The way to named, where it is another than the control protocol over TCP. */
  readonly send?: SendCommand;
}

/** The keys that a change concerns, by what it is a change of; what is not there concerns nobody. */
type Concerns = {
  readonly [K in keyof BindWatches]?: BindWatches[K] extends Watch<infer R>
    ? (delta: Delta<R>, caches: BindCaches) => readonly string[]
    : never;
};

interface LookParts {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
}

interface BindControllerOptions {
  readonly name: string;
  readonly type: ResourceType;
  readonly settings: BindSettings;
  readonly concerns: Concerns;
  readonly find: (caches: BindCaches, key: string) => KubeObject | undefined;
  readonly createLooker: (parts: LookParts) => Looker;
}

/**
 * A controller of one of the document's kinds. All three look at the same sources, through the same watches. Must not:
 * know what its kind is about.
 */
export function createBindController(options: BindControllerOptions): Controller {
  const { name, type, settings, concerns, find, createLooker } = options;
  let known: BindCaches | undefined;
  const watches = createWatches(type, concerns, () => known);
  return {
    name,
    watches: Object.values(watches),
    createReconcile: (context) => {
      const { kube, clock, random, logger } = context;
      const caches = new BindCaches(watches, context, settings.namespace);
      known = caches;
      const reporter = { controller: name, instance: settings.instance };
      const events = new EventRecorder({ kube, clock, logger, reporter });
      const status = new ObjectStatus({ type, kube, clock, events, noteWrite: (object) => caches.noteWrite(object) });
      const objects = new OwnedObjects({ kube, caches, types: MADE_KINDS, fieldManager: FIELD_MANAGER });
      const looker = createLooker({ kube, clock, random, caches, objects });
      const isCurrent = (object: KubeObject): boolean => caches.isCurrent(object);
      return createObjectReconcile({ clock, isCurrent, status, find: (key) => find(caches, key), looker });
    },
  };
}

function createWatches(type: ResourceType, concerns: Concerns, caches: () => BindCaches | undefined): BindWatches {
  const watch = <R>(
    source: Watch<R>["source"],
    keysOf: ((delta: Delta<R>, caches: BindCaches) => readonly string[]) | undefined,
    isWish?: Watch<R>["isWish"],
  ): Watch<R> => ({
    source,
    keysOf: (delta) => {
      const known = caches();
      return known && keysOf ? keysOf(delta, known) : [];
    },
    ...(isWish && { isWish }),
  });
  const own = (source: Watch<KubeObject>["source"], keysOf: Concerns["clusters"]): Watch<KubeObject> =>
    watch(source, keysOf, source.type === type ? isOther : undefined);
  return {
    providers: own(bindSources.providers, concerns.providers),
    clusters: own(bindSources.clusters, concerns.clusters),
    instances: own(bindSources.instances, concerns.instances),
    rndcKeys: watch(bindSources.rndcKeys, concerns.rndcKeys),
    configMaps: watch(bindSources.configMaps, concerns.configMaps),
    services: watch(bindSources.services, concerns.services),
    deployments: watch(bindSources.deployments, concerns.deployments),
    statefulSets: watch(bindSources.statefulSets, concerns.statefulSets),
    secrets: watch(bindSources.secrets, concerns.secrets),
  };
}

/** Whether more than the status has changed. */
export const isOther = (delta: Delta<KubeObject>): boolean =>
  delta.type !== "updated" || wishOf(delta.old.record.metadata) !== wishOf(delta.entry.record.metadata);

const wishOf = ({ generation, deletionTimestamp, ownerReferences }: ObjectMeta): string =>
  JSON.stringify([generation, deletionTimestamp, ownerReferences]);

/** The names of those of a kind that a change of something they own concerns. */
export const ownersIn = (delta: Delta<KubeObject>, kind: string): readonly string[] =>
  recordsOf(delta).flatMap(({ metadata }) => {
    const owner = controllerOf(metadata);
    return owner?.kind === kind ? [owner.name] : [];
  });

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));
