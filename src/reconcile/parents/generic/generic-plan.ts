import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import type { SecretAddress } from "../../../publish/secret-publisher.ts";
import { CHILD_SECRET } from "../child-marks.ts";
import type { ChildPlan } from "../child-plan.ts";
import { isYoung, readinessOf, type Surroundings } from "./readiness.ts";
import { holdsText } from "./render-template.ts";
import { type RotatingSpec, renderChild } from "./rotating-spec.ts";

/** The plan of a RotatingResource: children of any kind, as its template has them. Pure but for what it is told of time. */
export function genericPlan(spec: RotatingSpec, type: ResourceType, around: Surroundings): ChildPlan {
  const { template, childSecret, account } = spec;
  return {
    type,
    namespace: account.namespace,
    madeFrom: sorted({ template, childSecret }),
    childOf: (name) => withSecretName(spec, name),
    secretOf: (name, child) => (child && writtenSecret(child)) ?? renderChild(spec, name).secret,
    healthOf: (child) => readinessOf(child, spec.readiness, around),
    // A person has said where the Secret is: it may be the wrong place.
    complaintOf: (child, obstacle) => (isYoung(child, around) ? undefined : obstacle),
    createdAt: () => undefined,
  };
}

function withSecretName(spec: RotatingSpec, name: string): KubeObject {
  const { object, secret } = renderChild(spec, name);
  const annotations = { ...object.metadata.annotations, [CHILD_SECRET]: secret.name };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * The Secret that was decided on when the child was made: the spec may say something else by now. An annotation can be
 * edited: it counts only where it is what it could have been, a name with the child's own in it, and one that the child
 * itself is told.
 */
function writtenSecret({ apiVersion: _, kind: __, metadata, ...rest }: KubeObject): SecretAddress | undefined {
  const { name: own, namespace, annotations = {} } = metadata;
  const { [CHILD_SECRET]: name } = annotations;
  if (name === undefined || namespace === undefined || !name.includes(own)) return undefined;
  return name === own || holdsText(rest, name) ? { namespace, name } : undefined;
}

/** The same whatever the order in which somebody wrote it. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
