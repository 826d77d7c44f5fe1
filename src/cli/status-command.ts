import type { Command, ExitCode } from "./command.ts";
import { readChoice } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { createPaint } from "./print/paint.ts";
import { fetchResources, selectionsOf } from "./resources/fetch-resources.ts";
import { allNamespacesOption, namespaceOption, readAnyNumber, selectorOption } from "./resources/target-options.ts";
import { statusJson } from "./status/status-json.ts";
import { reportOf, worstFirst } from "./status/status-report.ts";
import { statusText } from "./status/status-text.ts";

export const statusCommand: Command = {
  name: "status",
  summary: "Show active and retired keys, what happens to them next, and problems first.",
  description:
    "One line per key: the active one with its age and its next rotation, below it the retired ones and when each is\ndeleted. Resources with a problem come first. Without KIND: every kind that Keyturn rotates.",
  words: { usage: "[KIND [NAME]]", max: 2 },
  options: [
    { name: "output", short: "o", value: "FORMAT", description: "table, wide or json.", default: "table" },
    { name: "exit-code", description: "End with 1 when there are problems, for scripts." },
    selectorOption,
    namespaceOption,
    allNamespacesOption,
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn status", what: "Everything, in the namespace of the context" },
    { command: "keyturn status -A -o wide", what: "With ids, dates and Secrets, in all namespaces" },
    { command: "keyturn status servicebinding orders -o json", what: "One resource, for a program" },
    { command: "keyturn status -A --exit-code > /dev/null || page-somebody", what: "As a check" },
  ],
  run: async (flags, world) => {
    readChoice(flags, "output", FORMATS);
    readAnyNumber(flags);
    return withCluster(flags, world, runStatus);
  },
};

const FORMATS = ["table", "wide", "json"] as const;

export async function runStatus(call: ClusterCall): Promise<ExitCode> {
  const { kube, flags, world } = call;
  const format = readChoice(flags, "output", FORMATS);
  const targets = readAnyNumber(flags);
  const resources = await fetchResources(kube, targets, selectionsOf(targets, call));
  const now = world.clock.now();
  const reports = worstFirst(resources.map((resource) => reportOf(resource, now)));
  if (format === "json") world.stdout.write(`${JSON.stringify(statusJson(reports), null, 2)}\n`);
  else if (reports.length === 0) world.stderr.write("No resources found.\n");
  else world.stdout.write(statusText(reports, { now, isWide: format === "wide", paint: createPaint(world) }));
  return flags.isOn("exit-code") && reports.some(({ problems }) => problems.length > 0) ? 1 : 0;
}
