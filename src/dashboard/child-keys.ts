import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { reportOf } from "../insight/status/status-report.ts";
import { futureOf } from "./future.ts";
import type { KeyBar } from "./wire.ts";

/** The child as the key of its parent that it is, up to its deletion; undefined where the parent does not know it. */
export function keyInParent(child: ManagedResource, parent: ManagedResource, now: number): KeyBar | undefined {
  const { uid } = child.object.metadata;
  const { rotationAt } = reportOf(parent, now);
  // Once it is replaced, the policy says when it goes.
  const until = Math.max(now, Number.isFinite(rotationAt) ? rotationAt : now);
  return futureOf(parent, { now, until }).keys.find(({ id, state }) => id === uid && state !== "deleted");
}

/** No key of a child outlives it: what its parent does with it ends all of them. */
export function withinParent(keys: readonly KeyBar[], own: KeyBar | undefined): readonly KeyBar[] {
  if (!own) return keys;
  const { deletedAt: endsAt = Infinity } = own;
  return keys.flatMap((key) => {
    if (key.state === "deleted") return [key];
    if (key.createdAt >= endsAt) return [];
    return [key.state === "retired" ? sooner(key, { deletedAt: own.deletedAt }) : published(key, own)];
  });
}

/** One that is published is published no longer than the child, and says of it when it should have been replaced. */
function published({ dueAt = Infinity, ...key }: KeyBar, own: KeyBar): KeyBar {
  const isLeft = own.state === "retired" && key.state === "active";
  const due = Math.min(dueAt, own.dueAt ?? Infinity);
  return {
    ...sooner(key, own),
    ...(isLeft && { state: own.state, ...(own.heldFor !== undefined && { heldFor: own.heldFor }) }),
    ...(Number.isFinite(due) && { dueAt: due }),
  };
}

interface End {
  readonly replacedAt?: number | undefined;
  readonly deletedAt?: number | undefined;
}

function sooner(key: KeyBar, { replacedAt, deletedAt }: End): KeyBar {
  const [replaced, deleted] = [
    Math.min(key.replacedAt ?? Infinity, replacedAt ?? Infinity),
    Math.min(key.deletedAt ?? Infinity, deletedAt ?? Infinity),
  ];
  return {
    ...key,
    ...(Number.isFinite(replaced) && { replacedAt: replaced }),
    ...(Number.isFinite(deleted) && { deletedAt: deleted }),
  };
}
