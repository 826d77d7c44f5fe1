import type { KubeObject, ObjectMeta, ResourceType } from "../kube/objects.ts";
import type { Definitions, Schema } from "./schema/schema.ts";
import type { FieldError } from "./status-error.ts";

/**
 * What the embedded server knows about each kind it serves: built-in kinds from `kinds/`, custom ones as their CRDs come
 * and go. One definition per served version; versions of one kind share `storageKey`, and so share their objects.
 */
export interface ResourceDefinition extends ResourceType {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** `<plural>.<group>`, or `<plural>` in the core group. */
  readonly storageKey: string;
  /** The version objects are stored in; reads in another version only change `apiVersion`. */
  readonly storageVersion: string;
  readonly subresources: ReadonlySet<string>;
  readonly verbs: readonly string[];
  readonly schema: Schema | undefined;
  readonly definitions: Definitions;
  readonly columns: readonly PrinterColumn[];
  readonly strategy: Strategy;
  /** True for kinds defined by a CRD: their objects are pruned, defaulted and validated by `schema`. */
  readonly custom: boolean;
  /** Fields usable in a fieldSelector besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  /** Where the scale subresource finds its numbers, as in a CRD; see `kinds/scale.ts`. */
  readonly scale?: ScalePaths;
  /** For a kind whose stored form differs by more than `apiVersion`: events.k8s.io Events, custom kinds. */
  readonly conversion?: Conversion;
}

/** Dotted paths with a leading dot. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Conversion {
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** A JSONPath as in a CRD (`.spec.replicas`), or a function for built-in kinds whose cells need more. */
  readonly value: string | ((object: KubeObject, nowAt: number) => unknown);
}

/** What a kind does on the way in, beyond what holds for every object. All functions are pure. */
export interface Strategy {
  /** What is wrong with a name, in the API server's words; default: a DNS subdomain. See `kinds/metadata-validation.ts`. */
  readonly validateName?: (name: string) => readonly string[];
  /** Fills in defaults; called on create, update and every patch, before validation. */
  readonly applyDefaults?: (object: KubeObject) => KubeObject;
  /** On create: drops what a writer may not set (status), sets what the server sets. */
  readonly prepareCreate?: (object: KubeObject) => KubeObject;
  /** On update of anything but the status subresource: carries over what a writer may not change. */
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, subresource?: string) => KubeObject;
  /** Which metadata a write to the status subresource leaves as it was; default: none of a built-in kind's, all of a custom one's. */
  readonly statusKeepsMetadata?: "all" | readonly (keyof ObjectMeta)[];
  readonly validateCreate?: (object: KubeObject) => readonly FieldError[];
  readonly validateUpdate?: (object: KubeObject, old: KubeObject) => readonly FieldError[];
  /** What to tell the writer without refusing anything; `old` is absent for a create. */
  readonly warningsFor?: (object: KubeObject, old: KubeObject | undefined) => readonly string[];
  /** Whether a change counts as a new generation; default: anything outside metadata and status. */
  readonly bumpsGeneration?: (object: KubeObject, old: KubeObject) => boolean;
  /** False for kinds without metadata.generation (Secrets, ConfigMaps …). */
  readonly tracksGeneration?: boolean;
  /** Seconds an object stays with a deletionTimestamp when the request does not say (Pods: 30). */
  readonly defaultGracePeriodSeconds?: (object: KubeObject) => number;
  /** True while something other than metadata.finalizers holds a deleted object (Namespace: spec.finalizers). */
  readonly holdsDeletion?: (object: KubeObject) => boolean;
  /** What else changes when deletion begins (Namespace: status.phase). */
  readonly prepareDelete?: (object: KubeObject) => KubeObject;
  /** A PUT on a name that does not exist creates it (Leases, Events). */
  readonly createsOnUpdate?: boolean;
  /** A PUT must say which resourceVersion it replaces (Leases, CRDs, custom kinds). */
  readonly updatesNeedVersion?: boolean;
}

/** Finds definitions by what a request names; changed only by CRDs. */
export class Registry {
  readonly #byPath = new Map<string, ResourceDefinition>();

  constructor(builtIn: readonly ResourceDefinition[]) {
    for (const definition of builtIn) this.add(definition);
  }

  add(definition: ResourceDefinition): void {
    this.#byPath.set(pathOf(definition.group, definition.version, definition.plural), definition);
  }

  remove(definition: ResourceType): void {
    this.#byPath.delete(pathOf(definition.group, definition.version, definition.plural));
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  /** By what an owner reference or an object says of itself. */
  findKind(apiVersion: string, kind: string): ResourceDefinition | undefined {
    for (const definition of this.#byPath.values()) {
      const own = definition.group === "" ? definition.version : `${definition.group}/${definition.version}`;
      if (definition.kind === kind && own === apiVersion) return definition;
    }
    return undefined;
  }

  all(): readonly ResourceDefinition[] {
    return [...this.#byPath.values()];
  }
}

const pathOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;
