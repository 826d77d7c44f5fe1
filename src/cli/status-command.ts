import { lookAtChildren } from "../insight/resources/look-at-children.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { withConsumers } from "../insight/status/secret-consumers.ts";
import { reportOf, type StatusReport, worstFirst } from "../insight/status/status-report.ts";
import type { Kube } from "../kube/port.ts";
import type { Command, ExitCode } from "./command.ts";
import { readChoice } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { createPaint } from "./print/paint.ts";
import { fetchResources, selectionsOf } from "./resources/fetch-resources.ts";
import { kindNames } from "./resources/find-kind.ts";
import { kindsElsewhere } from "./resources/other-namespaces.ts";
import { allNamespacesOption, namespaceOption, readAnyNumber, selectorOption } from "./resources/target-options.ts";
import { statusJson } from "./status/status-json.ts";
import { statusText } from "./status/status-text.ts";

export const statusCommand: Command = {
  name: "status",
  summary: "Show active and retired keys, what happens to them next, and problems first.",
  failsWhen: "With --exit-code: something has a problem.",
  description:
    "One line per key: the active one with its age and its next rotation, below it the retired ones and when each is\ndeleted. Resources with a problem come first; below the table stands who has not moved on to what is published yet.\nWithout KIND: every kind that Keyturn rotates.",
  words: { usage: "[KIND [NAME]]", max: 2, first: kindNames() },
  options: [
    outputOption("table", "wide", "json"),
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
  const selections = selectionsOf(targets, call);
  const resources = await fetchResources(kube, targets, selections);
  const now = world.clock.now();
  const { reports: unsorted, hints } = await withConsumers(kube, await reportsOf(kube, resources, now), now);
  const reports = worstFirst(unsorted);
  if (format === "json") world.stdout.write(`${JSON.stringify(statusJson(reports), null, 2)}\n`);
  else if (reports.length === 0) world.stderr.write("No resources found.\n");
  else world.stdout.write(statusText(reports, { now, isWide: format === "wide", paint: createPaint(world) }));
  for (const hint of hints) world.stderr.write(`keyturn: ${hint}\n`);
  for (const kind of targets.ref || flags.text("namespace") ? [] : await kindsElsewhere(kube, selections)) {
    world.stderr.write(`${kind}s of other namespaces are not shown: -A shows them.\n`);
  }
  return flags.isOn("exit-code") && reports.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

/** Children that are not listed are looked at only where nothing else tells what is published: where rotation is held. */
async function reportsOf(
  kube: Kube,
  resources: readonly ManagedResource[],
  now: number,
): Promise<readonly StatusReport[]> {
  const listed = new Map(resources.map(({ object }) => [object.metadata.uid, object]));
  const reports: StatusReport[] = [];
  for (const resource of resources) {
    const { state, isFrozen, isPaused } = resource;
    const child = state.active && listed.get(state.active.id);
    const views = child || !(isFrozen || isPaused) ? [] : await lookAtChildren(kube, resource);
    reports.push(reportOf(resource, now, child ?? views.find((view) => view.state === "active")?.object));
  }
  return reports;
}
