import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import type { Halt } from "../../restart/model.ts";
import type { Problem } from "../resources/problems.ts";
import { type Consumer, type ConsumerUse, podsOf } from "./consumer.ts";
import type { ConsumersReport, Publisher } from "./consumers-report.ts";
import { deletedKeyProblems } from "./deleted-keys.ts";
import { waitingWords } from "./waiting.ts";

/** `Deployment web`: all are in one namespace. */
export const workloadWords = ({ workload: { kindName, name } }: Consumer): string => `${kindName} ${name}`;

/** `volume, env (password)`, `env (VCAP_SERVICES) through db-vcap-services`. */
export const usesWords = ({ uses, isLeft, through }: Consumer): string =>
  `${uses.map(useWords).join(", ")}${isLeft ? ", older pods alone" : ""}${through ? ` through ${through.name}` : ""}`;

const useWords = ({ way, keys }: ConsumerUse): string => (keys === undefined ? way : `${way} (${keys.join(", ")})`);

export function optInWords({ workload, isOptInRead }: Consumer, isWide: boolean): string {
  const { by, annotation, optIn } = workload.optIn;
  if (by === undefined) return "no";
  const word = isOptInRead ? "yes" : "unknown";
  const how = optIn?.isDelete ? `${by}, delete` : by;
  return isWide && annotation !== undefined
    ? `${word} (${annotation}${optIn?.isDelete ? ": delete" : ""})`
    : `${word} (${how})`;
}

/** `current, 3 pods`, `older 1, current 2 of 3 pods`. */
export function runsOnWords(consumer: Consumer): string {
  const total = podsOf(consumer);
  if (!consumer.arePodsSeen) return "unknown";
  if (total === 0) return "no pods";
  const said = (["older", "unknown", "current"] as const).filter((value) => consumer.pods[value] > 0);
  const [only, ...others] = said;
  const unit = total === 1 ? "pod" : "pods";
  if (others.length === 0) return `${only}, ${total} ${unit}`;
  return `${said.map((value) => `${value} ${consumer.pods[value]}`).join(", ")} of ${total} ${unit}`;
}

const HALTS: Readonly<Record<Halt, string>> = {
  paused: "paused, ",
  pastDeadline: "stuck, ",
  waitsForDeletion: "waits for deletion, ",
};

/** Where its own controller has come to with its pod template, and what a restart that is to come waits for. */
export function rolloutWords({ rollout, waiting }: Consumer): string {
  const isOver = !rollout || rollout.isComplete;
  if (isOver && waiting) return waitingWords(waiting);
  if (isOver) return rollout ? "complete" : "-";
  const { halt, updated, total } = rollout;
  const progress = `${halt ? HALTS[halt] : ""}${updated} of ${total} pods updated`;
  return waiting ? `${progress}; ${waitingWords(waiting)}` : progress;
}

/** By its policy as it is read; undefined where nobody can say. */
export function isAfterConsumers({ report }: Publisher): boolean | undefined {
  const spec = report?.resource.spec;
  return spec === undefined || spec instanceof SpecProblem ? undefined : spec.policy.maxHoldMs !== undefined;
}

/** Who runs on a key of the publisher that is no more. */
export const keyProblems = ({
  publisher,
  consumers,
}: Pick<ConsumersReport, "publisher" | "consumers">): readonly Problem[] =>
  publisher?.report ? deletedKeyProblems(publisher.report.resource, consumers) : [];

/** What whoever asks should know besides: what is not there, what was not looked at, what the operator may not know. */
export function noteWords({ target, namespace, isThere, consumers, unseen }: ConsumersReport): readonly string[] {
  const { type, name } = target;
  const counted = consumers.filter(({ change, isKnown }) => isThere === true && change.does !== "nothing" && !isKnown);
  const names = (some: readonly Consumer[]): string => some.map(workloadWords).join(", ");
  const untold = counted.filter(({ isOptInRead }) => !isOptInRead);
  const untaken = counted.filter(({ isOptInRead }) => isOptInRead);
  const outdated = consumers.flatMap(({ through }) => (through?.isOutdated ? [through.name] : []));
  return [
    ...[...new Set(outdated)].map((made) => `Secret ${made} is still made of an older key of ${name}.`),
    ...(isThere === false && consumers.length > 0
      ? [`${type.kind} ${namespace}/${name} is not there; this is who refers to it.`]
      : []),
    ...(untold.length > 0
      ? [
          `${names(untold)}: nothing shows that the operator reads these annotations (--reloader-annotations, --restart-prefix).`,
        ]
      : []),
    ...(untaken.length > 0
      ? [`${names(untaken)}: the operator has not taken it up: is it running, with the restart controller?`]
      : []),
    ...unseen.map(({ what, why }) => `Not looked at: ${what}: ${why}`),
  ];
}
