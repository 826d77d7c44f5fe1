import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { PrinterColumn, ResourceDefinition, Strategy } from "../registry.ts";
import type { FieldError } from "../status-error.ts";
import { validateFinalizerNames } from "./metadata-validation.ts";
import { normalize } from "./normalize.ts";
import { builtInSchemaOf, builtInSchemas } from "./schemas.ts";

/** What differs from one built-in kind to the next; `defineKind` adds what they share. */
export interface KindOptions extends Strategy {
  readonly group?: string;
  readonly version?: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly string[];
  readonly verbs?: readonly string[];
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields?: readonly string[];
  readonly scale?: ResourceDefinition["scale"];
  readonly conversion?: ResourceDefinition["conversion"];
  readonly storageKey?: string;
  readonly storageVersion?: string;
  /** Whether a finalizer of one's own must carry a domain; default: yes. */
  readonly checksFinalizerDomains?: boolean;
  /** The status an object starts with; kinds with a status subresource only. */
  readonly initialStatus?: (object: KubeObject) => JsonObject;
}

export const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

export function defineKind(options: KindOptions): ResourceDefinition {
  const { group = "", version = "v1", plural, kind, namespaced = true } = options;
  const storageKey = options.storageKey ?? (group === "" ? plural : `${plural}.${group}`);
  const schema = builtInSchemaOf({ group, version, kind });
  return {
    group,
    version,
    plural,
    kind,
    namespaced,
    singular: options.singular ?? kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    storageKey,
    storageVersion: options.storageVersion ?? version,
    subresources: new Set(options.subresources),
    verbs: options.verbs ?? ALL_VERBS,
    schema,
    definitions: builtInSchemas(),
    columns: options.columns,
    strategy: strategyOf(options, schema),
    custom: false,
    selectableFields: options.selectableFields ?? [],
    ...(options.scale && { scale: options.scale }),
    ...(options.conversion && { conversion: options.conversion }),
  };
}

function strategyOf(options: KindOptions, schema: ResourceDefinition["schema"]): Strategy {
  const definitions = builtInSchemas();
  const hasStatus = options.subresources?.includes("status") ?? false;
  const finalizerErrors = ({ metadata }: KubeObject): readonly FieldError[] =>
    options.checksFinalizerDomains === false ? [] : validateFinalizerNames(metadata);
  return {
    ...ownStrategy(options),
    tracksGeneration: options.tracksGeneration ?? false,
    applyDefaults: (object) => {
      const normal = isObject(object) ? (normalize(object, schema, definitions) as KubeObject) : object;
      return options.applyDefaults?.(normal) ?? normal;
    },
    validateCreate: (object) => [...finalizerErrors(object), ...(options.validateCreate?.(object) ?? [])],
    validateUpdate: (object, old) => [...finalizerErrors(object), ...(options.validateUpdate?.(object, old) ?? [])],
    prepareCreate: (object) => {
      const prepared = options.prepareCreate?.(object) ?? object;
      return hasStatus ? { ...prepared, status: options.initialStatus?.(prepared) ?? {} } : prepared;
    },
  };
}

/** The part of the options that is the kind's strategy. */
function ownStrategy(options: KindOptions): Strategy {
  const { group, version, plural, kind, namespaced, singular, shortNames, categories, ...rest } = options;
  const { subresources, verbs, columns, selectableFields, scale, conversion, ...others } = rest;
  const { storageKey, storageVersion, initialStatus, checksFinalizerDomains, ...strategy } = others;
  return strategy;
}
