import { formatDuration } from "../../base/duration.ts";
import type { ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { childKindOf } from "../resources/children.ts";
import type { ChildView } from "../resources/look-at-children.ts";
import type { ManagedResource } from "../resources/managed-resource.ts";
import { oneLine } from "../words/one-line.ts";
import type { Fact } from "./explanation.ts";

/** The child to come that is there and not ready. One that nobody could look at is not: else it would be in use by now. */
export function awaitedChild(resource: ManagedResource, children: readonly ChildView[]): ChildView | undefined {
  const { pending, active } = resource.state;
  const kind = childKindOf(resource);
  if (kind === undefined || pending?.id === undefined || pending.id === active?.id) return undefined;
  const seen = children.find(({ uid }) => uid === pending.id);
  if (seen) return seen.isReady === true ? undefined : seen;
  return { kind, name: pending.name, uid: pending.id, state: "pending", isReady: undefined };
}

export function waitingText({ kind, name, isReady, message }: ChildView): string {
  const why = isReady === undefined || message === undefined ? "" : `: ${oneLine(message)}`;
  return `Waits for the ${kind} ${name} to get ready${why}. Then it is published and becomes active.`;
}

/** When the next rotation is, where that depends on the child to come. */
export function nextAfter({ kind, name }: ChildView, { policy: { frequencyMs } }: ManagedSpec): string {
  if (!Number.isFinite(frequencyMs)) return "None: it has no rotation policy, the key stays until somebody asks.";
  return `${formatDuration(frequencyMs)} after ${kind} ${name} was made, once that is ready (rotation.frequency).`;
}

/** Which children there are, and how they fare. */
export const childFacts = (children: readonly ChildView[]): readonly Fact[] =>
  children.map((child) => ({
    about: "Child",
    text: `${child.kind} ${child.name}, ${child.state === "active" ? "the active one" : "the next one"}: ${fareOf(child)}.`,
  }));

function fareOf({ isReady, message = "" }: ChildView): string {
  if (isReady) return "it is ready";
  return `${isReady === undefined ? "it cannot be looked at" : "it is not ready"}: ${oneLine(message)}`;
}
