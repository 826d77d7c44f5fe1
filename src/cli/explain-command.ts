import type { Consumer } from "../insight/consumers/consumer.ts";
import { deletedKeyProblems } from "../insight/consumers/deleted-keys.ts";
import { leftBehind } from "../insight/consumers/left-behind.ts";
import { explain, type Fact } from "../insight/explain/explanation.ts";
import { lastFailure } from "../insight/explain/last-failure.ts";
import { lookAtChildren } from "../insight/resources/look-at-children.ts";
import { lookAtParent } from "../insight/resources/look-at-parent.ts";
import { type ManagedResource, nameOf } from "../insight/resources/managed-resource.ts";
import { withConsumers } from "../insight/status/secret-consumers.ts";
import { reportOf } from "../insight/status/status-report.ts";
import { visible } from "../insight/words/visible.ts";
import type { Kube } from "../kube/port.ts";
import type { Command, ExitCode } from "./command.ts";
import { explanationJson } from "./explain/explanation-json.ts";
import { readChoice } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { createPaint, type Paint } from "./print/paint.ts";
import { wrap } from "./print/wrap.ts";
import { fetchResources, selectionsOf } from "./resources/fetch-resources.ts";
import { kindNames } from "./resources/find-kind.ts";
import { namespaceOption, readOne } from "./resources/target-options.ts";

export const explainCommand: Command = {
  name: "explain",
  summary: "Say what will happen to a resource next, and why.",
  description:
    "Asks the same engine that the operator asks, about the resource as it is now: what is done next, what holds it\nback, which retired key goes when and by which rule, and what the last problem was. Changes nothing.",
  words: { usage: "KIND NAME", max: 2, first: kindNames() },
  options: [outputOption("text", "json"), namespaceOption, ...clusterOptions],
  examples: [
    { command: "keyturn explain servicebinding orders", what: "One binding" },
    { command: "keyturn explain servicebinding orders -o json", what: "The same, for a program" },
  ],
  run: async (flags, world) => {
    readChoice(flags, "output", FORMATS);
    readOne(flags.words);
    return withCluster(flags, world, runExplain);
  },
};

const FORMATS = ["text", "json"] as const;

export async function runExplain(call: ClusterCall): Promise<ExitCode> {
  const { kube, flags, world } = call;
  const format = readChoice(flags, "output", FORMATS);
  const targets = readOne(flags.words);
  for (const resource of await fetchResources(kube, targets, selectionsOf(targets, call))) {
    const failure = await lastFailure(kube, resource.object.metadata);
    const children = await lookAtChildren(kube, resource);
    const parent = await lookAtParent(kube, resource);
    const now = world.clock.now();
    const users = await consumersOf(kube, resource, now);
    const consumerProblems = deletedKeyProblems(resource, users);
    const behind = leftBehind(resource, users, now);
    const about = { now, lastFailure: failure, children, parent, consumerProblems, leftBehind: behind };
    const facts = explain(resource, about);
    if (format === "json") {
      world.stdout.write(`${JSON.stringify(explanationJson(resource, facts, { now, children }), null, 2)}\n`);
      continue;
    }
    const width = world.stdout.columns ?? Infinity;
    world.stdout.write(explanationText(resource, facts, { width, paint: createPaint(world) }));
  }
  return 0;
}

/** Whoever may not look at workloads is told nothing of them here: `keyturn status` says what could not be seen. */
async function consumersOf(kube: Kube, resource: ManagedResource, now: number): Promise<readonly Consumer[]> {
  const { reports } = await withConsumers(kube, [reportOf(resource, now)], now);
  return reports.flatMap(({ consumers = [] }) => consumers);
}

function explanationText(
  resource: ManagedResource,
  facts: readonly Fact[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const indent = Math.max(...facts.map(({ about }) => about.length)) + 2;
  const lines = facts.flatMap(({ about, text, isProblem = false, isWarning = false }) => {
    const label = about.padEnd(indent);
    const [first = "", ...others] = wrap(visible(text), width - indent);
    return [
      `${isProblem || isWarning ? paint.problem(label) : paint.faint(label)}${first}`,
      ...others.map((line) => " ".repeat(indent) + line),
    ];
  });
  return `${[paint.heading(nameOf(resource)), ...lines].join("\n")}\n`;
}
