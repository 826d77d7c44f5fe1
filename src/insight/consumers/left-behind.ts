import { deletionInstant } from "../../engine/dates.ts";
import type { RetiredKey } from "../../engine/model.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import { moment } from "../words/when.ts";
import type { Consumer } from "./consumer.ts";

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
  const goesAt = (key: RetiredKey): number => deletionInstant(spec.policy, key);
  const keys = retiredKeys(state).filter((key) => Number.isFinite(goesAt(key)));
  const sorted = keys.toSorted((a, b) => goesAt(a) - goesAt(b));
  return sorted.flatMap((key) =>
    consumers.flatMap(({ workload: { kindName, namespace, name }, notWaitedFor, olderPodsAt, uses }) => {
      const isInUse = uses.some(({ way }) => way !== "pull");
      const pods = olderPodsAt.filter((at) => wasPublishedAt(key, at)).length;
      if (notWaitedFor === undefined || !isInUse || pods === 0) return [];
      const who = `${kindName} ${namespace}/${name} (${pods} ${pods === 1 ? "pod" : "pods"})`;
      const end = `is deleted at ${moment(goesAt(key), now)}`;
      return [
        `${who} started with the retired key ${key.name}, which ${end}, and is not restarted: ${notWaitedFor}. Unless it reads the Secret again by itself, it is locked out then.`,
      ];
    }),
  );
}

/** Whether a pod that started then was given this key. */
export const wasPublishedAt = ({ createdAt, replacedAt = Number.POSITIVE_INFINITY }: RetiredKey, at: number): boolean =>
  at >= createdAt - SKEW_MS && at <= replacedAt + SKEW_MS;
