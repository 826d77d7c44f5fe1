import { createHash } from "node:crypto";
import { apiVersionOf } from "../../kube/objects.ts";
import type { Registry, ResourceDefinition } from "../registry.ts";
import { REVIEW_TYPES, type ReviewType } from "./access-reviews.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { discoveryOffer, negotiate, plainOffer, type Representation } from "./negotiate.ts";
import { encode, respond } from "./responses.ts";

/** Tells clients which groups, versions and kinds are served, in the old form and in the aggregated one. */
interface DiscoveredKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  readonly custom: boolean;
}

const SUBRESOURCE_VERBS = ["get", "patch", "update"] as const;

/** `/api` */
export function coreVersions(registry: Registry, request: ApiRequest): ApiResponse {
  const kinds = discovered(registry).filter(({ group }) => group === "");
  return aggregatedOr(request, kinds, () => ({
    kind: "APIVersions",
    versions: versionsOf(kinds),
    serverAddressByClientCIDRs: [],
  }));
}

/** `/apis` */
export function groupList(registry: Registry, request: ApiRequest): ApiResponse {
  const kinds = discovered(registry).filter(({ group }) => group !== "");
  return aggregatedOr(request, kinds, () => ({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groupsOf(kinds).map(([group, members]) => apiGroup(group, members)),
  }));
}

/** `/apis/<group>` */
export function groupDocument(registry: Registry, request: ApiRequest, group: string): ApiResponse | undefined {
  const kinds = discovered(registry).filter((kind) => kind.group === group);
  if (kinds.length === 0) return undefined;
  return withEtag(request, { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group, kinds) }, plainForm(request));
}

/** `/api/v1`, `/apis/<group>/<version>` */
export function resourceList(
  registry: Registry,
  request: ApiRequest,
  { group, version }: { readonly group: string; readonly version: string },
): ApiResponse | undefined {
  const kinds = discovered(registry).filter((kind) => kind.group === group && kind.version === version);
  if (kinds.length === 0) return undefined;
  const document = {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: kinds.flatMap(apiResources),
  };
  return withEtag(request, document, plainForm(request));
}

const plainForm = (request: ApiRequest): Representation => negotiate(request, plainOffer);

function aggregatedOr(request: ApiRequest, kinds: readonly DiscoveredKind[], plain: () => object): ApiResponse {
  const representation = negotiate(request, discoveryOffer);
  if (representation.as !== "APIGroupDiscoveryList") return withEtag(request, plain(), representation);
  const { version } = representation;
  const document = {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groupsOf(kinds).map(([group, members]) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(members).map((name) => ({
        version: name,
        resources: members.filter((kind) => kind.version === name).map(discoveryResource),
        freshness: "Current",
      })),
    })),
  };
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return withEtag(request, document, { ...representation, format: "json" }, { "content-type": contentType });
}

/** Clients keep these documents on disk and ask again with the tag they have. */
function withEtag(
  request: ApiRequest,
  document: object,
  representation: Representation,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  const etag = etagOf(encode(document, representation));
  const shared = { etag, vary: "Accept", "cache-control": "public", ...headers };
  if (request.headers["if-none-match"] === etag) return { status: 304, headers: shared, body: "" };
  return respond(200, document, representation, shared);
}

const etagOf = (text: string): string => `"${hashOf(text)}"`;

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").toUpperCase();

function discovered(registry: Registry): readonly DiscoveredKind[] {
  const kinds = [...registry.all().map(fromDefinition), ...REVIEW_TYPES.map(fromReview)];
  return kinds.sort((a, b) => compare(a.group, b.group) || compare(a.plural, b.plural));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const fromDefinition = (definition: ResourceDefinition): DiscoveredKind => ({
  ...definition,
  subresources: [...definition.subresources].sort(),
});

const fromReview = (type: ReviewType): DiscoveredKind => ({
  ...type,
  singular: type.kind.toLowerCase(),
  verbs: ["create"],
  shortNames: [],
  categories: [],
  subresources: [],
  custom: false,
});

/** Built-in groups first, so that a short name that two kinds share means the built-in one. */
function groupsOf(kinds: readonly DiscoveredKind[]): readonly [string, readonly DiscoveredKind[]][] {
  const groups = new Map<string, DiscoveredKind[]>();
  for (const kind of kinds) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  const isCustom = (members: readonly DiscoveredKind[]): number => (members.every(({ custom }) => custom) ? 1 : 0);
  return [...groups].sort(([, a], [, b]) => isCustom(a) - isCustom(b));
}

function apiGroup(group: string, kinds: readonly DiscoveredKind[]): object {
  const versions = versionsOf(kinds).map((version) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** The best version first: stable before beta before alpha, newer before older, anything else last. */
function versionsOf(kinds: readonly DiscoveredKind[]): readonly string[] {
  return [...new Set(kinds.map(({ version }) => version))].sort((a, b) => {
    const [x, y] = [versionRank(a), versionRank(b)];
    for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return (y[i] ?? 0) - (x[i] ?? 0);
    return compare(a, b);
  });
}

function versionRank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return [0, 0, 0];
  const stability = match[2] === undefined ? 3 : match[2] === "beta" ? 2 : 1;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}

function apiResources(kind: DiscoveredKind): readonly object[] {
  const main = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
  };
  const parts = kind.subresources.map((subresource) => ({
    name: `${kind.plural}/${subresource}`,
    singularName: "",
    namespaced: kind.namespaced,
    ...(subresource === "scale" ? { group: "autoscaling", version: "v1", kind: "Scale" } : { kind: kind.kind }),
    verbs: SUBRESOURCE_VERBS,
  }));
  return [main, ...parts];
}

function discoveryResource(kind: DiscoveredKind): object {
  const own = { group: kind.group, version: kind.version, kind: kind.kind };
  return {
    resource: kind.plural,
    responseKind: own,
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(kind.subresources.length > 0 && {
      subresources: kind.subresources.map((subresource) => ({
        subresource,
        responseKind: subresource === "scale" ? { group: "autoscaling", version: "v1", kind: "Scale" } : own,
        verbs: SUBRESOURCE_VERBS,
      })),
    }),
  };
}
