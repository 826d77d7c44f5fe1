import { BINDING_GUID_LABEL, BINDING_KIND } from "../../api/korifi/names.ts";
import type { Clock } from "../../base/clock.ts";
import type { Binding } from "../../korifi/model.ts";
import { MAX_LABEL_LENGTH, serviceBindingName } from "../../korifi/names.ts";
import { isRefused, readBinding } from "../../korifi/read-objects.ts";
import {
  canBeProjected,
  directoriesFor,
  directoryOf,
  serviceBindingObject,
} from "../../korifi/service-binding-object.ts";
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
    const { clock } = this.#options;
    const { namespace = "" } = owner.metadata;
    const bare = serviceBindingObject(binding, { namespace, directory: binding.name });
    if (!bare) return DONE;
    if (clock.now() < this.#notServedUntil) return { ...DONE, againAt: this.#notServedUntil };
    try {
      const present = await this.#present(bare, signal);
      return { troubles: await this.#put(binding, owner, present, signal) };
    } catch (error) {
      if (!(error instanceof NotServed)) throw error;
      this.#notServedUntil = clock.now() + NOT_SERVED_MS;
      return { ...DONE, againAt: this.#notServedUntil };
    }
  }

  async #put(
    binding: Binding,
    owner: KubeObject,
    present: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<readonly Trouble[]> {
    const { caches, objects } = this.#options;
    const { namespace = "", uid: ownerUid } = owner.metadata;
    const { appName = "" } = binding;
    if (!canBeProjected(appName)) return [invalid(TOO_LONG)];
    const directory = freeDirectory(binding, { caches, namespace, appName, present });
    const wanted = directory === undefined ? undefined : serviceBindingObject(binding, { namespace, directory });
    if (!wanted) return [invalid(`all its directories are those of other bindings of ${appName}: ${REMEDY}`)];
    // As whoever made it has put it: to change it would need the right to delete it, where that is enforced.
    const known = present?.metadata.ownerReferences?.find(({ uid }) => uid === ownerUid);
    const body = { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [known ?? takenAlongBy(owner)] } };
    const mayTake = ({ metadata }: KubeObject): boolean =>
      metadata.ownerReferences?.some(({ uid }) => uid === ownerUid) === true;
    return attempt(() => objects.put(body, { owner, signal, mayTake }));
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

const invalid = (message: string): Trouble => ({ reason: "InvalidSpec", message });

const TOO_LONG = `spec.appRef.name: a workload cannot bear a name of more than ${MAX_LABEL_LENGTH} characters as a label, so no files are projected; make another binding, for a shorter one`;
const REMEDY = "give it another spec.displayName";

interface DirectoryScene {
  readonly caches: Pick<KorifiCaches, "projectionsAt" | "bindingsWishing" | "binding">;
  readonly namespace: string;
  readonly appName: string;
  /** What projects the binding already. */
  readonly present: KubeObject | undefined;
}

/** Two bindings in one directory would hide each other, or keep the workload from starting. */
function freeDirectory(binding: Binding, scene: DirectoryScene): string | undefined {
  const all = directoriesFor(binding, scene.present);
  return all.find((directory) => !isTaken(directory, binding, scene));
}

/** Of two that have it the first by name stays; of two that are to have it the first by name gets it. */
function isTaken(directory: string, { name }: Binding, scene: DirectoryScene): boolean {
  const { caches, namespace, appName, present } = scene;
  const own = serviceBindingName(name);
  const holders = caches.projectionsAt(namespace, appName, directory).map(({ metadata }) => metadata.name);
  if (directoryOf(present) === directory) return holders.some((holder) => holder < own);
  if (holders.some((holder) => holder !== own)) return true;
  // The name of a binding is kept for it: there is hardly another one that it could have.
  if (directory === name) return false;
  const namesake = caches.binding(keyOf({ namespace, name: directory }));
  const said = namesake && readBinding(namesake);
  if (said && !isRefused(said) && said.appName === appName && !said.isDeleting) return true;
  const rivals = caches.bindingsWishing(namespace, appName, directory).map((rival) => rival.said);
  return rivals.some((rival) => rival.name < name && !rival.isDeleting);
}

/** The bindings that an object may be for. */
export function bindingKeysOf({ metadata }: KubeObject): readonly string[] {
  const { namespace = "", labels, annotations, ownerReferences = [] } = metadata;
  const owners = ownerReferences.filter(({ kind }) => kind === BINDING_KIND).map(({ name }) => name);
  const names = [annotations?.[BINDING_GUID_LABEL] ?? labels?.[BINDING_GUID_LABEL], ...owners];
  return names.flatMap((name) => (name === undefined ? [] : [keyOf({ namespace, name })]));
}
