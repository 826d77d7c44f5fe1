import type { Clock } from "../../base/clock.ts";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { Controller, ControllerContext, Watch } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { AppSecrets } from "./app-secrets.ts";
import { KorifiCaches, type KorifiWatches } from "./korifi-caches.ts";
import { korifiSources, type SecretRecord, type ServiceRecord } from "./korifi-sources.ts";
import { LiveSecrets, type LiveSecretsOptions } from "./live-secrets.ts";
import { Strangers } from "./strangers.ts";

/** What the controllers of service credentials are told. */
export type KorifiSettings = Pick<ControllerSettings, "instance" | "korifi">;

/** What they are all built of. */
export interface KorifiParts extends ControllerContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly caches: KorifiCaches;
  readonly secrets: LiveSecrets;
  readonly apps: AppSecrets;
  readonly strangers: Strangers;
}

/** The keys that a change concerns, by what it is a change of. */
interface Concerns {
  readonly instances: (delta: Delta<ServiceRecord>, caches: KorifiCaches) => readonly string[];
  readonly bindings: (delta: Delta<ServiceRecord>, caches: KorifiCaches) => readonly string[];
  /** Told what this process has written itself. */
  readonly secrets: (delta: Delta<SecretRecord>, caches: KorifiCaches, isEcho: boolean) => readonly string[];
  /** Absent where they are not looked at. */
  readonly projections?: (delta: Delta<KubeObject>, caches: KorifiCaches) => readonly string[];
}

export interface KorifiControllerOptions {
  readonly name: string;
  readonly settings: KorifiSettings;
  readonly concerns: Concerns;
  readonly createReconcile: (parts: KorifiParts) => Reconcile;
}

/** A controller of service credentials. All of them look at the same sources, through the same watches. */
export function createKorifiController(options: KorifiControllerOptions): Controller {
  const { name, settings, concerns, createReconcile } = options;
  let known: Known | undefined;
  const watches = createWatches(concerns, () => known);
  return {
    name,
    watches: Object.values(watches) as readonly Watch[],
    createReconcile: (context) => {
      const { kube, clock, logger } = context;
      const caches = new KorifiCaches(watches, context);
      const shared = sharedParts(context.cacheOf(watches.secrets), { kube, clock, caches });
      known = { caches, secrets: shared.secrets };
      const reporter = { controller: name, instance: settings.instance };
      const events = new EventRecorder({ kube, clock, logger, reporter });
      const strangers = new Strangers({ mode: settings.korifi ?? "auto", kube, clock, logger, caches, events });
      return createReconcile({ ...context, ...shared, caches, strangers });
    },
  };
}

interface Known {
  readonly caches: KorifiCaches;
  readonly secrets: LiveSecrets;
}

type SharedParts = Pick<KorifiParts, "secrets" | "apps">;

const shared = new WeakMap<object, SharedParts>();

/**
 * What one controller of a process has read or written, the others know: all of them go by the same caches, and looks at
 * one application are taken one after the other.
 */
function sharedParts(cache: object, options: LiveSecretsOptions & { readonly caches: KorifiCaches }): SharedParts {
  const known = shared.get(cache);
  if (known) return known;
  const secrets = new LiveSecrets(options);
  const parts = { secrets, apps: new AppSecrets({ ...options, secrets }) };
  shared.set(cache, parts);
  return parts;
}

function createWatches(concerns: Concerns, known: () => Known | undefined): KorifiWatches {
  const watch = <R>(
    source: Watch<R>["source"],
    keysOf: (delta: Delta<R>, caches: KorifiCaches, secrets: LiveSecrets) => readonly string[],
    isWish?: Watch<R>["isWish"],
  ): Watch<R> => ({
    source,
    keysOf: (delta) => {
      const { caches, secrets } = known() ?? {};
      return caches && secrets ? [...new Set(keysOf(delta, caches, secrets))] : [];
    },
    ...(isWish && { isWish }),
  });
  const { instances, bindings, secrets, projections } = concerns;
  return {
    instances: watch(korifiSources.instances, instances, isWish),
    bindings: watch(korifiSources.bindings, bindings, isWish),
    secrets: watch(korifiSources.secrets, (delta, caches, live) => {
      live.heard(delta);
      return secrets(delta, caches, live.isEcho(delta));
    }),
    ...(projections && { projections: watch(korifiSources.projections, projections) }),
  };
}

/** By the status alone nobody asks for anything: mostly it is us who wrote it. */
const isWish = (delta: Delta<ServiceRecord>): boolean =>
  delta.type !== "updated" || wishOf(delta.old.record.object.metadata) !== wishOf(delta.entry.record.object.metadata);

const wishOf = ({ generation, deletionTimestamp }: ObjectMeta): string => `${generation} ${deletionTimestamp}`;
