import { isObject, type Json } from "../json.ts";
import type { DeleteRequest, ListQuery, WatchQuery, WriteContext } from "../object-api.ts";
import { labelSelector } from "../selectors.ts";
import { badRequest, type FieldError, invalid } from "../status-error.ts";
import type { ApiRequest } from "./exchange.ts";

/** Reads and checks what a request says in its query, with the real server's words where it is wrong. */
const META_GROUP = "meta.k8s.io";
const MAX_FIELD_MANAGER_BYTES = 128;

export interface ListParameters {
  readonly list: ListQuery;
  readonly watch: WatchParameters | undefined;
}

export interface WatchParameters {
  readonly query: WatchQuery;
  readonly timeoutSeconds: number | undefined;
  readonly allowBookmarks: boolean;
  /** The client asked for the bookmark that ends the initial events. */
  readonly markInitialEventsEnd: boolean;
}

/** For list, watch and deletecollection. `namespace` comes from the path. */
export function listParameters(query: URLSearchParams, namespace: string | undefined): ListParameters {
  const isWatch = booleanParameter(query, "watch");
  const limit = integerParameter(query, "limit");
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  // What cannot even be read is told before what does not go together.
  labelSelector(query.get("labelSelector") ?? undefined);
  const errors = isWatch ? watchErrors(query) : listErrors(query);
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind: "ListOptions" }, "", errors);
  const selection = {
    ...(namespace !== undefined && { namespace }),
    ...text(query, "labelSelector"),
    ...text(query, "fieldSelector"),
    ...text(query, "resourceVersion"),
  };
  const list = {
    ...selection,
    ...(limit !== undefined && limit > 0 && { limit }),
    ...text(query, "continue"),
    ...text(query, "resourceVersionMatch"),
  };
  if (!isWatch) return { list, watch: undefined };
  const allowBookmarks = booleanParameter(query, "allowWatchBookmarks");
  const sendInitialEvents = query.has("sendInitialEvents") ? booleanParameter(query, "sendInitialEvents") : undefined;
  return {
    list,
    watch: {
      query: { ...selection, ...(sendInitialEvents !== undefined && { sendInitialEvents }) },
      timeoutSeconds: timeoutSeconds !== undefined && timeoutSeconds > 0 ? timeoutSeconds : undefined,
      allowBookmarks,
      markInitialEventsEnd: allowBookmarks && (sendInitialEvents ?? startsWithState(query)),
    },
  };
}

/** The real server treats a watch from nowhere as a WatchList: with bookmarks allowed, the end of the state is marked. */
function startsWithState(query: URLSearchParams): boolean {
  const resourceVersion = query.get("resourceVersion") ?? "";
  return resourceVersion === "" || resourceVersion === "0";
}

function listErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = [];
  const match = query.get("resourceVersionMatch") ?? "";
  const resourceVersion = query.get("resourceVersion") ?? "";
  if (match !== "") {
    if (resourceVersion === "") {
      errors.push(
        forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    }
    if (query.get("continue")) {
      errors.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported("resourceVersionMatch", quote(match), ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && resourceVersion === "0") {
      const detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
      errors.push(forbidden("resourceVersionMatch", detail));
    }
  }
  if (query.has("sendInitialEvents")) {
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function watchErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = [];
  const match = query.get("resourceVersionMatch") ?? "";
  const field = "resourceVersionMatch";
  if (query.has("sendInitialEvents") && match !== "NotOlderThan") {
    errors.push(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (!query.has("sendInitialEvents")) {
      errors.push(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") errors.push(notSupported(field, quote(match), ["NotOlderThan"]));
    if (query.get("continue")) {
      errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
    }
  }
  return errors;
}

/** Which write this is: decides the name of the options in an error. */
type WriteKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

export interface WriteParameters {
  readonly kind: WriteKind;
  readonly isApply?: boolean;
  readonly subresource?: string;
  readonly decodeWarnings?: readonly string[];
}

export function writeContext(request: ApiRequest, write: WriteParameters): WriteContext {
  const { query } = request;
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = writeErrors(query, write);
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind: write.kind }, "", errors);
  return {
    fieldManager: fieldManager === "" ? managerFromUserAgent(request.headers["user-agent"] ?? "") : fieldManager,
    ...(write.subresource !== undefined && { subresource: write.subresource }),
    ...(query.has("dryRun") && { dryRun: true }),
    ...(isFieldValidation(fieldValidation) && { fieldValidation }),
    ...(write.decodeWarnings && write.decodeWarnings.length > 0 && { decodeWarnings: write.decodeWarnings }),
  };
}

function writeErrors(query: URLSearchParams, write: WriteParameters): readonly FieldError[] {
  const errors: FieldError[] = [];
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  if (write.isApply && fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (write.kind === "PatchOptions" && !write.isApply && query.has("force")) {
    errors.push(forbidden("force", "may not be specified for non-apply patch"));
  }
  errors.push(...fieldManagerErrors(fieldManager), ...dryRunErrors(query.getAll("dryRun")));
  if (fieldValidation !== "" && !isFieldValidation(fieldValidation)) {
    errors.push(notSupported("fieldValidation", quote(fieldValidation), ["", "Ignore", "Strict", "Warn"]));
  }
  return errors;
}

const isFieldValidation = (text: string): text is "Ignore" | "Warn" | "Strict" =>
  text === "Ignore" || text === "Warn" || text === "Strict";

/** The part of a User-Agent before its first slash, printable characters only: `kubectl/v1.36` → `kubectl`. */
export function managerFromUserAgent(userAgent: string): string {
  let manager = "";
  let bytes = 0;
  for (const character of userAgent.split("/", 1)[0] ?? "") {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_FIELD_MANAGER_BYTES) break;
    manager += character;
  }
  return manager === "" ? "unknown" : manager;
}

function fieldManagerErrors(fieldManager: string): readonly FieldError[] {
  if (Buffer.byteLength(fieldManager) > MAX_FIELD_MANAGER_BYTES) {
    const message = `Too long: may not be more than ${MAX_FIELD_MANAGER_BYTES} bytes`;
    return [{ reason: "FieldValueTooLong", message, field: "fieldManager" }];
  }
  const errors: FieldError[] = [];
  let position = 0;
  for (const character of fieldManager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const message = `Invalid value: ${quote(fieldManager)}: invalid character U+${code} (at position ${position})`;
      errors.push({ reason: "FieldValueInvalid", message, field: "fieldManager" });
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

const isPrintable = (character: string): boolean => character === " " || !/[\p{C}\p{Z}]/u.test(character);

function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  if (values.every((value) => value === "All")) return [];
  return [notSupported("dryRun", `[${values.map(quote).join(",")}]`, ["All"])];
}

/** DeleteOptions from the body if there is one, else from the query, never from both: as the real server. */
export function deleteRequest(query: URLSearchParams, body: Json | undefined): DeleteRequest {
  const options = body === undefined ? deleteOptionsFromQuery(query) : deleteOptionsFromBody(body);
  const errors = [...dryRunErrors(options.dryRun)];
  const { propagationPolicy: policy, orphanDependents } = options;
  if (policy !== undefined && orphanDependents !== undefined) {
    const message = `Invalid value: ${quote(policy)}: orphanDependents and deletionPropagation cannot be both set`;
    errors.unshift({ reason: "FieldValueInvalid", message, field: "propagationPolicy" });
  }
  if (policy !== undefined && !isPropagationPolicy(policy)) {
    errors.push(notSupported("propagationPolicy", quote(policy), ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind: "DeleteOptions" }, "", errors);
  const legacyPolicy = orphanDependents ? "Orphan" : "Background";
  return {
    ...(options.uid !== undefined && { uid: options.uid }),
    ...(options.resourceVersion !== undefined && { resourceVersion: options.resourceVersion }),
    ...(policy !== undefined && isPropagationPolicy(policy) && { propagationPolicy: policy }),
    ...(orphanDependents !== undefined && { propagationPolicy: legacyPolicy }),
    ...(options.gracePeriodSeconds !== undefined && { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.dryRun.length > 0 && { dryRun: true }),
  };
}

const isPropagationPolicy = (text: string): text is "Background" | "Foreground" | "Orphan" =>
  text === "Background" || text === "Foreground" || text === "Orphan";

interface DeleteOptionsValues {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly dryRun: readonly string[];
}

function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptionsValues {
  const gracePeriodSeconds = integerParameter(query, "gracePeriodSeconds");
  return {
    ...text(query, "propagationPolicy"),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(query.has("orphanDependents") && { orphanDependents: booleanParameter(query, "orphanDependents") }),
    dryRun: query.getAll("dryRun"),
  };
}

function deleteOptionsFromBody(body: Json): DeleteOptionsValues {
  if (!isObject(body)) throw badRequest("decoded object cannot be converted to DeleteOptions");
  if (body.kind !== undefined && body.kind !== "DeleteOptions") {
    throw badRequest("decoded object cannot be converted to DeleteOptions");
  }
  const preconditions = body.preconditions ?? {};
  const dryRun = body.dryRun ?? [];
  if (!isObject(preconditions)) throw wrongDeleteOption("preconditions", "an object");
  if (!Array.isArray(dryRun)) throw wrongDeleteOption("dryRun", "a list");
  return {
    ...typed(preconditions, "uid", isString, "a string"),
    ...typed(preconditions, "resourceVersion", isString, "a string"),
    ...typed(body, "propagationPolicy", isString, "a string"),
    ...typed(body, "orphanDependents", isBoolean, "a boolean"),
    ...typed(body, "gracePeriodSeconds", isInteger, "an integer"),
    dryRun: dryRun.map((value: Json) => {
      if (typeof value !== "string") throw wrongDeleteOption("dryRun", "a list of strings");
      return value;
    }),
  };
}

const isString = (value: Json): value is string => typeof value === "string";
const isBoolean = (value: Json): value is boolean => typeof value === "boolean";
const isInteger = (value: Json): value is number => Number.isSafeInteger(value);

function typed<K extends string, T extends Json>(
  from: Readonly<Record<string, Json>>,
  key: K,
  is: (value: Json) => value is T,
  expected: string,
): { readonly [key in K]?: T } {
  const value = from[key];
  if (value === undefined || value === null) return {};
  if (!is(value)) throw wrongDeleteOption(key, expected);
  const result: { [key in K]?: T } = {};
  result[key] = value;
  return result;
}

const wrongDeleteOption = (field: string, expected: string) =>
  badRequest(`DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${field} must be ${expected}`);

/** As the real server reads booleans: present and neither "0" nor "false" is true. */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  const number = /^[+-]?\d{1,19}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
  return number;
}

function text<K extends string>(query: URLSearchParams, name: K): { readonly [key in K]?: string } {
  const value = query.get(name);
  if (value === null || value === "") return {};
  const result: { [key in K]?: string } = {};
  result[name] = value;
  return result;
}

const quote = (value: string): string => JSON.stringify(value);

const forbidden = (field: string, detail: string): FieldError => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
  field,
});

const required = (field: string, detail: string): FieldError => ({
  reason: "FieldValueRequired",
  message: `Required value: ${detail}`,
  field,
});

const notSupported = (field: string, value: string, supported: readonly string[]): FieldError => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${value}: supported values: ${supported.map(quote).join(", ")}`,
  field,
});
