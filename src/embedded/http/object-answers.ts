import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { Deleted, ListResult } from "../object-api.ts";
import type { ResourceDefinition } from "../registry.ts";
import type { ApiResponse } from "./exchange.ts";
import type { Representation } from "./negotiate.ts";
import { listMetadata, partialMetadata, partialMetadataList, wrongPartialForm } from "./partial-metadata.ts";
import { respond, warningHeaders } from "./responses.ts";
import { includeObjectParameter, tableOfBookmark, tableOfList, tableOfObject } from "./tables.ts";
import type { EventEncoder } from "./watch-stream.ts";

/** Objects, lists and events in the form the client asked for: as they are, as a table, or metadata alone. */
export interface AnswerContext {
  readonly definition: ResourceDefinition;
  readonly representation: Representation;
  readonly query: URLSearchParams;
  readonly nowAt: number;
}

export function answerObject(
  context: AnswerContext,
  object: KubeObject,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return respond(status, objectForm(context, object), context.representation, headers);
}

function objectForm(context: AnswerContext, object: KubeObject): object {
  const { definition, representation } = context;
  switch (representation.as) {
    case "Table":
      return tableOfObject(definition, object, tableOptions(context));
    case "PartialObjectMetadata":
      return partialMetadata(object, representation.version);
    case "PartialObjectMetadataList":
      throw wrongPartialForm("PartialObjectMetadataList", false, definition.kind);
    default:
      return object;
  }
}

export function answerList(context: AnswerContext, list: ListResult): ApiResponse {
  return respond(200, listForm(context, list), context.representation);
}

function listForm(context: AnswerContext, list: ListResult): object {
  const { definition, representation } = context;
  switch (representation.as) {
    case "Table":
      return tableOfList(definition, list, tableOptions(context));
    case "PartialObjectMetadataList":
      return partialMetadataList(list, representation.version);
    case "PartialObjectMetadata":
      throw wrongPartialForm("PartialObjectMetadata", true, definition.listKind);
    default:
      return {
        kind: definition.listKind,
        apiVersion: apiVersionOf(definition),
        metadata: definition.custom ? { continue: "", ...listMetadata(list) } : listMetadata(list),
        items: definition.custom ? list.items : list.items.map(withoutType),
      };
  }
}

/** Items of a built-in list do not repeat their type; those of custom kinds do. */
function withoutType({ apiVersion: _apiVersion, kind: _kind, ...rest }: KubeObject): object {
  return rest;
}

/** Kinds whose deletion is answered with the object even when it is gone; all others with a Status. */
const ANSWERED_WITH_OBJECT = new Set(["pods", "services", "serviceaccounts"]);

export function answerDeleted(context: AnswerContext, deleted: Deleted): ApiResponse {
  const { definition, representation } = context;
  const headers = warningHeaders(deleted.warnings);
  if (!deleted.gone || ANSWERED_WITH_OBJECT.has(definition.storageKey))
    return answerObject(context, deleted.object, 200, headers);
  const { name, uid } = deleted.object.metadata;
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name,
      ...(definition.group !== "" && { group: definition.group }),
      kind: definition.plural,
      ...(uid !== undefined && { uid }),
    },
  };
  return respond(200, status, representation, headers);
}

/** One encoder per watch: a table says what its columns are only once. */
export function eventEncoder(context: Omit<AnswerContext, "nowAt">, now: () => number): EventEncoder {
  const { definition, representation } = context;
  const { version } = representation;
  switch (representation.as) {
    case "Table": {
      const options = tableOptions({ ...context, nowAt: now() });
      let isFirst = true;
      const show = (table: object): string => {
        const shown = isFirst ? table : { ...table, columnDefinitions: null };
        isFirst = false;
        return JSON.stringify(shown);
      };
      return {
        object: (object) => show(tableOfObject(definition, object, { ...options, nowAt: now() })),
        bookmark: (metadata) => show(tableOfBookmark(definition, metadata, { ...options, nowAt: now() })),
      };
    }
    case "PartialObjectMetadata":
      return {
        object: (object) => JSON.stringify(partialMetadata(object, version)),
        bookmark: (metadata) =>
          JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata }),
      };
    default: {
      const { kind } = definition;
      const apiVersion = apiVersionOf(definition);
      return {
        object: (object) => JSON.stringify(object),
        bookmark: (metadata) => JSON.stringify({ kind, apiVersion, metadata }),
      };
    }
  }
}

const tableOptions = (context: AnswerContext) => ({
  version: context.representation.version,
  includeObject: includeObjectParameter(context.query),
  nowAt: context.nowAt,
});
