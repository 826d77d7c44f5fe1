import { formatInstant } from "../../../src/base/instant.ts";
import type { CredentialId } from "../../../src/dashboard/wire.ts";
import { EMPTY_QUERY, LIST_SORTS, LIST_STATES, type ListQuery } from "../list/list-query.ts";
import { clampSpan, DEFAULT_RANGE, PRESETS, type TimeRange } from "../time/time-range.ts";

/** Where one is: an address says it whole, so that a link shows somebody else the same. Pure, both ways. */
export type Route =
  | { readonly page: "overview" }
  | { readonly page: "timeline"; readonly query: ListQuery; readonly range?: TimeRange }
  | { readonly page: "credentials"; readonly query: ListQuery }
  | { readonly page: "credential"; readonly id: CredentialId; readonly range?: TimeRange }
  | { readonly page: "consumers"; readonly namespace?: string }
  | { readonly page: "secret"; readonly namespace: string; readonly name: string }
  | { readonly page: "evidence"; readonly maxPeriod?: string }
  | { readonly page: "nowhere"; readonly path: string };

export type PageName = Route["page"];

export function parseRoute(pathname: string, search: string): Route {
  const parts = partsOf(pathname);
  const parameters = new URLSearchParams(search);
  const [page = "", ...rest] = parts ?? ["?"];
  if (parts?.length === 0) return { page: "overview" };
  if (page === "timeline" && rest.length === 0) {
    return { page, query: queryOf(parameters), ...rangeOf(parameters) };
  }
  if (page === "credentials" && rest.length === 0) return { page, query: queryOf(parameters) };
  if (page === "credential" && (rest.length === 2 || rest.length === 3)) {
    return { page, id: rest.join("/"), ...rangeOf(parameters) };
  }
  const [namespace, name] = rest;
  if (page === "consumers" && namespace !== undefined && name !== undefined && rest.length === 2) {
    return { page: "secret", namespace, name };
  }
  if (page === "consumers" && rest.length === 0) {
    const chosen = parameters.get("namespace");
    return chosen ? { page, namespace: chosen } : { page };
  }
  if (page === "evidence" && rest.length === 0) {
    const maxPeriod = parameters.get("maxPeriod");
    return maxPeriod ? { page, maxPeriod } : { page };
  }
  return { page: "nowhere", path: pathname };
}

/** Undefined where it is no address that anybody could have been given. */
function partsOf(pathname: string): readonly string[] | undefined {
  try {
    return pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

const oneOf = <T extends string>(choices: readonly T[], text: string | null): T | undefined =>
  choices.find((choice) => choice === text);

function queryOf(parameters: URLSearchParams): ListQuery {
  const kind = parameters.get("kind");
  const namespace = parameters.get("namespace");
  const state = oneOf(LIST_STATES, parameters.get("state"));
  return {
    search: parameters.get("q") ?? EMPTY_QUERY.search,
    sort: oneOf(LIST_SORTS, parameters.get("sort")) ?? EMPTY_QUERY.sort,
    ...(kind ? { kind } : {}),
    ...(namespace ? { namespace } : {}),
    ...(state ? { state } : {}),
  };
}

const spanName = (name: string): string => name.replaceAll(" ", "");

/** Left out where nobody has chosen: then it is what fits. */
function rangeOf(parameters: URLSearchParams): { readonly range?: TimeRange } {
  const wish = parameters.get("span") ?? "";
  const preset = PRESETS.find(({ name }) => spanName(name) === wish);
  const spanMs = preset?.spanMs ?? (/^\d+s$/.test(wish) ? clampSpan(Number.parseInt(wish, 10) * 1000) : undefined);
  const from = Date.parse(parameters.get("from") ?? "");
  if (spanMs === undefined && !Number.isFinite(from)) return {};
  return { range: { spanMs: spanMs ?? DEFAULT_RANGE.spanMs, ...(Number.isFinite(from) ? { from } : {}) } };
}

export function formatRoute(route: Route): string {
  switch (route.page) {
    case "overview":
      return "/";
    case "timeline":
      return withParameters("/timeline", { ...queryWords(route.query), ...rangeWords(route.range) });
    case "credentials":
      return withParameters("/credentials", queryWords(route.query));
    case "credential":
      return withParameters(`/credential/${encodedPath(route.id.split("/"))}`, rangeWords(route.range));
    case "consumers":
      return withParameters("/consumers", { namespace: route.namespace });
    case "secret":
      return `/consumers/${encodedPath([route.namespace, route.name])}`;
    case "evidence":
      return withParameters("/evidence", { maxPeriod: route.maxPeriod });
    case "nowhere":
      return route.path;
  }
}

/** Dots too: servers take what has one for a file. */
const encodedPath = (parts: readonly string[]): string =>
  parts.map((part) => encodeURIComponent(part).replaceAll(".", "%2E")).join("/");

type Words = Readonly<Record<string, string | undefined>>;

const queryWords = ({ search, sort, kind, namespace, state }: ListQuery): Words => ({
  q: search || undefined,
  kind,
  namespace,
  state,
  sort: sort === EMPTY_QUERY.sort ? undefined : sort,
});

function rangeWords(range: TimeRange | undefined): Words {
  if (!range) return {};
  const { spanMs, from } = range;
  const preset = PRESETS.find((one) => one.spanMs === spanMs);
  const span = preset ? spanName(preset.name) : `${Math.round(spanMs / 1000)}s`;
  return {
    span,
    from: from === undefined ? undefined : formatInstant(from),
  };
}

function withParameters(path: string, words: Words): string {
  const parameters = new URLSearchParams();
  for (const [name, word] of Object.entries(words)) if (word !== undefined) parameters.set(name, word);
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The address of a credential's own page. */
export const credentialPath = (id: CredentialId): string => formatRoute({ page: "credential", id });

/** The address of what is known of a Secret's consumers, by `namespace/name`; undefined where it is no such name. */
export function secretPath(secret: string): string | undefined {
  const [namespace, name, ...rest] = secret.split("/");
  return namespace && name && rest.length === 0 ? formatRoute({ page: "secret", namespace, name }) : undefined;
}
