import { builtInSchemas } from "../kinds/schemas.ts";
import type { Registry, ResourceDefinition } from "../registry.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { hashOf } from "./discovery.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { negotiate, plainOffer } from "./negotiate.ts";
import { openApiPaths, schemaNameOf } from "./openapi-paths.ts";
import { respond } from "./responses.ts";

/**
 * OpenAPI documents, one per group version, as `kubectl explain`, `diff` and server-side validation read them. Made when
 * first asked for and kept until the kinds of the group version change. Must not: know how schemas are enforced.
 */
interface Document {
  readonly definitions: readonly ResourceDefinition[];
  readonly text: string;
  readonly hash: string;
}

const SCHEMA_PREFIX = "#/components/schemas/";
const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

export class OpenApiDocuments {
  readonly #registry: Registry;
  readonly #documents = new Map<string, Document>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** How a path below `/openapi` is answered; undefined where there is nothing. */
  answer(request: ApiRequest, path: string): (() => ApiResponse) | undefined {
    if (path === "/openapi/v2") return () => openApiV2(request);
    if (path === "/openapi/v3") return () => this.#index(request);
    if (!path.startsWith("/openapi/v3/")) return undefined;
    const key = path.slice("/openapi/v3/".length);
    const document = this.#document(key);
    return document && (() => send(request, document));
  }

  #index(request: ApiRequest): ApiResponse {
    const paths: Record<string, { readonly serverRelativeURL: string }> = {};
    for (const key of [...this.#keys()].sort()) {
      const hash = this.#document(key)?.hash ?? "";
      paths[key] = { serverRelativeURL: `/openapi/v3/${key}?hash=${hash}` };
    }
    const text = JSON.stringify({ paths });
    return send(request, { text, hash: hashOf(text) });
  }

  #keys(): ReadonlySet<string> {
    return new Set(this.#registry.all().map(keyOf));
  }

  #document(key: string): Document | undefined {
    const definitions = this.#registry.all().filter((definition) => keyOf(definition) === key);
    if (definitions.length === 0) {
      this.#documents.delete(key);
      return undefined;
    }
    const known = this.#documents.get(key);
    if (known && isSame(known.definitions, definitions)) return known;
    const text = JSON.stringify(documentOf(definitions));
    const made = { definitions, text, hash: hashOf(text) };
    this.#documents.set(key, made);
    return made;
  }
}

const keyOf = ({ group, version }: ResourceDefinition): string =>
  group === "" ? `api/${version}` : `apis/${group}/${version}`;

const isSame = (a: readonly ResourceDefinition[], b: readonly ResourceDefinition[]): boolean =>
  a.length === b.length && a.every((definition, index) => definition === b[index]);

/** A client that names the hash it was told may keep the document for good. */
function send(request: ApiRequest, document: Pick<Document, "text" | "hash">): ApiResponse {
  negotiate(request, { ...plainOffer, jsonOnly: true });
  const etag = `"${document.hash}"`;
  const isPinned = request.query.get("hash") === document.hash;
  const headers = {
    "content-type": "application/json",
    "cache-control": isPinned ? "public, immutable" : "no-cache, private",
    vary: "Accept",
    etag,
  };
  if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
  return { status: 200, headers, body: document.text };
}

const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * Version 2 without any definition. kubectl asks for it, as protobuf only, to check manifests of kind List by itself; it
 * skips kinds that it does not find, and the server checks their fields anyway. Everything else reads version 3.
 */
function openApiV2(request: ApiRequest): ApiResponse {
  const title = "Kubernetes (described in OpenAPI v3 only)";
  const version = "1.36";
  const wantsProtobuf = (request.headers.accept ?? "").toLowerCase().includes("proto-openapi.spec.v2");
  if (!wantsProtobuf) {
    const representation = negotiate(request, { ...plainOffer, jsonOnly: true });
    return respond(200, { swagger: "2.0", info: { title, version }, paths: {}, definitions: {} }, representation);
  }
  const info = protobufText(1, title) + protobufText(2, version);
  const body = protobufText(1, "2.0") + protobufText(2, info) + protobufText(8, "");
  return { status: 200, headers: { "content-type": OPENAPI_V2_PROTOBUF, vary: "Accept" }, body };
}

/** A field with a length, as text: below 128 every byte is the character of its number. */
const protobufText = (number: number, content: string): string =>
  String.fromCharCode((number << 3) | 2, content.length) + content;

function documentOf(definitions: readonly ResourceDefinition[]): object {
  const schemas: Record<string, Schema> = {};
  for (const definition of definitions) {
    const name = schemaNameOf(definition);
    const schema = definition.custom ? customSchema(definition) : definition.schema;
    if (!schema) continue;
    const known = definition.custom ? builtInSchemas() : definition.definitions;
    schemas[name] = schema;
    schemas[`${name}List`] = known[`${name}List`] ?? listSchema(definition, name);
    collectReferences(schemas[name], known, schemas);
    collectReferences(schemas[`${name}List`], known, schemas);
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "1.36" },
    paths: openApiPaths(definitions),
    components: { schemas },
  };
}

/** A CRD's schema says nothing of what every object has; clients expect to find it there. */
function customSchema(definition: ResourceDefinition): Schema {
  const { group, version, kind, schema } = definition;
  return {
    ...schema,
    type: "object",
    properties: {
      ...schema?.properties,
      apiVersion: { type: "string", description: "The versioned schema of this representation of an object." },
      kind: { type: "string", description: "The REST resource this object represents." },
      metadata: { allOf: [{ $ref: `${SCHEMA_PREFIX}${OBJECT_META}` }], description: "Standard object's metadata." },
    },
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
  };
}

const listSchema = (definition: ResourceDefinition, itemName: string): Schema => ({
  type: "object",
  description: `${definition.listKind} is a list of ${definition.kind}`,
  required: ["items"],
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    items: { type: "array", items: { $ref: `${SCHEMA_PREFIX}${itemName}` } },
    metadata: { allOf: [{ $ref: `${SCHEMA_PREFIX}${LIST_META}` }] },
  },
  "x-kubernetes-group-version-kind": [
    { group: definition.group, version: definition.version, kind: definition.listKind },
  ],
});

/** Adds every schema that this one refers to, and those they refer to. */
function collectReferences(from: unknown, known: Definitions, found: Record<string, Schema>): void {
  const pending: unknown[] = [from];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== "object" || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      if (key !== "$ref" || typeof value !== "string") {
        pending.push(value);
        continue;
      }
      const name = value.slice(SCHEMA_PREFIX.length);
      const target = known[name];
      if (!target || Object.hasOwn(found, name)) continue;
      found[name] = target;
      pending.push(target);
    }
  }
}
