import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ResourceDefinition, ScalePaths } from "../registry.ts";
import { invalidValue } from "../schema/field-errors.ts";
import { badRequest, type FieldError, StatusError } from "../status-error.ts";
import { asObject, asText } from "./json-fields.ts";
import { serializeLabelSelector } from "./label-selector.ts";

/** The scale subresource: an autoscaling/v1 Scale as a view of another object. Pure. Must not: read or write storage. */
export const SCALE_PATHS: ScalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

/** What a custom object must keep to so that it can be shown as a Scale. */
export function scaleErrors(object: KubeObject, paths: ScalePaths | undefined): readonly FieldError[] {
  if (!paths) return [];
  return [paths.specReplicasPath, paths.statusReplicasPath].flatMap((path) => {
    const replicas = valueAt(object, path);
    const isWrong = typeof replicas === "number" && replicas < 0;
    return isWrong ? [invalidValue(path, replicas, "should be a non-negative integer")] : [];
  });
}

/** A custom object that says nothing of replicas has no Scale to read. */
export function checkScalable({ custom, scale }: ResourceDefinition, object: KubeObject): void {
  if (!custom || !scale || valueAt(object, scale.specReplicasPath) !== undefined) return;
  const message = `the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`;
  throw new StatusError(500, "InternalError", `Internal error occurred: ${message}`);
}

export function scaleOf(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const paths = definition.scale ?? SCALE_PATHS;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath);
  const text = typeof selector === "string" ? selector : selector === undefined ? "" : serializeLabelSelector(selector);
  const replicas = numberAt(object, paths.specReplicasPath);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, paths.statusReplicasPath), ...(text !== "" && { selector: text }) },
  };
}

/** The object with the replicas of a written Scale. Names the mistakes of the Scale itself in `errors`. */
export function withScale(
  definition: ResourceDefinition,
  object: KubeObject,
  scale: Json,
): { readonly object: KubeObject; readonly errors: readonly FieldError[] } {
  const written = asObject(scale);
  if (written.kind !== undefined && written.kind !== "Scale") {
    throw badRequest(`a Scale is expected for the scale of ${definition.plural}.${apiVersionOf(definition)}`);
  }
  const replicas = asObject(written.spec).replicas ?? 0;
  const errors: FieldError[] = [];
  if (typeof replicas !== "number" || (replicas < 0 && !definition.custom)) {
    errors.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  const paths = definition.scale ?? SCALE_PATHS;
  const resourceVersion = asText(asObject(written.metadata).resourceVersion);
  const changed = setAt(object, partsOf(paths.specReplicasPath), replicas) as KubeObject;
  const metadata = { ...changed.metadata, ...(resourceVersion !== "" && { resourceVersion }) };
  return { object: { ...changed, metadata }, errors };
}

const partsOf = (path: string): string[] => path.split(".").filter((part) => part !== "");

function valueAt(object: KubeObject, path: string): unknown {
  return partsOf(path).reduce<unknown>((value, part) => asObject(value)[part], object);
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}

function setAt(object: unknown, parts: readonly string[], value: Json): JsonObject {
  const [first = "", ...rest] = parts;
  const fields = asObject(object);
  return { ...fields, [first]: rest.length === 0 ? value : setAt(fields[first], rest, value) };
}
