import type { KubeObject } from "../../kube/objects.ts";
import type { PrinterColumn } from "../registry.ts";
import { humanAge } from "./human-duration.ts";
import { asObject, asObjects, asText } from "./json-fields.ts";
import { formatLabelSelector } from "./label-selector.ts";

/** Columns that many kinds share, as `kubectl get` shows them. Must not: hold what only one kind prints. */
type Cell = (object: KubeObject, nowAt: number) => unknown;

interface ColumnOptions {
  readonly type?: PrinterColumn["type"];
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
}

export function column(name: string, value: Cell, options: ColumnOptions = {}): PrinterColumn {
  return { name, type: options.type ?? "string", value, priority: options.wide ? 1 : 0 };
}

export const nameColumn: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  priority: 0,
  value: (object) => object.metadata.name,
};

export const ageColumn = column("Age", (object, nowAt) => humanAge(object.metadata.creationTimestamp, nowAt));

/** A number under `status` or another path of fields; absent reads as 0. */
export const countColumn = (name: string, ...path: readonly string[]): PrinterColumn =>
  column(name, (object) => countAt(object, path), { type: "integer" });

export function countAt(object: KubeObject, path: readonly string[]): number {
  let value: unknown = object;
  for (const key of path) value = asObject(value)[key];
  return typeof value === "number" ? value : 0;
}

export const templateOf = (object: KubeObject): unknown => asObject(asObject(object.spec).template).spec;

/** Containers, Images and, unless it is left out, Selector: the wide columns of workloads. */
export function workloadColumns(
  podSpecOf: (object: KubeObject) => unknown,
  selectorOf?: (object: KubeObject) => unknown,
): readonly PrinterColumn[] {
  const join = (object: KubeObject, field: string): string =>
    asObjects(asObject(podSpecOf(object)).containers)
      .map((container) => asText(container[field]))
      .join(",");
  const columns = [
    column("Containers", (object) => join(object, "name"), { wide: true }),
    column("Images", (object) => join(object, "image"), { wide: true }),
  ];
  if (!selectorOf) return columns;
  return [...columns, column("Selector", (object) => formatLabelSelector(selectorOf(object)), { wide: true })];
}

export const formatLabels = (labels: unknown): string => {
  const entries = Object.entries(asObject(labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? "<none>" : entries.map(([key, value]) => `${key}=${value}`).join(",");
};
