import { type Consumer, hasMoved, podsOf } from "../insight/consumers/consumer.ts";
import { rolloutWords, usesWords } from "../insight/consumers/consumer-words.ts";
import type { ConsumerView } from "./wire.ts";

/** Who uses a Secret, as `keyturn consumers` knows them. */
export function consumerView(consumer: Consumer): ConsumerView {
  const { workload, rollout, change, isOptInRead } = consumer;
  const standing = standingOf(consumer);
  const { by } = workload.optIn;
  return {
    kind: workload.kindName,
    namespace: workload.namespace,
    name: workload.name,
    uses: usesWords(consumer),
    runsOn: valueWords(consumer),
    ...(standing && { standing }),
    ...((by === undefined || isOptInRead) && { hasOptedIn: by !== undefined }),
    ...(rollout && {
      rollout: {
        updated: rollout.updated,
        total: rollout.total,
        isComplete: rollout.isComplete,
        words: rolloutWords(consumer),
      },
    }),
    change: change.told,
  };
}

/** Undefined where nobody can tell. Only what goes on by itself is moving, or waits. */
export function standingOf(
  consumer: Pick<Consumer, "pods" | "arePodsSeen" | "rollout" | "through" | "waiting" | "change" | "isKnown">,
): ConsumerView["standing"] {
  const moved = hasMoved(consumer);
  if (moved !== false) return moved && "moved";
  const { rollout, waiting, change, isKnown, through } = consumer;
  if (rollout?.isComplete === false) return rollout.isStuck ? "behind" : "moving";
  const isRestarted = change.does !== "nothing" && change.does !== "unknown";
  return isRestarted && isKnown && !through?.isOutdated && waiting?.reason !== "Due" ? "waiting" : "behind";
}

/** `on the current value, 3 pods`: of the value of the Secret, which is all that pods and dates tell. */
export function valueWords({ pods, arePodsSeen, through }: Pick<Consumer, "pods" | "arePodsSeen" | "through">): string {
  const total = podsOf({ pods });
  if (!arePodsSeen) return "unknown: its pods may not be listed";
  if (total === 0) return "no pods";
  const words = mixWords(pods, total);
  return through?.isOutdated ? `${words}, of a copy that is outdated` : words;
}

function mixWords({ current, older, unknown }: Consumer["pods"], total: number): string {
  const count = (some: number): string => (some === total ? podsWords(some) : `${some} of ${podsWords(total)}`);
  const parts = [
    ...(older > 0 ? [`on an older value, ${count(older)}`] : []),
    ...(unknown > 0 ? [`nobody can tell on which value, ${count(unknown)}`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : `on the current value, ${count(current)}`;
}

const podsWords = (count: number): string => `${count} ${count === 1 ? "pod" : "pods"}`;
