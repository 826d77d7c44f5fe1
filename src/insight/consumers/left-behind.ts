import { deletionInstant, latestDeletion } from "../../engine/dates.ts";
import type { RetiredKey } from "../../engine/model.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import { moment } from "../words/when.ts";
import type { Consumer, ConsumerUse } from "./consumer.ts";

/** Key and pod are dated by clocks of different machines. */
export const SKEW_MS = 5000;

type KeyUser = Pick<Consumer, "notWaitedFor" | "olderPodsAt" | "uses"> & {
  readonly workload: Pick<Consumer["workload"], "kindName" | "namespace" | "name">;
};

/**
 * Who was started with a retired key that still works, and is neither waited for nor restarted: until that key goes all is
 * well, and then it is not. Sentences for people, the key that goes first before the others.
 */
export function leftBehind(resource: ManagedResource, consumers: readonly KeyUser[], now: number): readonly string[] {
  const { spec, state } = resource;
  if (spec instanceof SpecProblem || state.isDeleting) return [];
  const goesAt = (key: RetiredKey): number =>
    key.heldFor === undefined ? deletionInstant(spec.policy, key) : latestDeletion(spec.policy, key);
  const keys = retiredKeys(state).filter((key) => Number.isFinite(goesAt(key)));
  const sorted = keys.toSorted((a, b) => goesAt(a) - goesAt(b));
  return sorted.flatMap((key) =>
    consumers.flatMap(({ workload: { kindName, namespace, name }, notWaitedFor, olderPodsAt, uses }) => {
      const who = `${kindName} ${namespace}/${name}`;
      const isInUse = uses.some(({ way }) => way !== "pull");
      const pods = olderPodsAt.filter((at) => wasPublishedAt(key, at)).length;
      if (notWaitedFor === undefined || !isInUse || pods === 0 || key.heldFor?.includes(who)) return [];
      const end = `is deleted at ${moment(goesAt(key), now)}${key.heldFor === undefined ? "" : " at the latest"}`;
      const fate = uses.every(({ way }) => AT_START.has(way))
        ? "What it was given as environment variables changes only with a restart: it is locked out then."
        : "Unless it reads the Secret again by itself, it is locked out then.";
      return [
        `${who} (${pods} ${pods === 1 ? "pod" : "pods"}) started with the retired key ${key.name}, which ${end}, and is not restarted: ${notWaitedFor}. ${fate}`,
      ];
    }),
  );
}

/** What is used so is read when a pod starts, and never after. */
const AT_START: ReadonlySet<ConsumerUse["way"]> = new Set(["env", "envFrom", "pull"]);

/** Whether a pod that started then was given this key. */
export const wasPublishedAt = ({ createdAt, replacedAt = Number.POSITIVE_INFINITY }: RetiredKey, at: number): boolean =>
  at >= createdAt - SKEW_MS && at <= replacedAt + SKEW_MS;
