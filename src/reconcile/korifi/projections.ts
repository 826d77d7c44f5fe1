import type { Clock } from "../../base/clock.ts";
import type { Binding } from "../../korifi/model.ts";
import { serviceBindingObject } from "../../korifi/service-binding-object.ts";
import { NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { attempt } from "../objects/object-reconcile.ts";
import type { Trouble } from "../objects/object-status.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { KorifiCaches } from "./korifi-caches.ts";
import { serviceBindingType } from "./korifi-sources.ts";
import { takenAlongBy } from "./live-secrets.ts";

export interface ProjectionsOptions {
  readonly kube: Pick<Kube, "get">;
  readonly clock: Clock;
  readonly caches: KorifiCaches;
  readonly objects: OwnedObjects;
}

export interface Projected {
  readonly troubles: readonly Trouble[];
  /** When to try again: the kind is not served. */
  readonly againAt?: number;
}

const DONE: Projected = { troubles: [] };
/** A runtime that is installed later is noticed after so long. */
const NOT_SERVED_MS = 60_000;

/** The objects by which a runtime projects bindings into workloads, where there is such a runtime. */
export class Projections {
  readonly #options: ProjectionsOptions;
  #notServedUntil = 0;

  constructor(options: ProjectionsOptions) {
    this.#options = options;
  }

  /** For a binding whose status names a Secret to project, or is about to. */
  async put(binding: Binding, owner: KubeObject, signal: AbortSignal): Promise<Projected> {
    const { clock, objects } = this.#options;
    const { namespace = "" } = owner.metadata;
    const bare = serviceBindingObject(binding, { namespace, present: undefined });
    if (!bare) return DONE;
    if (clock.now() < this.#notServedUntil) return { ...DONE, againAt: this.#notServedUntil };
    try {
      const present = await this.#present(bare, signal);
      const wanted = serviceBindingObject(binding, { namespace, present }) ?? bare;
      const body = { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [takenAlongBy(owner)] } };
      const mayTake = ({ metadata }: KubeObject): boolean =>
        metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
      return { troubles: await attempt(() => objects.put(body, { owner, signal, mayTake })) };
    } catch (error) {
      if (!(error instanceof NotServed)) throw error;
      this.#notServedUntil = clock.now() + NOT_SERVED_MS;
      return { ...DONE, againAt: this.#notServedUntil };
    }
  }

  /** Live where the watch knows of none: somebody may have chosen the directory already. */
  async #present(bare: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { kube, caches } = this.#options;
    const known = caches.made(bare);
    if (known || !caches.isCurrent(bare)) return known;
    const { namespace = "", name } = bare.metadata;
    return ifFound(kube.get(serviceBindingType, { namespace, name }, { signal }));
  }
}

/** The binding that an object is for. */
export const bindingKeyOf = ({ metadata }: KubeObject, label: string): readonly string[] => {
  const { namespace = "", labels } = metadata;
  const name = labels?.[label];
  return name === undefined ? [] : [keyOf({ namespace, name })];
};
