import { formatInstant } from "../../base/instant.ts";
import { type Consumer, hasMoved, podsOf } from "./consumer.ts";
import { isAfterConsumers, noteWords } from "./consumer-words.ts";
import type { ConsumersReport, Publisher } from "./consumers-report.ts";

/** The report for programs: dates as RFC 3339, what is not there or not known left out. */
export function consumersJson(report: ConsumersReport): unknown {
  const { target, namespace, isThere, publishedAt, publisher, consumers, unseen } = report;
  return {
    kind: target.type.kind,
    namespace,
    name: target.name,
    isThere,
    writtenAt: publishedAt === undefined ? undefined : formatInstant(publishedAt),
    publishedBy: publisher && publisherJson(publisher),
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
  const { workload, uses, isLeft, pods, arePodsSeen, change, rollout, isKnown, notWaitedFor } = consumer;
  const { optIn } = workload;
  return {
    kind: workload.kindName,
    namespace: workload.namespace,
    name: workload.name,
    uses: uses.map(({ way, keys }) => ({ way, keys })),
    isUsedByOlderPodsAlone: isLeft,
    optedIn: { isIn: optIn.by !== undefined, by: optIn.by, annotation: optIn.annotation },
    isTakenUp: isKnown,
    runsOn: arePodsSeen ? { ...pods, pods: podsOf(consumer) } : undefined,
    aChangeWould: change.does,
    aChangeWouldWords: change.words,
    rollout,
    hasMoved: hasMoved(consumer),
    notWaitedFor,
  };
}
