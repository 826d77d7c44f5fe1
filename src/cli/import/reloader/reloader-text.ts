import { classType } from "../../../restart/workload-kinds.ts";
import type { Paint } from "../../print/paint.ts";
import { wrap } from "../../print/wrap.ts";
import type { MarkedSource, ReloaderReport } from "./reloader-report.ts";
import { NOT_RESTARTED, type ReloaderWorkload } from "./reloader-workload.ts";

/** What differs for every workload. */
export const GENERAL_CHANGES: readonly string[] = [
  "Several changes in quick succession are one restart, not one for each (--restart-quiet-period, --restart-max-wait).",
  "A change made while the operator is down is rolled out when it is back; that it starts restarts nothing.",
  "Only a change of what a workload uses restarts it: other keys, labels and annotations of a source do not.",
  "Nothing is written into the environment of containers, whatever Reloader's strategy was: annotations alone, with keyed digests.",
  "More than 12 restarts of a workload within an hour are stopped, and said (--restart-max-per-hour).",
];

/** In an order in which no change is lost; between two and three one may restart a workload twice. */
export const STEPS: readonly string[] = [
  "Look through the list above.",
  "Run the operator with the restart controller and --reloader-annotations: it takes down what is there, and restarts nothing.",
  "Take Reloader away (scale it to 0). Its annotations stay, and mean what is said above.",
];

export interface ReloaderTextOptions {
  readonly paint: Paint;
  readonly width: number;
}

export function reloaderText(report: ReloaderReport, options: ReloaderTextOptions): string {
  const { workloads, sources, unseen } = report;
  const isNothing = workloads.length === 0 && sources.length === 0;
  const list = (title: string, lines: readonly string[]): readonly string[] => [
    options.paint.heading(title),
    ...lines.flatMap((line) => labelled("  ", line, options)),
  ];
  const parts = [
    ...workloads.map((workload) => workloadLines(workload, options)),
    ...(sources.length > 0 ? [list("What says something of itself", sources.map(sourceWords))] : []),
    ...(isNothing
      ? [["Nothing here bears annotations of Reloader."]]
      : [list("For every workload", GENERAL_CHANGES), list("How to go on", numbered(STEPS)), [summaryOf(workloads)]]),
    ...(unseen.length > 0
      ? [
          list(
            "Not looked at",
            unseen.map(({ what, why }) => `${what}: ${why}`),
          ),
        ]
      : []),
  ];
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const numbered = (lines: readonly string[]): readonly string[] => lines.map((line, index) => `${index + 1}. ${line}`);

function workloadLines(workload: ReloaderWorkload, options: ReloaderTextOptions): readonly string[] {
  const { kindName, namespace, name, annotations, restartsFor, problems, changes, toDo } = workload;
  const { paint } = options;
  const line = (label: string, text: string): readonly string[] =>
    labelled(`  ${paint.faint(label.padEnd(LABEL))}`, text, options);
  return [
    paint.heading(`${kindName} ${namespace}/${name}`),
    ...annotations.flatMap(({ name: annotation, value, on, means }) =>
      line("says", `${annotation}: ${JSON.stringify(value)}${on === "template" ? " (pod template)" : ""}: ${means}`),
    ),
    ...line("restarts for", restartsFor.length === 0 ? "nothing" : restartsFor.join(", ")),
    ...problems.flatMap((problem) => labelled(`  ${paint.problem("unclear".padEnd(LABEL))}`, problem, options)),
    ...changes.flatMap((change) => line("changes", change)),
    ...toDo.flatMap((step) => line("to do", step)),
  ];
}

const LABEL = "restarts for".length + 2;
const INDENT = LABEL + 2;

/** Broken where the terminal ends, under its own beginning. */
function labelled(label: string, text: string, { width }: ReloaderTextOptions): readonly string[] {
  const indent = label.trim() === "" ? label.length : INDENT;
  const [first = "", ...others] = wrap(text, width - indent);
  return [`${label}${first}`, ...others.map((line) => " ".repeat(indent) + line)];
}

const sourceWords = ({ kind, namespace, name, isIgnored }: MarkedSource): string =>
  `${kind} ${namespace}/${name}: ${
    isIgnored
      ? `reloader.stakater.com/ignore: ${kind === classType.kind ? UNREAD : "never leads to a restart"}`
      : `reloader.stakater.com/match: ${kind === classType.kind ? UNREAD : "restarts those that use it and search"}`
  }`;

/** Of classes the operator reads nothing. */
const UNREAD = "not looked at; see what to do about those that use it";

function summaryOf(workloads: readonly ReloaderWorkload[]): string {
  const total = workloads.length;
  const unclear = workloads.filter(({ problems }) => problems.length > 0).length;
  const others = workloads.filter(({ kindName }) => kindName in NOT_RESTARTED).length;
  return [
    `${total} ${total === 1 ? "workload bears" : "workloads bear"} marks of Reloader`,
    ...(unclear > 0 ? [`${unclear} with something that is not understood`] : []),
    ...(others > 0 ? [`${others} that Keyturn does not restart`] : []),
    "nothing was written.",
  ].join("; ");
}
