import { formatInstant } from "../../base/instant.ts";
import { awaitedChild } from "../../insight/explain/child-words.ts";
import type { Fact } from "../../insight/explain/explanation.ts";
import { outlookOf } from "../../insight/explain/outlook.ts";
import { whyHeld } from "../../insight/explain/words.ts";
import type { ChildView } from "../../insight/resources/look-at-children.ts";
import type { ManagedResource } from "../../insight/resources/managed-resource.ts";
import { apiVersionOf } from "../../kube/objects.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";

/** The explanation for programs: the words that people get, and what the engine says in words of its own. */
export function explanationJson(
  resource: ManagedResource,
  facts: readonly Fact[],
  { now, children }: { readonly now: number; readonly children: readonly ChildView[] },
): unknown {
  const { kind, object } = resource;
  const { namespace, name } = object.metadata;
  return {
    apiVersion: apiVersionOf(kind.type),
    kind: kind.type.kind,
    namespace,
    name,
    ...foreseen(resource, now, children),
    ...(children.length > 0 && { children: children.map(({ object: _, ...child }) => child) }),
    facts: facts.map(({ about, text, isProblem = false }) => ({ about, text, isProblem })),
  };
}

/** What is done now, what holds a rotation back, and when the next key is begun; nothing where the spec does not tell. */
function foreseen(resource: ManagedResource, now: number, children: readonly ChildView[]): object {
  const { kind, object, spec, state } = resource;
  if (spec instanceof SpecProblem || state.isDeleting) return {};
  const isAwaited = awaitedChild(resource, children) !== undefined;
  const outlook = outlookOf({ kind, object, spec, now, isAwaited });
  const { rest, nextKey } = outlook;
  return {
    steps: outlook.now.map((step) => step.kind),
    heldBackBy: whyHeld(rest) === undefined ? undefined : rest,
    nextRotation: nextKey && { at: formatInstant(nextKey.at), reason: nextKey.reason },
  };
}
