import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import { humanAge } from "../kinds/human-duration.ts";
import type { ListResult } from "../object-api.ts";
import type { PrinterColumn, ResourceDefinition } from "../registry.ts";
import { evaluateJsonPath } from "../schema/json-path.ts";
import { badRequest } from "../status-error.ts";
import { listMetadata, partialMetadata } from "./partial-metadata.ts";
import type { BookmarkMetadata } from "./watch-stream.ts";

/** Objects as rows for people: what `kubectl get` shows. Columns come from the kind's definition or its CRD. */
export interface TableOptions {
  /** The version of meta.k8s.io. */
  readonly version: string;
  readonly includeObject: IncludeObject;
  readonly nowAt: number;
}

export type IncludeObject = "None" | "Metadata" | "Object";

export function includeObjectParameter(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") ?? "";
  if (value === "" || value === "Metadata") return "Metadata";
  if (value === "None" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: ` +
      "must be 'Metadata', 'Object', 'None', or empty",
  );
}

export function tableOfList(definition: ResourceDefinition, list: ListResult, options: TableOptions): object {
  return table(definition, { metadata: listMetadata(list), objects: list.items }, options);
}

export function tableOfObject(definition: ResourceDefinition, object: KubeObject, options: TableOptions): object {
  const { resourceVersion } = object.metadata;
  return table(definition, { metadata: resourceVersion ? { resourceVersion } : {}, objects: [object] }, options);
}

/** A bookmark is an object of which nothing is known but its metadata, and its row is that of such an object. */
export function tableOfBookmark(
  definition: ResourceDefinition,
  metadata: BookmarkMetadata,
  options: TableOptions,
): object {
  const { kind } = definition;
  const object: KubeObject = { apiVersion: apiVersionOf(definition), kind, metadata: { name: "", ...metadata } };
  const { cells } = row(definition, object, options);
  const apiVersion = `meta.k8s.io/${options.version}`;
  return {
    kind: "Table",
    apiVersion,
    metadata: { resourceVersion: metadata.resourceVersion },
    columnDefinitions: columnsOf(definition).map(columnDefinition),
    rows: [{ cells, object: { kind: "PartialObjectMetadata", apiVersion, metadata } }],
  };
}

interface TableContent {
  readonly metadata: object;
  readonly objects: readonly KubeObject[];
}

function table(definition: ResourceDefinition, content: TableContent, options: TableOptions): object {
  const columns = columnsOf(definition);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: content.metadata,
    columnDefinitions: columns.map(columnDefinition),
    rows: content.objects.map((object) => row(definition, object, options)),
  };
}

const row = (definition: ResourceDefinition, object: KubeObject, options: TableOptions) => ({
  cells: columnsOf(definition).map((column) => cell(column, object, options.nowAt)),
  object: rowObject(object, options),
});

function rowObject(object: KubeObject, options: TableOptions): object | null {
  if (options.includeObject === "None") return null;
  return options.includeObject === "Object" ? object : partialMetadata(object, options.version);
}

const nameColumn: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  value: ".metadata.name",
};
const ageColumn: PrinterColumn = {
  name: "Age",
  type: "date",
  description: "The time since this object was created.",
  value: ".metadata.creationTimestamp",
};

function columnsOf(definition: ResourceDefinition): readonly PrinterColumn[] {
  const { columns, custom } = definition;
  if (columns.length === 0) return [nameColumn, ageColumn];
  return custom ? [nameColumn, ...columns] : columns;
}

const columnDefinition = (column: PrinterColumn): object => ({
  name: column.name,
  type: column.type,
  format: column.format ?? "",
  description: column.description || describePath(column),
  priority: column.priority ?? 0,
});

const describePath = ({ value }: PrinterColumn): string =>
  typeof value === "string" ? `Custom resource definition column (in JSONPath format): ${value}` : "";

function cell(column: PrinterColumn, object: KubeObject, nowAt: number): unknown {
  if (column === nameColumn) return object.metadata.name;
  if (typeof column.value === "function") return column.value(object, nowAt) ?? (column.type === "string" ? "" : null);
  const [value] = evaluateJsonPath(column.value, object);
  return value === undefined || value === null ? null : typedCell(column, value, nowAt);
}

function typedCell(column: PrinterColumn, value: unknown, nowAt: number): unknown {
  switch (column.type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      if (typeof value !== "string") return null;
      return Number.isNaN(Date.parse(value)) ? "<invalid>" : humanAge(value, nowAt);
    case "string":
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}
