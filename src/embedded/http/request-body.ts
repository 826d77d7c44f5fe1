import { LineCounter, parseDocument, visit } from "yaml";
import { isObject, type Json } from "../json.ts";
import { badRequest, StatusError } from "../status-error.ts";
import type { ApiRequest } from "./exchange.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { ProtobufError } from "./protobuf-reader.ts";

/**
 * From bytes to JSON values, with the limits that keep a hostile body cheap. Must not: quote the body in an error,
 * because bodies hold key material (the real server does; here only the position is told).
 */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Deep enough for any object, shallow enough for every recursive walk that follows. */
const MAX_DEPTH = 500;
/** Bounds what YAML aliases can expand to. */
const MAX_ALIASES = 100;

const PROTOBUF = "application/vnd.kubernetes.protobuf";

export interface DecodedBody {
  readonly value: Json;
  /** The text, where it was JSON: duplicate fields can only be found in it. */
  readonly jsonText: string | undefined;
  /** What strict decoding complains about in YAML. */
  readonly warnings: readonly string[];
}

/** The request, once its body is known to be within the limit. */
function sized(request: ApiRequest): ApiRequest {
  const { body = "" } = request;
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  if (size > MAX_BODY_BYTES) throw tooLarge();
  return request;
}

export function bodyText(request: ApiRequest): string {
  const { body = "" } = sized(request);
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

export const tooLarge = (): StatusError =>
  new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY_BYTES}`);

export const contentTypeOf = (request: ApiRequest): string =>
  (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** An object in JSON or YAML by its content type; no content type means JSON. */
export function decodeObjectBody(request: ApiRequest, kind: string): DecodedBody {
  const contentType = contentTypeOf(request);
  const unrecognized = (detail: string): StatusError =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${detail}`);
  if (contentType === PROTOBUF) return decodeBinary(sized(request), unrecognized);
  const text = bodyText(request);
  if (contentType === "" || contentType === "application/json") {
    return decodeJson(text, (detail) => unrecognized(`json parse error: ${detail}`));
  }
  if (contentType === "application/yaml") return decodeYaml(text, unrecognized);
  throw unsupportedMediaType();
}

/** Protobuf has neither unknown nor duplicate fields to complain about, and its depth is bounded by its own messages. */
function decodeBinary(request: ApiRequest, refuse: (detail: string) => StatusError): DecodedBody {
  const { body = "" } = request;
  try {
    const value = decodeProtobuf(typeof body === "string" ? Buffer.from(body, "latin1") : body);
    checkShape(value, undefined, refuse);
    return { value, jsonText: undefined, warnings: [] };
  } catch (error) {
    if (error instanceof ProtobufError) throw refuse(`protobuf: ${error.message}`);
    throw error;
  }
}

const unsupportedMediaType = (): StatusError =>
  new StatusError(
    415,
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: " +
      `application/json, application/yaml, ${PROTOBUF}`,
  );

export function decodeJson(text: string, refuse: (detail: string) => StatusError): DecodedBody {
  if (text === "") throw refuse("unexpected end of JSON input");
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(jsonProblem(error));
  }
  checkShape(value, text, refuse);
  return { value, jsonText: text, warnings: [] };
}

/** What is wrong, and where if that is known; the engine's own message quotes the text. */
function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("end of JSON input")) return "unexpected end of JSON input";
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? "invalid JSON" : `invalid JSON at position ${position}`;
}

/** YAML as Kubernetes reads it (1.1 words for booleans, time stamps left as text); JSON is YAML and is read faster. */
export function decodeYaml(text: string, refuse: (detail: string) => StatusError): DecodedBody {
  if (text.trimStart().startsWith("{")) {
    try {
      return decodeJson(text, refuse);
    } catch {
      // Flow style that is not JSON: read on as YAML.
    }
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "yaml-1.1",
    customTags: (tags) => tags.filter((tag) => typeof tag === "string" || !NOT_JSON_TAGS.has(tag.tag)),
    uniqueKeys: false,
    merge: true,
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "silent",
  });
  const [problem] = document.errors;
  if (problem) {
    const { line } = lines.linePos(problem.pos[0]);
    throw refuse(
      `error converting YAML to JSON: yaml: line ${line}: ${problem.code.toLowerCase().replaceAll("_", " ")}`,
    );
  }
  let value: Json;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw refuse("error converting YAML to JSON: yaml: document contains excessive aliasing");
  }
  if (value === undefined) value = null;
  checkShape(value, text, refuse);
  return { value, jsonText: undefined, warnings: duplicateYamlKeys(document, lines) };
}

/** Tags whose values JSON cannot hold. */
const NOT_JSON_TAGS = new Set([
  "tag:yaml.org,2002:timestamp",
  "tag:yaml.org,2002:binary",
  "tag:yaml.org,2002:set",
  "tag:yaml.org,2002:omap",
  "tag:yaml.org,2002:pairs",
]);

function duplicateYamlKeys(document: ReturnType<typeof parseDocument>, lines: LineCounter): readonly string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = keyName(key);
        if (name === undefined) continue;
        if (seen.has(name.text))
          found.push(`line ${lines.linePos(name.at).line}: key ${JSON.stringify(name.text)} already set in map`);
        seen.add(name.text);
      }
    },
  });
  return found;
}

function keyName(key: unknown): { readonly text: string; readonly at: number } | undefined {
  if (typeof key !== "object" || key === null || !("value" in key)) return undefined;
  const range = "range" in key && Array.isArray(key.range) ? key.range : [0];
  return { text: String(key.value), at: typeof range[0] === "number" ? range[0] : 0 };
}

/**
 * Refuses what later walks could not bear: nesting beyond their stack, and the key that would reach an object's
 * prototype. Only bodies that could hold either are walked.
 */
function checkShape(value: Json, text: string | undefined, refuse: (detail: string) => StatusError): void {
  const mayBeDeep = text === undefined || text.length > MAX_DEPTH;
  const mayNamePrototype = text === undefined || text.includes("__proto__") || /\\u005f/i.test(text);
  if (!mayBeDeep && !mayNamePrototype) return;
  const pending: { readonly node: Json; readonly depth: number }[] = [{ node: value, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next;
    if (typeof node !== "object" || node === null) continue;
    if (depth > MAX_DEPTH) throw refuse("exceeded max depth");
    if (mayNamePrototype && isObject(node) && Object.hasOwn(node, "__proto__")) {
      throw refuse('the key "__proto__" is not supported');
    }
    for (const child of Object.values(node)) {
      if (typeof child === "object" && child !== null) pending.push({ node: child, depth: depth + 1 });
    }
  }
}
