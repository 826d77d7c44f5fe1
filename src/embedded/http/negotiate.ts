import { StatusError } from "../status-error.ts";
import type { ApiRequest } from "./exchange.ts";

/**
 * Which form of an answer a client asked for with `Accept`. Protobuf and CBOR are never offered; a client that names
 * nothing else is told so. Must not: build the answer.
 */
export interface Representation {
  readonly format: "json" | "yaml";
  readonly as?: Transform;
  /** The version of meta.k8s.io (or of the discovery document) that was asked for. */
  readonly version: string;
  readonly pretty: boolean;
}

type Transform = "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList" | "APIGroupDiscoveryList";

export const plainJson: Representation = { format: "json", version: "v1", pretty: false };

export interface Offer {
  /** What this endpoint can be turned into, as `group/Kind`. */
  readonly transforms: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
  /** Streams are JSON only. */
  readonly jsonOnly?: boolean;
}

export const objectOffer: Offer = {
  transforms: new Set([
    "meta.k8s.io/Table",
    "meta.k8s.io/PartialObjectMetadata",
    "meta.k8s.io/PartialObjectMetadataList",
  ]),
  versions: new Set(["v1", "v1beta1"]),
};
export const streamOffer: Offer = { ...objectOffer, jsonOnly: true };
export const discoveryOffer: Offer = {
  transforms: new Set(["apidiscovery.k8s.io/APIGroupDiscoveryList"]),
  versions: new Set(["v2", "v2beta1"]),
};
export const plainOffer: Offer = { transforms: new Set(), versions: new Set() };

/** The first clause by quality that can be served; throws 406 when none can. */
export function negotiate(request: ApiRequest, offer: Offer): Representation {
  const { accept } = request.headers;
  const pretty = wantsPretty(request);
  if (accept === undefined || accept === "" || accept === "*/*") return pretty ? { ...plainJson, pretty } : plainJson;
  for (const clause of parseAccept(accept)) {
    const format = formatOf(clause.type, offer);
    if (!format) continue;
    const kind = clause.parameters.get("as");
    if (kind === undefined) return { format, version: "v1", pretty };
    const version = clause.parameters.get("v") ?? "";
    const group = clause.parameters.get("g") ?? "";
    if (!offer.transforms.has(`${group}/${kind}`) || !offer.versions.has(version)) continue;
    if (isTransform(kind)) return { format, as: kind, version, pretty };
  }
  throw notAcceptable(offer);
}

function notAcceptable(offer: Offer): StatusError {
  const types = offer.jsonOnly
    ? "application/json, application/json;stream=watch"
    : "application/json, application/yaml";
  return new StatusError(406, "NotAcceptable", `only the following media types are accepted: ${types}`);
}

const isTransform = (kind: string): kind is Transform =>
  kind === "Table" ||
  kind === "PartialObjectMetadata" ||
  kind === "PartialObjectMetadataList" ||
  kind === "APIGroupDiscoveryList";

function formatOf(type: string, offer: Offer): "json" | "yaml" | undefined {
  if (type === "application/json" || type === "*/*" || type === "application/*") return "json";
  return type === "application/yaml" && !offer.jsonOnly ? "yaml" : undefined;
}

interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Bounds what a hostile header can cost; kubectl sends three clauses. */
const MAX_CLAUSES = 32;

function parseAccept(header: string): readonly Clause[] {
  const clauses = header.split(",", MAX_CLAUSES).map(parseClause);
  return clauses.filter((clause) => clause.quality > 0).sort((a, b) => b.quality - a.quality);
}

function parseClause(text: string): Clause {
  const [type = "", ...rest] = text.split(";");
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const at = parameter.indexOf("=");
    if (at > 0) parameters.set(parameter.slice(0, at).trim().toLowerCase(), unquote(parameter.slice(at + 1).trim()));
  }
  const quality = Number(parameters.get("q") ?? "1");
  return { type: type.trim().toLowerCase(), quality: Number.isFinite(quality) ? quality : 0, parameters };
}

const unquote = (text: string): string =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;

/** As the real server: people with curl or a browser get indented JSON. */
function wantsPretty(request: ApiRequest): boolean {
  const parameter = request.query.get("pretty");
  if (parameter !== null) return parameter !== "false" && parameter !== "0";
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers["user-agent"] ?? "");
}
