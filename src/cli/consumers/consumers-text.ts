import { formatInstant } from "../../base/instant.ts";
import type { Consumer } from "../../insight/consumers/consumer.ts";
import {
  isAfterConsumers,
  keyProblems,
  noteWords,
  optInWords,
  rolloutWords,
  runsOnWords,
  usesWords,
  workloadWords,
} from "../../insight/consumers/consumer-words.ts";
import type { ConsumersReport, Publisher } from "../../insight/consumers/consumers-report.ts";
import { parentName } from "../../insight/resources/children.ts";
import { deletionWords } from "../../insight/status/deletion-words.ts";
import { relative } from "../../insight/words/when.ts";
import type { Paint } from "../print/paint.ts";
import { type Column, table } from "../print/table.ts";

export interface ConsumersTextOptions {
  readonly now: number;
  readonly isWide: boolean;
  readonly paint: Paint;
}

/** The report for people: what it is, who uses it, which keys wait for whom, and what could not be seen. */
export function consumersText(report: ConsumersReport, options: ConsumersTextOptions): string {
  const { consumers } = report;
  const { paint } = options;
  const { kind } = report.target.type;
  const parts = [
    [paint.heading(headline(report, options.now))],
    consumers.length === 0
      ? [report.unseen.length === 0 ? `Nobody uses this ${kind}.` : `Nobody who could be looked at uses this ${kind}.`]
      : [table(columns(options), consumers).trimEnd()],
    keyLines(report, options),
    noteWords(report).map((note) => paint.notice(note)),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function headline({ target, namespace, isThere, publishedAt, publisher }: ConsumersReport, now: number): string {
  const name = `${target.type.kind} ${namespace}/${target.name}`;
  if (isThere === undefined) return `${name} could not be looked at`;
  if (publishedAt === undefined) return `${name} is not there`;
  const isClass = target.source.startsWith("class/");
  const written = isClass ? "" : `, written ${relative(publishedAt, now)} (${formatInstant(publishedAt)})`;
  return `${name}${written}${publisher ? `, published by ${parentName(publisher.owner)}` : ""}`;
}

function columns({ isWide, paint }: ConsumersTextOptions): readonly Column<Consumer>[] {
  return [
    { title: "WORKLOAD", text: workloadWords },
    { title: "USES", text: usesWords },
    { title: "OPTED IN", text: (consumer) => optInWords(consumer, isWide) },
    {
      title: "RUNS ON",
      text: runsOnWords,
      paint: (text, { pods }) => (pods.older > 0 ? paint.notice(text) : text),
    },
    { title: "A CHANGE WOULD", text: ({ change }) => change.words },
    {
      title: "ROLLOUT",
      text: rolloutWords,
      paint: (text, { rollout, waiting }) =>
        rollout?.halt === "pastDeadline"
          ? paint.problem(text)
          : rollout?.isStuck || waiting
            ? paint.notice(text)
            : text,
    },
  ];
}

/** Of a Secret that Keyturn publishes: the retired keys, and who is not waited for. */
function keyLines({ publisher, consumers }: ConsumersReport, { now, paint }: ConsumersTextOptions): readonly string[] {
  if (!publisher) return [];
  const retired = publisher.report?.retired ?? [];
  const isHolding = isAfterConsumers(publisher) === true;
  const left = isHolding ? consumers.filter(({ notWaitedFor }) => notWaitedFor !== undefined) : [];
  return [
    ownerLine(publisher),
    ...retired.map((key) => `  ${paint.faint(key.name)}  ${deletionWords(key, now)}`),
    ...left.map((consumer) => `  Not waited for: ${workloadWords(consumer)}: ${consumer.notWaitedFor}`),
    ...keyProblems({ publisher, consumers }).map(({ message }) => `  ${paint.problem(message)}`),
  ];
}

function ownerLine(publisher: Publisher): string {
  const { owner, report } = publisher;
  const name = parentName(owner);
  if (!report) return `Nothing is known of ${name}.`;
  const [first] = report.retired;
  const isHolding = isAfterConsumers(publisher);
  const rule =
    isHolding === undefined
      ? ""
      : isHolding
        ? " (revoke: AfterConsumers)"
        : " (revoke: AtDeletionDate, whoever still uses them)";
  return first ? `Retired keys of ${name}${rule}:` : `${name} has no retired keys${rule}.`;
}
