import { formatInstant } from "../../base/instant.ts";
import { type Consumer, hasMoved, podsOf } from "../../insight/consumers/consumer.ts";
import { isAfterConsumers, keyProblems, noteWords } from "../../insight/consumers/consumer-words.ts";
import type { ConsumersReport, Publisher } from "../../insight/consumers/consumers-report.ts";
import { type Waiting, waitingWords } from "../../insight/consumers/waiting.ts";

/** The report for programs: dates as RFC 3339, what is not there or not known left out. */
export function consumersJson(report: ConsumersReport): unknown {
  const { target, namespace, isThere, publishedAt, publisher, consumers, unseen } = report;
  return {
    kind: target.type.kind,
    namespace,
    name: target.name,
    isThere,
    writtenAt: publishedAt === undefined ? undefined : formatInstant(publishedAt),
    publishedBy: publisher && { ...publisherJson(publisher), problems: keyProblems(report) },
    consumers: consumers.map(consumerJson),
    notLookedAt: unseen,
    notes: noteWords(report),
  };
}

function publisherJson(publisher: Publisher) {
  const { owner, keyId, report } = publisher;
  const isHolding = isAfterConsumers(publisher);
  return {
    kind: owner.kind.type.kind,
    namespace: owner.namespace,
    name: owner.name,
    keyId,
    revoke: isHolding === undefined ? undefined : isHolding ? "AfterConsumers" : "AtDeletionDate",
    retiredKeys: report?.retired.map(({ id, name, goesAt, heldFor }) => ({
      id,
      name,
      deletionAt: Number.isFinite(goesAt) ? formatInstant(goesAt) : undefined,
      heldFor,
    })),
  };
}

export function consumerJson(consumer: Consumer) {
  const { workload, uses, isLeft, pods, arePodsSeen, change, rollout, waiting, isKnown, notWaitedFor } = consumer;
  const { optIn } = workload;
  return {
    kind: workload.kindName,
    namespace: workload.namespace,
    name: workload.name,
    uses: uses.map(({ way, keys }) => ({ way, keys })),
    through: consumer.through?.name,
    isUsedByOlderPodsAlone: isLeft,
    optedIn: {
      isIn: consumer.isOptInRead ? optIn.by !== undefined : undefined,
      by: optIn.by,
      annotation: optIn.annotation,
    },
    isTakenUp: isKnown,
    runsOn: arePodsSeen ? { ...pods, pods: podsOf(consumer) } : undefined,
    aChangeWould: change.does,
    aChangeWouldWords: change.words,
    rollout,
    waitsFor: waiting && waitingJson(waiting),
    hasMoved: hasMoved(consumer),
    notWaitedFor,
  };
}

const waitingJson = (waiting: Waiting) => ({
  reason: waiting.reason,
  until: waiting.until === undefined ? undefined : formatInstant(waiting.until),
  isSure: waiting.isSure,
  words: waitingWords(waiting),
});
