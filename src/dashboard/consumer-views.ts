import { type Consumer, hasMoved } from "../insight/consumers/consumer.ts";
import { rolloutWords, runsOnWords, usesWords } from "../insight/consumers/consumer-words.ts";
import type { ConsumerView } from "./wire.ts";

/** Who uses a Secret, in the words of `keyturn consumers`. */
export function consumerView(consumer: Consumer): ConsumerView {
  const { workload, rollout, change, isOptInRead } = consumer;
  const moved = hasMoved(consumer);
  const { by } = workload.optIn;
  return {
    kind: workload.kindName,
    namespace: workload.namespace,
    name: workload.name,
    uses: usesWords(consumer),
    runsOn: runsOnWords(consumer),
    ...(moved !== undefined && { hasMoved: moved }),
    ...((by === undefined || isOptInRead) && { hasOptedIn: by !== undefined }),
    ...(rollout && {
      rollout: {
        updated: rollout.updated,
        total: rollout.total,
        isComplete: rollout.isComplete,
        words: rolloutWords(consumer),
      },
    }),
    change: change.words,
  };
}
