import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, jsonOf } from "../json.ts";
import type { PatchRequest } from "../object-api.ts";
import type { ResourceDefinition } from "../registry.ts";
import { badRequest, StatusError } from "../status-error.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

type Change = Exclude<PatchRequest, { type: "apply" }>;

/** The body that a patch turns an object into: what a client would have had to send as a whole. */
export function patchedBody(definition: ResourceDefinition, object: KubeObject, patch: Change): Json {
  const target = jsonOf(object);
  if (patch.type === "json") return applyJsonPatch(target, patch.body);
  if (!isObject(patch.body)) throw badRequest("error decoding patch: a merge patch must be a JSON object");
  if (patch.type === "merge") return applyMergePatch(target, patch.body);
  if (definition.custom) {
    throw new StatusError(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
  }
  const patched = applyStrategicMergePatch(target, patch.body, definition.schema, definition.definitions);
  // Unlike the other two, this one cannot make an object of another type.
  return isObject(patched) ? { ...patched, apiVersion: object.apiVersion, kind: object.kind } : patched;
}
