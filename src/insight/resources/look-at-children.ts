import { KubeError, NotFound } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { fieldsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { readinessOf, readReadiness } from "../../reconcile/parents/generic/readiness.ts";
import { childKindOf } from "./children.ts";
import type { ManagedResource } from "./managed-resource.ts";

/** A child that is in use or to come, as it is now. */
export interface ChildView {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly state: "active" | "pending";
  /** Undefined where it could not be looked at. */
  readonly isReady: boolean | undefined;
  /** Why it is not ready, or could not be looked at. */
  readonly message?: string;
  readonly object?: KubeObject;
}

/** Looks at the active child of a resource and at the one to come, with the rights of whoever asks. Throws nothing for those. */
export async function lookAtChildren(kube: Kube, resource: ManagedResource): Promise<readonly ChildView[]> {
  const kind = childKindOf(resource);
  if (kind === undefined || resource.spec instanceof SpecProblem) return [];
  const { active, pending } = resource.state;
  const known = [
    ...(active ? [{ kind, name: active.name, uid: active.id, state: "active" as const }] : []),
    ...(pending?.id !== undefined && pending.id !== active?.id
      ? [{ kind, name: pending.name, uid: pending.id, state: "pending" as const }]
      : []),
  ];
  const views: ChildView[] = [];
  for (const child of known) views.push({ ...child, ...(await look(kube, resource, child)) });
  return views;
}

type Sight = Pick<ChildView, "isReady" | "message" | "object">;

async function look(
  kube: Kube,
  resource: ManagedResource,
  { kind, name, uid }: Pick<ChildView, "kind" | "name" | "uid">,
): Promise<Sight> {
  try {
    const type = await typeOf(kube, resource, kind);
    if (!type) return { isReady: undefined, message: `the cluster does not know ${kind}` };
    const { namespace } = resource.object.metadata;
    const object = await kube.get(type, { name, ...(type.namespaced && namespace !== undefined && { namespace }) });
    if (object.metadata.uid !== uid) return { isReady: false, message: "it is gone, and another one has its name" };
    return { ...judged(resource, object), object };
  } catch (error) {
    if (error instanceof NotFound) return { isReady: false, message: "it is not there" };
    if (error instanceof KubeError) return { isReady: undefined, message: error.message };
    throw error;
  }
}

/** Where a template says what children are, the server is asked how it serves them. */
async function typeOf(kube: Kube, { object }: ManagedResource, kind: string): Promise<ResourceType | undefined> {
  const [group, version] = textOf(fieldsOf(fieldsOf(object.spec).template).apiVersion)?.split("/") ?? [];
  if (group === undefined || version === undefined) return managedKinds.find(({ type }) => type.kind === kind)?.type;
  return (await kube.discover(group, version)).find((type) => type.kind === kind);
}

/** By the rule that the operator goes by, without its patience. */
function judged({ object: parent }: ManagedResource, child: KubeObject): Sight {
  const readiness = readReadiness(fieldsOf(fieldsOf(parent.spec).readiness));
  const health = readinessOf(child, readiness, { now: Infinity, illSince: () => 0 });
  if (health.kind === "well") return { isReady: true };
  return { isReady: false, message: health.kind === "ill" ? health.complaint : "it has not said so yet" };
}
