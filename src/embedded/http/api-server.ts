import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { ObjectApi } from "../object-api.ts";
import type { Registry } from "../registry.ts";
import { StatusError } from "../status-error.ts";
import { reviewEndpoint } from "./access-reviews.ts";
import { coreVersions, groupDocument, groupList, resourceList } from "./discovery.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { callerOf } from "./impersonation.ts";
import { negotiate, plainJson, plainOffer, type Representation } from "./negotiate.ts";
import { OpenApiDocuments } from "./openapi.ts";
import { type EndpointServices, serveResource } from "./resource-endpoint.ts";
import {
  methodNotAllowed,
  notImplemented,
  notServed,
  pageNotFound,
  respond,
  respondError,
  respondText,
} from "./responses.ts";
import { parseRoute, type ResourceRoute, type Route } from "./route.ts";

/**
 * Everything between a request and `ObjectApi`: routing, negotiation, discovery, OpenAPI, access reviews, tables and watch
 * streams. Every request gets an answer; nothing is thrown. Must not: open sockets, check who is asking (`serve.ts` does
 * both), or hold objects of its own.
 */
export interface ApiServerOptions {
  readonly objects: ObjectApi;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a token is the one this server was given, for TokenReviews; absent where there is none. */
  readonly isKnownToken?: (token: string) => boolean;
  /** Told of errors that are the server's own fault; the client sees a 500. */
  readonly onInternalError?: (error: unknown) => void;
}

/** What `/version` says: the API this server follows, marked as not being the real one. */
const SERVER_VERSION = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.3+keyturn",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
} as const;

export class ApiServer {
  readonly #registry: Registry;
  readonly #services: EndpointServices;
  readonly #openApi: OpenApiDocuments;
  readonly #isKnownToken: (token: string) => boolean;
  readonly #onInternalError: (error: unknown) => void;

  constructor(options: ApiServerOptions) {
    this.#registry = options.registry;
    this.#services = { objects: options.objects, clock: options.clock, random: options.random };
    this.#openApi = new OpenApiDocuments(options.registry);
    this.#isKnownToken = options.isKnownToken ?? (() => false);
    this.#onInternalError = options.onInternalError ?? (() => {});
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    try {
      // Refuses what means to be somebody else and does not say whom.
      callerOf(request.headers);
      return this.#serve(request, parseRoute(request.path));
    } catch (error) {
      if (error instanceof StatusError) return respondError(error, errorRepresentation(request));
      this.#onInternalError(error);
      return respondError(new StatusError(500, "InternalError", "Internal error occurred"));
    }
  }

  #serve(request: ApiRequest, route: Route): ApiResponse {
    switch (route.kind) {
      case "resource":
        return this.#serveResource(request, route);
      case "legacy-watch":
        throw notImplemented("the /watch/ prefix (use ?watch=true)");
      case "other":
        return this.#serveOther(request, route.path);
    }
    if (request.method !== "GET") throw methodNotAllowed();
    switch (route.kind) {
      case "core-versions":
        return coreVersions(this.#registry, request);
      case "groups":
        return groupList(this.#registry, request);
      case "group":
        return groupDocument(this.#registry, request, route.group) ?? pageNotFound();
      case "group-version":
        return resourceList(this.#registry, request, route) ?? this.#unknownKind(route.group);
    }
  }

  #serveResource(request: ApiRequest, route: ResourceRoute): ApiResponse {
    const definition = this.#registry.find(route.group, route.version, route.plural);
    if (definition) return serveResource({ services: this.#services, request, definition, route });
    return reviewEndpoint(request, route, this.#isKnownToken) ?? this.#unknownKind(route.group);
  }

  /** The real server words this by who would serve the group: built-in groups with a Status, any other with a bare page. */
  #unknownKind(group: string): ApiResponse {
    const isBuiltIn = this.#registry.all().some((definition) => definition.group === group && !definition.custom);
    if (isBuiltIn) throw notServed();
    return pageNotFound();
  }

  #serveOther(request: ApiRequest, path: string): ApiResponse {
    const answer = this.#answerOther(request, path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
    if (!answer) return pageNotFound();
    if (request.method !== "GET") throw methodNotAllowed();
    return answer();
  }

  #answerOther(request: ApiRequest, path: string): (() => ApiResponse) | undefined {
    switch (path) {
      case "/":
        return () => respond(200, { paths: this.#paths() }, negotiate(request, plainOffer));
      case "/version":
        return () => respond(200, SERVER_VERSION, { ...plainJson, pretty: true });
      case "/healthz":
      case "/livez":
      case "/readyz":
        return () => health(request, path);
    }
    return this.#openApi.answer(request, path);
  }

  #paths(): readonly string[] {
    const paths = new Set(["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]);
    for (const { group, version } of this.#registry.all()) {
      if (group !== "") paths.add(`/apis/${group}`);
      paths.add(group === "" ? `/api/${version}` : `/apis/${group}/${version}`);
    }
    return [...paths].sort();
  }
}

function health(request: ApiRequest, path: string): ApiResponse {
  const name = path.slice(1);
  return respondText(200, request.query.has("verbose") ? `[+]ping ok\n${name} check passed\n` : "ok");
}

/** An error goes out in the form that was asked for, if that is one that exists. */
function errorRepresentation(request: ApiRequest): Representation {
  try {
    const { format, pretty, version } = negotiate(request, plainOffer);
    return { format, pretty, version };
  } catch {
    return plainJson;
  }
}
