import { type Consumer, hasMoved } from "../../insight/consumers/consumer.ts";
import { rolloutWords, runsOnWords } from "../../insight/consumers/consumer-words.ts";
import { nameOf } from "../../insight/resources/managed-resource.ts";
import type { StatusReport } from "../../insight/status/status-report.ts";

/**
 * Where the consumers of published Secrets stand: how many have moved on to what is published, and a line for each that has
 * not. Without `isWide` only where one has not.
 */
export function consumerLines(reports: readonly StatusReport[], isWide: boolean): readonly string[] {
  return reports.flatMap(({ resource, consumers = [] }) => {
    const followed = consumers.filter(({ notWaitedFor }) => notWaitedFor === undefined);
    const behind = followed.filter((consumer) => hasMoved(consumer) === false);
    if (followed.length === 0 || (behind.length === 0 && !isWide)) return [];
    return [
      `  ${nameOf(resource)}  ${summaryOf(followed)}`,
      ...behind.map((consumer) => `    ${placeOf(consumer)}  ${standingOf(consumer)}`),
    ];
  });
}

/** `2 of 3 consumers have moved`. */
function summaryOf(followed: readonly Consumer[]): string {
  const moved = followed.filter((consumer) => hasMoved(consumer) === true).length;
  const untold = followed.filter((consumer) => hasMoved(consumer) === undefined).length;
  const verb = followed.length === 1 ? "has" : "have";
  const unit = followed.length === 1 ? "consumer" : "consumers";
  return `${moved} of ${followed.length} ${unit} ${verb} moved${untold > 0 ? `, ${untold} cannot be told` : ""}`;
}

const placeOf = ({ workload: { kindName, namespace, name }, through }: Consumer): string =>
  `${kindName} ${namespace}/${name}${through ? ` through ${through.name}` : ""}`;

/** How far it has come, and what keeps it. */
function standingOf(consumer: Consumer): string {
  const { rollout, waiting, change, through } = consumer;
  return [
    ...(through?.isOutdated ? ["which is made of an older key"] : []),
    ...(rollout?.isComplete === false || waiting ? [rolloutWords(consumer)] : []),
    `runs on ${runsOnWords(consumer)}`,
    ...(change.does === "nothing" ? [change.words] : []),
  ].join("; ");
}
