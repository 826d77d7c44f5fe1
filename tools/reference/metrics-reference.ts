import type { MetricGroup } from "./every-metric.ts";
import { cell, code, table } from "./table.ts";

/** `docs/reference/metrics.md`: every metric that the operator serves, from where it is declared. Pure. */
export function metricsReference(groups: readonly MetricGroup[]): string {
  return `${[INTRODUCTION, ...groups.flatMap(section), PROCESS].join("\n\n")}\n`;
}

const INTRODUCTION = `# Reference: metrics

Every metric of ours that \`/metrics\` serves, made from where they are declared by \`npm run generate:reference\`; a test compares this page with them, and with what a running operator serves. Which of them to look at, and the alerts made from them, is in [Monitoring](../monitoring.md). A histogram also has \`_bucket\`, \`_sum\` and \`_count\`.`;

const PROCESS = `## Of the process

\`process_*\` and \`nodejs_*\` are those of prom-client, under the names that dashboards for Node expect: processor time, memory, file descriptors, the event loop, garbage collection.`;

const section = ({ title, metrics }: MetricGroup): readonly string[] => [
  `## ${title}`,
  table(
    ["metric", "type", "labels", "what it says"],
    metrics.map(({ name, type, labels, help, isPerObject }) => [
      code(name),
      type,
      labels.map(code).join(", "),
      `${cell(help)}${/[.:]$/.test(help) ? "" : "."}${isPerObject ? " With `--metrics-per-object` alone." : ""}`,
    ]),
  ),
];
