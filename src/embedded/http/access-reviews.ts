import { isObject, type Json, type JsonObject } from "../json.ts";
import { SOLE_USER } from "../sole-user.ts";
import { badRequest } from "../status-error.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { callerOf } from "./impersonation.ts";
import { negotiate, plainOffer } from "./negotiate.ts";
import { decodeObjectBody } from "./request-body.ts";
import { methodNotAllowed, notServed, respond } from "./responses.ts";
import type { ResourceRoute } from "./route.ts";

/**
 * The reviews of authentication and authorization: created, answered, never stored. Nothing is forbidden on the embedded
 * server, so every access is allowed; a token is authenticated if it is the server's own.
 */
export interface ReviewType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const AUTHORIZATION = { group: "authorization.k8s.io", version: "v1" } as const;
const AUTHENTICATION = { group: "authentication.k8s.io", version: "v1" } as const;

/** In discovery these stand with `create` as their only verb. */
export const REVIEW_TYPES: readonly ReviewType[] = [
  { ...AUTHENTICATION, plural: "selfsubjectreviews", kind: "SelfSubjectReview", namespaced: false },
  { ...AUTHENTICATION, plural: "tokenreviews", kind: "TokenReview", namespaced: false },
  { ...AUTHORIZATION, plural: "localsubjectaccessreviews", kind: "LocalSubjectAccessReview", namespaced: true },
  { ...AUTHORIZATION, plural: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview", namespaced: false },
  { ...AUTHORIZATION, plural: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview", namespaced: false },
  { ...AUTHORIZATION, plural: "subjectaccessreviews", kind: "SubjectAccessReview", namespaced: false },
];

/** The answer to a review, or undefined where the path names none. */
export function reviewEndpoint(
  request: ApiRequest,
  route: ResourceRoute,
  isKnownToken: (token: string) => boolean,
): ApiResponse | undefined {
  const inGroup = REVIEW_TYPES.filter((type) => type.group === route.group);
  if (inGroup.length === 0) return undefined;
  const type = inGroup.find(({ version, plural }) => version === route.version && plural === route.plural);
  if (!type || route.name !== undefined || type.namespaced !== (route.namespace !== undefined)) throw notServed();
  if (request.method !== "POST") throw methodNotAllowed();
  const representation = negotiate(request, plainOffer);
  const review = checkedReview(decodeObjectBody(request, type.kind).value, type);
  const status = type.kind === "SelfSubjectReview" ? selfOf(request) : statusOf(type, review, isKnownToken);
  const apiVersion = `${type.group}/${type.version}`;
  const answer = {
    kind: type.kind,
    apiVersion,
    metadata: {},
    ...(review.spec !== undefined && { spec: review.spec }),
    status,
  };
  return respond(201, answer, representation);
}

interface Review {
  readonly spec: JsonObject | undefined;
}

function checkedReview(body: Json, type: ReviewType): Review {
  const refuse = (why: string) =>
    badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
  if (!isObject(body)) throw refuse("it is not a JSON object");
  const { kind = type.kind, apiVersion = `${type.group}/${type.version}`, spec } = body;
  if (kind !== type.kind || apiVersion !== `${type.group}/${type.version}`)
    throw refuse("this path serves another kind");
  if (spec !== undefined && spec !== null && !isObject(spec)) throw refuse("spec is not an object");
  return { spec: isObject(spec) ? spec : undefined };
}

const selfOf = ({ headers }: ApiRequest): object => ({ userInfo: callerOf(headers) });

function statusOf(type: ReviewType, review: Review, isKnownToken: (token: string) => boolean): object {
  switch (type.kind) {
    case "TokenReview": {
      const token = review.spec?.token;
      const isKnown = typeof token === "string" && isKnownToken(token);
      return isKnown ? { authenticated: true, user: SOLE_USER, audiences: [] } : { user: {} };
    }
    case "SelfSubjectRulesReview":
      return {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    default:
      return { allowed: true, reason: "the embedded API server allows every access" };
  }
}
