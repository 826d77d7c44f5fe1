import type { Redacted } from "../base/redacted.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { type Fields, fieldsOf, textOf } from "../reconcile/managed/read-fields.ts";

/** What an API server is asked about others: whose a token is, and what somebody may list. */
const tokenReview: ResourceType = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
};
const accessReview: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

const REVIEW_MS = 5000;

/** As the API server describes them. */
export interface User {
  readonly name: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Fields;
}

/** Undefined: nobody's, or not any more. */
export async function whoseToken(kube: Kube, token: Redacted<string>): Promise<User | undefined> {
  const { status } = await review(kube, tokenReview, { token: token.reveal() });
  const { authenticated, user } = fieldsOf(status);
  const { username, uid, groups, extra } = fieldsOf(user);
  const name = textOf(username);
  if (authenticated !== true || name === undefined) return undefined;
  const known = Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [];
  return { name, uid: textOf(uid), groups: known, extra: fieldsOf(extra) };
}

/** In one namespace, or everywhere. */
export async function mayList(kube: Kube, user: User, type: ResourceType, namespace?: string): Promise<boolean> {
  const { name, uid, groups, extra } = user;
  const resourceAttributes = {
    group: type.group,
    resource: type.plural,
    verb: "list",
    ...(namespace !== undefined && { namespace }),
  };
  const spec = { user: name, groups, ...(uid !== undefined && { uid }), extra, resourceAttributes };
  return fieldsOf((await review(kube, accessReview, spec)).status).allowed === true;
}

function review(kube: Kube, type: ResourceType, spec: object): Promise<KubeObject> {
  const draft = { apiVersion: `${type.group}/${type.version}`, kind: type.kind, metadata: {}, spec };
  return kube.create<KubeObject>(type, draft, { timeoutMs: REVIEW_MS });
}
