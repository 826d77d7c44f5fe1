import { bind9Instance } from "../api/bind/bind9-instance.ts";
import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { rndcKey } from "../api/keyturn/rndc-key.ts";
import { korifiResources } from "../api/korifi/korifi-resources.ts";
import { silentLogger } from "../base/logger.ts";
import { type Random, seededRandom } from "../base/random.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import type { Json } from "../embedded/json.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { serviceBindingType } from "../reconcile/korifi/korifi-sources.ts";
import { createDirectKube } from "./direct-kube.ts";
import { FAMILIES } from "./families/families.ts";
import { foreignDefinition } from "./foreign-kind.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { storedAs } from "./watch-view.ts";

const SECRETS = storedAs(secretType);
const START_AT = Date.UTC(2025, 10, 5, 13, 14, 28);

/** What a schedule leaves behind, and the next one must not find. */
const USED_KINDS = [
  ...["secrets", "events", "deployments", "replicasets", "pods"],
  ...typesOfFamilies().map(({ plural }) => plural),
];

/** Everything of a cluster that a schedule can change. */
export interface ClusterState {
  readonly objects: readonly { readonly kind: string; readonly key: string; readonly object: KubeObject }[];
  readonly elapsedMs: number;
}

/**
 * One embedded API for many schedules: building one costs more than running a schedule on it. `reset` brings it back to
 * where nothing has happened; only resourceVersions go on counting, and nothing may depend on their values.
 */
export class Cluster {
  readonly clock = new VirtualClock(START_AT);
  readonly server: EmbeddedServer;
  readonly kube: Kube;
  #random: Random = seededRandom(1);

  constructor() {
    const random: Random = {
      next: () => this.#random.next(),
      bytes: (length) => this.#random.bytes(length),
    };
    const { clock } = this;
    this.server = new EmbeddedServer({ clock, random, logger: silentLogger, historyLimit: 16 });
    this.kube = createDirectKube(this.server);
    const definitions = this.server.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    if (!definitions) throw new Error("the embedded API does not serve CustomResourceDefinitions");
    for (const definition of definitionsOfFamilies()) {
      const body = JSON.parse(JSON.stringify(definition)) as Json;
      this.server.objects.create(definitions, undefined, body, { fieldManager: "simulation" });
    }
  }

  reset(seed: number, { objects, elapsedMs }: ClusterState = { objects: [], elapsedMs: 0 }): void {
    this.#random = seededRandom(seed);
    this.clock.reset();
    this.clock.advance(elapsedMs);
    const { store } = this.server;
    for (const { kind, key } of this.capture().objects) store.write(kind, key, undefined);
    for (const { kind, key, object } of objects) store.write(kind, key, object);
  }

  /** `isTracked`: with who wrote which field, for those who read it; of Secrets everybody reads when that was. */
  capture(isTracked = false): ClusterState {
    const { store } = this.server;
    const kinds = store.kinds().filter((kind) => USED_KINDS.some((used) => kind.startsWith(used)));
    const objects = kinds.flatMap((kind) =>
      store.keys(kind).flatMap((key) => {
        const object = store.get(kind, key);
        return object ? [{ kind, key, object: isTracked || kind === SECRETS ? object : untracked(object) }] : [];
      }),
    );
    return { objects, elapsedMs: this.clock.monotonic() };
  }
}

/** The kinds that the simulated worlds know. */
function typesOfFamilies(): readonly ResourceType[] {
  const types = FAMILIES.flatMap(({ holders, parents }) => {
    const managed = holders?.create();
    const parental = parents ? [parents.kind.type, parents.children.type, parents.classType] : [];
    return [managed?.kind.type, managed?.configType, ...parental].flatMap((type) => type ?? []);
  });
  return [...types, rndcKey, bind9Instance, ...korifiResources, serviceBindingType];
}

/** Ours are defined as for any cluster; kinds of others bring their definition along. */
function definitionsOfFamilies(): readonly unknown[] {
  const names = new Set(typesOfFamilies().map(storedAs));
  const ours = customResources.filter((resource) => names.has(storedAs(resource))).map(definitionOf);
  const others = FAMILIES.flatMap(({ parents }) => parents?.children.definition ?? []);
  return [...ours, ...others, foreignDefinition(serviceBindingType)];
}

/** As after a reset of its managedFields, which cost more than the rest of a write. */
function untracked(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
