import type { ObjectRef } from "../../kube/objects.ts";
import { isObject, type Json } from "../json.ts";
import { checkScalable, scaleOf, withScale } from "../kinds/scale.ts";
import type { ObjectApi, PatchRequest, WriteContext } from "../object-api.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalid } from "../status-error.ts";
import type { ApiResponse } from "./exchange.ts";
import type { Representation } from "./negotiate.ts";
import { notImplemented, respond, warningHeaders } from "./responses.ts";

/** Reads and writes a workload through its Scale. */
export interface ScaleTarget {
  readonly objects: ObjectApi;
  readonly definition: ResourceDefinition;
  readonly ref: ObjectRef;
  readonly representation: Representation;
}

/** A whole Scale (PUT), or a change to it (PATCH). */
export type ScaleChange = { readonly type: "replace"; readonly body: Json } | PatchRequest;

export function readScale(target: ScaleTarget): ApiResponse {
  const { objects, definition, ref, representation } = target;
  const object = objects.get(definition, ref);
  checkScalable(definition, object);
  return respond(200, scaleOf(definition, object), representation);
}

export function writeScale(target: ScaleTarget, change: ScaleChange, context: WriteContext): ApiResponse {
  const { objects, definition, ref, representation } = target;
  const live = objects.get(definition, ref);
  const changed = withScale(definition, live, scaleAfter(target, change));
  if (changed.errors.length > 0) throw invalid({ group: "autoscaling", kind: "Scale" }, ref.name, changed.errors);
  const { decodeWarnings: _, ...plainContext } = context;
  const written = objects.update(definition, ref, changed.object as Json, plainContext);
  return respond(200, scaleOf(definition, written.object), representation, warningHeaders(written.warnings));
}

function scaleAfter(target: ScaleTarget, change: ScaleChange): Json {
  if (change.type === "replace") return change.body;
  const scale = scaleOf(target.definition, target.objects.get(target.definition, target.ref)) as Json;
  if (change.type === "json") return applyJsonPatch(scale, change.body);
  if (change.type === "apply") throw notImplemented("server-side apply to a scale subresource");
  return isObject(change.body) ? applyMergePatch(scale, change.body) : scale;
}
