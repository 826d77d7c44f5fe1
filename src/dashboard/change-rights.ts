import { KubeError } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import { fieldsOf } from "../reconcile/managed/read-fields.ts";
import type { Credential } from "./credential-id.ts";
import type { Guest } from "./gate.ts";

const selfAccessReview: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
  namespaced: false,
};

/** Whether the API server would let somebody change a resource. Where it does not say, it will say so when it is tried. */
export async function mayPatch({ kube }: Guest, { kind, ref }: Credential): Promise<boolean> {
  const { group, plural } = kind.type;
  const resourceAttributes = { group, resource: plural, verb: "patch", ...ref };
  const draft = {
    apiVersion: "authorization.k8s.io/v1",
    kind: selfAccessReview.kind,
    metadata: {},
    spec: { resourceAttributes },
  };
  try {
    const { status } = await kube.create<KubeObject>(selfAccessReview, draft, { timeoutMs: 3000 });
    return fieldsOf(status).allowed !== false;
  } catch (error) {
    if (error instanceof KubeError) return true;
    throw error;
  }
}
