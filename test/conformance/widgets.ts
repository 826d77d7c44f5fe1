import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { KindOptions } from "./manifests.ts";
import type { World } from "./world.ts";

/** A kind with a bit of everything that a structural schema can say; shared by all behaviours that need such a one. */
const spec = {
  type: "object",
  required: ["owner"],
  properties: {
    owner: { type: "string", minLength: 1, maxLength: 10, pattern: "^[a-z]+$" },
    replicas: { type: "integer", minimum: 0, maximum: 10, default: 1 },
    size: { type: "string", enum: ["small", "large"], default: "small" },
    ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    enabled: { type: "boolean" },
    note: { type: "string", nullable: true },
    port: { "x-kubernetes-int-or-string": true },
    startAt: { type: "string", format: "date-time" },
    tags: { type: "array", maxItems: 3, items: { type: "string" }, "x-kubernetes-list-type": "set" },
    rules: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, weight: { type: "integer", default: 5 } },
      },
    },
    settings: { type: "object", minProperties: 1, additionalProperties: { type: "string", maxLength: 5 } },
    nested: {
      type: "object",
      default: {},
      properties: { level: { type: "integer", default: 3 }, name: { type: "string" } },
    },
    open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    template: { type: "object", "x-kubernetes-embedded-resource": true, properties: { extra: { type: "string" } } },
    choice: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
  },
};

const status = {
  type: "object",
  properties: {
    phase: { type: "string" },
    count: { type: "integer", minimum: 0 },
    conditions: {
      type: "array",
      items: { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } },
    },
  },
};

const options: KindOptions = {
  schema: { type: "object", required: ["spec"], properties: { spec, status } },
  hasStatus: true,
  names: { shortNames: ["wg"], categories: ["conformance"], singular: "widget" },
  version: {
    additionalPrinterColumns: [
      { name: "Owner", type: "string", jsonPath: ".spec.owner" },
      { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Size", type: "string", jsonPath: ".spec.size", priority: 1 },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
};

export const widgets = (world: World): Promise<ResourceType> => world.sharedKind("widgets", options);

export interface WidgetFields {
  readonly name?: string;
  readonly spec?: unknown;
  readonly [field: string]: unknown;
}

/** Makes a Widget in the behaviour's namespace; `spec` is completed with an owner unless it has one. */
export async function makeWidget(world: World, fields: WidgetFields = {}): Promise<KubeObject> {
  const type = await widgets(world);
  return world.kube.create(type, await widgetDraft(world, fields));
}

export async function widgetDraft(world: World, fields: WidgetFields = {}): Promise<KubeObject> {
  const type = await widgets(world);
  const { name = "a", spec: given, ...rest } = fields;
  const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
  return {
    apiVersion: `${type.group}/v1`,
    kind: type.kind,
    metadata: { namespace: await world.namespace(), name },
    spec: given === undefined || isMap ? { owner: "team", ...(given as object | undefined) } : given,
    ...rest,
  };
}
