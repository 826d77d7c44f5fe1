import type { KubeObject } from "../../kube/objects.ts";
import type { Json } from "../json.ts";
import { asNumber, asObject } from "../kinds/json-fields.ts";
import { oldestFirst } from "./cluster-view.ts";
import { MAXIMUM, replicasOf } from "./deployment-sets.ts";

/** How many replicas which ReplicaSet should have during a rollout. Pure. */
interface Budget {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

interface SetTarget {
  readonly set: KubeObject;
  readonly replicas: number;
}

export function budgetOf(deployment: KubeObject): Budget {
  const { strategy } = asObject(deployment.spec);
  const replicas = replicasOf(deployment);
  const rolling = asObject(asObject(strategy).rollingUpdate);
  if (asObject(strategy).type !== "RollingUpdate") return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = portionOf(rolling.maxSurge, replicas, Math.ceil);
  const maxUnavailable = portionOf(rolling.maxUnavailable, replicas, Math.floor);
  // Both can round to nothing, and then nothing could ever move.
  const allowed = maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable;
  return { replicas, maxSurge, maxUnavailable: Math.min(allowed, replicas) };
}

function portionOf(value: Json | undefined, of: number, round: (exact: number) => number): number {
  if (typeof value === "number") return value;
  return typeof value === "string" ? round((Number.parseInt(value, 10) * of) / 100) : 0;
}

const availableOf = (set: KubeObject): number => asNumber(asObject(set.status).availableReplicas);

const total = (sets: readonly KubeObject[], of: (set: KubeObject) => number): number =>
  sets.reduce((sum, set) => sum + of(set), 0);

/** The new ReplicaSet grows as far as the surge allows; it never shrinks below what it has except to the goal. */
export function newSetTarget(budget: Budget, fresh: KubeObject, olds: readonly KubeObject[]): number {
  const own = replicasOf(fresh);
  if (own >= budget.replicas) return budget.replicas;
  const room = budget.replicas + budget.maxSurge - own - total(olds, replicasOf);
  return room <= 0 ? own : Math.min(own + room, budget.replicas);
}

/** What the old ReplicaSets shrink to: first what is not healthy anyway, then as much as may be unavailable. */
export function oldSetTargets(budget: Budget, fresh: KubeObject, olds: readonly KubeObject[]): readonly SetTarget[] {
  const least = budget.replicas - budget.maxUnavailable;
  const all = [...olds, fresh];
  const freshMissing = replicasOf(fresh) - availableOf(fresh);
  const spare = total(all, replicasOf) - least - freshMissing;
  if (total(olds, replicasOf) === 0 || spare <= 0) return [];
  const targets = new Map(olds.map((set) => [set, replicasOf(set)]));
  removeUnhealthy(targets, spare);
  let healthySpare = total(all, availableOf) - least;
  for (const [set, replicas] of [...targets].sort(([a], [b]) => oldestFirst(a, b))) {
    const cut = Math.min(replicas, Math.max(0, healthySpare));
    targets.set(set, replicas - cut);
    healthySpare -= cut;
  }
  return [...targets].filter(([set, count]) => count !== replicasOf(set)).map(([set, replicas]) => ({ set, replicas }));
}

function removeUnhealthy(targets: Map<KubeObject, number>, spare: number): void {
  let left = spare;
  for (const [set, replicas] of [...targets].sort(([a], [b]) => oldestFirst(a, b))) {
    const cut = Math.min(left, replicas - Math.min(replicas, availableOf(set)));
    targets.set(set, replicas - cut);
    left -= cut;
  }
}

/** All sets grow or shrink in proportion when the Deployment is scaled in the middle of a rollout. */
export function scaledTargets(
  deployment: KubeObject,
  current: KubeObject | undefined,
  sets: readonly KubeObject[],
): readonly SetTarget[] {
  const budget = budgetOf(deployment);
  const active = sets.filter((set) => replicasOf(set) > 0);
  const single = active.length === 0 ? current : active.length === 1 ? active[0] : undefined;
  if (active.length <= 1) {
    return single ? [{ set: single, replicas: budget.replicas }] : [];
  }
  if (current && replicasOf(current) === budget.replicas && availableOf(current) === budget.replicas) {
    return active.map((set) => ({ set, replicas: set === current ? budget.replicas : 0 }));
  }
  const allowed = budget.replicas > 0 ? budget.replicas + budget.maxSurge : 0;
  return inProportion(active, { allowed, replicas: budget.replicas, maxSurge: budget.maxSurge });
}

function inProportion(
  active: readonly KubeObject[],
  { allowed, replicas, maxSurge }: { allowed: number; replicas: number; maxSurge: number },
): readonly SetTarget[] {
  const toAdd = allowed - total(active, replicasOf);
  const ordered = [...active].sort((a, b) => {
    return replicasOf(b) - replicasOf(a) || (toAdd > 0 ? oldestFirst(b, a) : oldestFirst(a, b));
  });
  let added = 0;
  const targets = ordered.map((set) => {
    const before = Number(set.metadata.annotations?.[MAXIMUM] ?? 0) || replicas;
    const share = Math.round((replicasOf(set) * (replicas + maxSurge)) / before) - replicasOf(set);
    const left = toAdd - added;
    const part = toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
    added += toAdd === 0 ? 0 : part;
    return { set, replicas: replicasOf(set) + (toAdd === 0 ? 0 : part) };
  });
  const [first, ...rest] = targets;
  if (!first) return [];
  return [{ set: first.set, replicas: Math.max(0, first.replicas + toAdd - added) }, ...rest];
}
