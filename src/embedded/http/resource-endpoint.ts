import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { ObjectRef } from "../../kube/objects.ts";
import { isObject, type Json } from "../json.ts";
import type { DeleteRequest, ObjectApi, PatchRequest, WriteContext, Written } from "../object-api.ts";
import { notFound } from "../refusals.ts";
import type { ResourceDefinition } from "../registry.ts";
import { findDuplicateKeys } from "../schema/duplicate-keys.ts";
import { badRequest, StatusError } from "../status-error.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { negotiate, objectOffer, streamOffer } from "./negotiate.ts";
import { type AnswerContext, answerDeleted, answerList, answerObject, eventEncoder } from "./object-answers.ts";
import {
  booleanParameter,
  deleteRequest,
  listParameters,
  type WatchParameters,
  type WriteParameters,
  writeContext,
} from "./parameters.ts";
import { bodyText, contentTypeOf, type DecodedBody, decodeJson, decodeObjectBody, decodeYaml } from "./request-body.ts";
import { methodNotAllowed, notImplemented, notServed, warningHeaders } from "./responses.ts";
import type { ResourceRoute } from "./route.ts";
import { readScale, writeScale } from "./scale-subresource.ts";
import { errorStream, watchStream } from "./watch-stream.ts";

/** What the verbs on objects need from the server. */
export interface EndpointServices {
  readonly objects: ObjectApi;
  readonly clock: Clock;
  readonly random: Random;
}

/** A request for a kind that is served. */
export interface ResourceCall {
  readonly services: EndpointServices;
  readonly request: ApiRequest;
  readonly definition: ResourceDefinition;
  readonly route: ResourceRoute;
}

/** Parts of the API that need a kubelet, an authority or a stream both ways. */
const UNSUPPORTED_SUBRESOURCES = new Set([
  "attach",
  "binding",
  "ephemeralcontainers",
  "eviction",
  "exec",
  "log",
  "portforward",
  "proxy",
  "resize",
  "token",
  "approval",
]);

/** When a watch does not say how long it wants to last, as the real server: between half an hour and an hour. */
const DEFAULT_WATCH_MS = 1_800_000;

export function serveResource(call: ResourceCall): ApiResponse {
  const { definition, route } = call;
  const { namespace, name, subresource } = route;
  if (namespace !== undefined && !definition.namespaced) throw notServed();
  if (name === undefined) return serveCollection(call);
  if (definition.namespaced && namespace === undefined) throw notServed();
  if (name === "" || route.rest.length > 0) throw subresourceRefusal(call);
  const ref: ObjectRef = { ...(namespace !== undefined && { namespace }), name };
  return subresource === undefined ? serveObject(call, ref) : serveSubresource(call, ref, subresource);
}

function subresourceRefusal(call: ResourceCall): StatusError {
  const { name, subresource, rest } = call.route;
  if (call.definition.custom) return name && rest.length === 0 ? notFound(call.definition, name) : notServed();
  if (subresource !== undefined && UNSUPPORTED_SUBRESOURCES.has(subresource)) {
    return notImplemented(`${call.definition.plural}/${subresource}`);
  }
  return notServed();
}

function serveCollection(call: ResourceCall): ApiResponse {
  const { definition, route, request } = call;
  const isWhole = !definition.namespaced || route.namespace !== undefined;
  switch (request.method) {
    case "GET":
      return listOrWatch(call);
    case "POST":
      if (!isWhole) throw methodNotAllowed();
      return create(call);
    case "DELETE":
      if (!isWhole) throw methodNotAllowed();
      return deleteCollection(call);
    default:
      throw methodNotAllowed();
  }
}

function serveObject(call: ResourceCall, ref: ObjectRef): ApiResponse {
  switch (call.request.method) {
    case "GET":
      return get(call, ref);
    case "PUT":
      return update(call, ref, undefined);
    case "PATCH":
      return patch(call, ref, undefined);
    case "DELETE":
      return remove(call, ref);
    default:
      throw methodNotAllowed();
  }
}

function serveSubresource(call: ResourceCall, ref: ObjectRef, subresource: string): ApiResponse {
  if (!call.definition.subresources.has(subresource)) throw subresourceRefusal(call);
  if (subresource === "scale") return serveScale(call, ref);
  switch (call.request.method) {
    case "GET":
      return get(call, ref);
    case "PUT":
      return update(call, ref, subresource);
    case "PATCH":
      return patch(call, ref, subresource);
    default:
      throw methodNotAllowed();
  }
}

function listOrWatch(call: ResourceCall): ApiResponse {
  const { services, definition, request, route } = call;
  const parameters = listParameters(request.query, route.namespace);
  if (parameters.watch) {
    allow(call, "watch");
    return watch(call, parameters.watch);
  }
  allow(call, "list");
  const context = answerContext(call);
  return answerList(context, services.objects.list(definition, parameters.list));
}

function watch(call: ResourceCall, parameters: WatchParameters): ApiResponse {
  const { services, definition, request } = call;
  const { clock, random } = services;
  const representation = negotiate(request, streamOffer);
  const encoder = eventEncoder({ definition, representation, query: request.query }, () => clock.now());
  const timeoutMs =
    parameters.timeoutSeconds === undefined ? DEFAULT_WATCH_MS * (1 + random.next()) : parameters.timeoutSeconds * 1000;
  const headers = { "content-type": "application/json", "cache-control": "no-cache, private" };
  try {
    const feed = services.objects.watch(definition, parameters.query);
    const { allowBookmarks, markInitialEventsEnd } = parameters;
    const { signal } = request;
    const body = watchStream({ feed, clock, random, signal, timeoutMs, allowBookmarks, markInitialEventsEnd, encoder });
    return { status: 200, headers, body };
  } catch (error) {
    if (error instanceof StatusError && error.status === 410) return { status: 200, headers, body: errorStream(error) };
    throw error;
  }
}

function get(call: ResourceCall, ref: ObjectRef): ApiResponse {
  allow(call, "get");
  const context = answerContext(call);
  const notOlderThan = call.request.query.get("resourceVersion") ?? "";
  return answerObject(context, call.services.objects.get(call.definition, ref, notOlderThan), 200);
}

function create(call: ResourceCall): ApiResponse {
  allow(call, "create");
  const { services, definition, request, route } = call;
  const answer = answerContext(call);
  const body = decodeObjectBody(request, definition.kind);
  const context = contextFor(request, { kind: "CreateOptions" }, body);
  const written = services.objects.create(definition, route.namespace, body.value, context);
  return answerWritten(answer, { ...written, created: true });
}

function update(call: ResourceCall, ref: ObjectRef, subresource: string | undefined): ApiResponse {
  allow(call, "update");
  const { services, definition, request } = call;
  const answer = answerContext(call);
  const body = decodeObjectBody(request, definition.kind);
  const context = contextFor(request, { kind: "UpdateOptions", ...(subresource && { subresource }) }, body);
  return answerWritten(answer, services.objects.update(definition, ref, body.value, context));
}

function patch(call: ResourceCall, ref: ObjectRef, subresource: string | undefined): ApiResponse {
  allow(call, "patch");
  const { services, definition, request } = call;
  const type = patchType(request, definition);
  const answer = answerContext(call);
  const write: WriteParameters = {
    kind: "PatchOptions",
    isApply: type === "apply",
    ...(subresource && { subresource }),
  };
  writeContext(request, write);
  const body = decodePatch(request, type);
  const context = contextFor(request, write, body);
  return answerWritten(
    answer,
    services.objects.patch(definition, ref, patchRequest(type, body.value, request), context),
  );
}

const patchRequest = (type: PatchRequest["type"], body: Json, request: ApiRequest): PatchRequest =>
  type === "apply" ? { type, body, force: booleanParameter(request.query, "force") } : { type, body };

function patchType(request: ApiRequest, definition: ResourceDefinition): PatchRequest["type"] {
  switch (contentTypeOf(request)) {
    case "application/json-patch+json":
      return "json";
    case "application/merge-patch+json":
      return "merge";
    case "application/strategic-merge-patch+json":
      if (!definition.custom) return "strategic";
      break;
    case "application/apply-patch+yaml":
      return "apply";
  }
  const types = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
  const supported = definition.custom ? types : [...types, "application/strategic-merge-patch+json"];
  throw new StatusError(415, "UnsupportedMediaType", `${unsupportedPatch}${supported.join(", ")}`);
}

const unsupportedPatch = "the body of the request was in an unknown format - accepted media types include: ";

function decodePatch(request: ApiRequest, type: PatchRequest["type"]): DecodedBody {
  const text = bodyText(request);
  if (type === "apply") return decodeYaml(text, (detail) => badRequest(`error decoding YAML: ${detail}`));
  const body = decodeJson(text, (detail) => badRequest(`error decoding patch: ${detail}`));
  const isRightShape = type === "json" ? Array.isArray(body.value) : isObject(body.value);
  if (!isRightShape) {
    throw badRequest(`error decoding patch: it must be a JSON ${type === "json" ? "array of operations" : "object"}`);
  }
  return body;
}

function remove(call: ResourceCall, ref: ObjectRef): ApiResponse {
  allow(call, "delete");
  const { services, definition, request } = call;
  const answer = answerContext(call);
  const options = deleteRequest(request.query, deleteOptionsBody(request));
  return answerDeleted(answer, services.objects.delete(definition, ref, options));
}

function deleteCollection(call: ResourceCall): ApiResponse {
  allow(call, "deletecollection");
  const { services, definition, request, route } = call;
  const answer = answerContext(call);
  const options = deleteRequest(request.query, deleteOptionsBody(request));
  const list = services.objects.list(definition, listParameters(request.query, route.namespace).list);
  for (const { metadata } of list.items) {
    const ref = { name: metadata.name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
    deleteIfThere(call, ref, options);
  }
  return answerList(answer, list);
}

/** An object that went together with another one before its turn is as good as deleted. */
function deleteIfThere(call: ResourceCall, ref: ObjectRef, options: DeleteRequest): void {
  try {
    call.services.objects.delete(call.definition, ref, options);
  } catch (error) {
    if (!(error instanceof StatusError && error.status === 404)) throw error;
  }
}

function deleteOptionsBody(request: ApiRequest): Json | undefined {
  return request.body === undefined || request.body.length === 0
    ? undefined
    : decodeObjectBody(request, "DeleteOptions").value;
}

function serveScale(call: ResourceCall, ref: ObjectRef): ApiResponse {
  const { services, definition, request } = call;
  const representation = negotiate(request, objectOffer);
  const target = { objects: services.objects, definition, ref, representation };
  switch (request.method) {
    case "GET":
      return readScale(target);
    case "PUT": {
      const body = decodeObjectBody(request, "Scale");
      const context = contextFor(request, { kind: "UpdateOptions", subresource: "scale" }, body);
      return writeScale(target, { type: "replace", body: body.value }, context);
    }
    case "PATCH": {
      const type = patchType(request, definition);
      const write: WriteParameters = { kind: "PatchOptions", isApply: type === "apply", subresource: "scale" };
      const body = decodePatch(request, type);
      const context = contextFor(request, write, body);
      const change = patchRequest(type, body.value, request);
      return writeScale(target, change, context);
    }
    default:
      throw methodNotAllowed();
  }
}

function contextFor(request: ApiRequest, write: WriteParameters, body: DecodedBody): WriteContext {
  const wantsToHear = request.query.get("fieldValidation") !== "Ignore";
  const duplicates = wantsToHear && body.jsonText !== undefined ? findDuplicateKeys(body.jsonText) : [];
  return writeContext(request, { ...write, decodeWarnings: [...body.warnings, ...duplicates] });
}

const answerWritten = (answer: AnswerContext, written: Written): ApiResponse =>
  answerObject(answer, written.object, written.created ? 201 : 200, warningHeaders(written.warnings));

function allow(call: ResourceCall, verb: string): void {
  if (!call.definition.verbs.includes(verb)) throw methodNotAllowed();
}

function answerContext(call: ResourceCall): AnswerContext {
  const { definition, request, services } = call;
  return {
    definition,
    representation: negotiate(request, objectOffer),
    query: request.query,
    nowAt: services.clock.now(),
  };
}
