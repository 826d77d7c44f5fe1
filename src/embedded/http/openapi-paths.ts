import type { ResourceDefinition } from "../registry.ts";

/** The `paths` part of an OpenAPI document: which verbs a kind has, and which parameters they take. */
interface Operation {
  readonly operationId: string;
  readonly action: string;
  readonly parameters: readonly object[];
  readonly body?: "object" | "patch" | "options";
  readonly isList?: boolean;
}

/** The component that describes a kind: built-in kinds by their Go package, custom ones by their reversed group. */
export function schemaNameOf(definition: ResourceDefinition): string {
  const { group, version, kind } = definition;
  if (definition.custom) return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
  const own = Object.entries(definition.definitions).find(([, schema]) => schema === definition.schema)?.[0];
  return own ?? `io.k8s.api.${group === "" ? "core" : group.split(".")[0]}.${version}.${kind}`;
}

export function openApiPaths(definitions: readonly ResourceDefinition[]): Readonly<Record<string, object>> {
  const paths: Record<string, object> = {};
  for (const definition of definitions) {
    const { group, version, plural, namespaced } = definition;
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
    const scope = namespaced ? [pathParameter("namespace")] : [];
    const named = [pathParameter("name"), ...scope];
    if (namespaced) paths[`${root}/${plural}`] = pathItem(definition, listOnly(definition), []);
    paths[collection] = pathItem(definition, collectionOperations(definition), scope);
    paths[`${collection}/{name}`] = pathItem(definition, objectOperations(definition), named);
    for (const subresource of definition.subresources) {
      const operations = objectOperations(definition, subresource);
      paths[`${collection}/{name}/${subresource}`] = pathItem(definition, operations, named, subresource === "scale");
    }
  }
  return paths;
}

const query = (name: string, type: "string" | "boolean" | "integer"): object => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});

const pathParameter = (name: string): object => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string", uniqueItems: true },
});

const LIST_PARAMETERS = [
  query("allowWatchBookmarks", "boolean"),
  query("continue", "string"),
  query("fieldSelector", "string"),
  query("labelSelector", "string"),
  query("limit", "integer"),
  query("resourceVersion", "string"),
  query("resourceVersionMatch", "string"),
  query("sendInitialEvents", "boolean"),
  query("timeoutSeconds", "integer"),
  query("watch", "boolean"),
];
const WRITE_PARAMETERS = [
  query("dryRun", "string"),
  query("fieldManager", "string"),
  query("fieldValidation", "string"),
];
const DELETE_PARAMETERS = [
  query("dryRun", "string"),
  query("gracePeriodSeconds", "integer"),
  query("orphanDependents", "boolean"),
  query("propagationPolicy", "string"),
];

type Operations = Readonly<Record<string, Operation>>;

const listOnly = ({ kind }: ResourceDefinition): Operations => ({
  get: { operationId: `list${kind}ForAllNamespaces`, action: "list", parameters: LIST_PARAMETERS, isList: true },
});

function collectionOperations({ kind, verbs }: ResourceDefinition): Operations {
  return {
    ...(verbs.includes("list") && {
      get: { operationId: `list${kind}`, action: "list", parameters: LIST_PARAMETERS, isList: true },
    }),
    ...(verbs.includes("create") && {
      post: { operationId: `create${kind}`, action: "post", parameters: WRITE_PARAMETERS, body: "object" },
    }),
    ...(verbs.includes("deletecollection") && {
      delete: {
        operationId: `deleteCollection${kind}`,
        action: "deletecollection",
        parameters: [...LIST_PARAMETERS, ...DELETE_PARAMETERS],
        body: "options",
      },
    }),
  };
}

function objectOperations({ kind, verbs }: ResourceDefinition, subresource?: string): Operations {
  const suffix =
    subresource === undefined ? kind : `${kind}${subresource.charAt(0).toUpperCase()}${subresource.slice(1)}`;
  return {
    ...(verbs.includes("get") && { get: { operationId: `read${suffix}`, action: "get", parameters: [] } }),
    ...(verbs.includes("update") && {
      put: { operationId: `replace${suffix}`, action: "put", parameters: WRITE_PARAMETERS, body: "object" },
    }),
    ...(verbs.includes("patch") && {
      patch: {
        operationId: `patch${suffix}`,
        action: "patch",
        parameters: [...WRITE_PARAMETERS, query("force", "boolean")],
        body: "patch",
      },
    }),
    ...(subresource === undefined &&
      verbs.includes("delete") && {
        delete: { operationId: `delete${kind}`, action: "delete", parameters: DELETE_PARAMETERS, body: "options" },
      }),
  };
}

function pathItem(
  definition: ResourceDefinition,
  operations: Operations,
  parameters: readonly object[],
  isScale = false,
): object {
  const { group, version, kind } = definition;
  const type = isScale ? { group: "autoscaling", version: "v1", kind: "Scale" } : { group, version, kind };
  const name = schemaNameOf(definition);
  const item: Record<string, object> = {};
  for (const [method, operation] of Object.entries(operations)) {
    const shown = isScale
      ? { type: "object" }
      : { $ref: `#/components/schemas/${operation.isList ? `${name}List` : name}` };
    item[method] = {
      operationId: operation.operationId,
      parameters: operation.parameters,
      ...(operation.body && { requestBody: requestBody(operation.body, shown, definition) }),
      responses: { "200": { description: "OK", content: { "application/json": { schema: shown } } } },
      "x-kubernetes-action": operation.action,
      "x-kubernetes-group-version-kind": type,
    };
  }
  return { ...item, parameters: [...parameters, query("pretty", "string")] };
}

function requestBody(kind: "object" | "patch" | "options", shown: object, definition: ResourceDefinition): object {
  const anything = { schema: { type: "object" } };
  if (kind === "object") return { required: true, content: { "*/*": { schema: shown } } };
  if (kind === "options") return { content: { "*/*": anything } };
  return {
    required: true,
    content: {
      "application/apply-patch+yaml": anything,
      "application/json-patch+json": anything,
      "application/merge-patch+json": anything,
      ...(!definition.custom && { "application/strategic-merge-patch+json": anything }),
    },
  };
}
