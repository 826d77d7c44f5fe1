import { bind9Instance } from "../api/bind/bind9-instance.ts";
import { UsageError } from "../base/errors.ts";
import { type ComplianceItem, type ComplianceReport, complianceItem } from "../insight/compliance/compliance-report.ts";
import { followedKeyItem } from "../insight/compliance/followed-key.ts";
import { listSeen, type Unseen } from "../insight/resources/list-all.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import type { Command, ExitCode, Flags } from "./command.ts";
import { complianceJson } from "./compliance/compliance-json.ts";
import { complianceMarkdown } from "./compliance/compliance-markdown.ts";
import { readChoice, readDuration } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { selectorOption } from "./resources/target-options.ts";

export const complianceCommand: Command = {
  name: "compliance",
  summary: "Print evidence of rotation: every credential, its period, its last and next rotation, and exceptions.",
  failsWhen: "With --exit-code: there are exceptions, or something could not be seen.",
  description:
    "An inventory of all kinds that Keyturn rotates, in all namespaces, as Markdown or JSON: what is overdue, and what is not\nrotated because it is frozen, paused, static or left to somebody else, a Secret that BIND servers follow included. Key material is never read.",
  words: { usage: "report", max: 1, first: ["report"] },
  options: [
    outputOption("markdown", "json"),
    { name: "max-period", value: "DURATION", description: "Credentials with a longer period are exceptions." },
    { name: "exit-code", description: "End with 1 when anything is overdue, an exception or could not be looked at." },
    selectorOption,
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Only this namespace; of kinds that have none, that of their Secret. Default: all of them.",
    },
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn compliance report > credentials.md", what: "Everything, to be kept" },
    { command: "keyturn compliance report --max-period 90d --exit-code -o json", what: "As a check of a policy" },
  ],
  run: async (flags, world) => {
    readCall(flags);
    return withCluster(flags, world, runCompliance);
  },
};

function readCall(flags: Flags): { readonly format: "markdown" | "json"; readonly maxPeriodMs: number } {
  const [what] = flags.words;
  if (what !== "report") throw new UsageError("what of it? keyturn compliance report");
  const format = readChoice(flags, "output", ["markdown", "json"]);
  return { format, maxPeriodMs: flags.text("max-period") === undefined ? Infinity : readDuration(flags, "max-period") };
}

export async function runCompliance(call: ClusterCall): Promise<ExitCode> {
  const { flags, world } = call;
  const { format, maxPeriodMs } = readCall(flags);
  const report = await gather(call, maxPeriodMs);
  world.stdout.write(
    format === "json" ? `${JSON.stringify(complianceJson(report), null, 2)}\n` : complianceMarkdown(report),
  );
  const isExceptional = report.items.some(({ overdueMs, exceptions }) => overdueMs > 0 || exceptions.length > 0);
  // Of what nobody could look at, nothing is known to be in order.
  return flags.isOn("exit-code") && (isExceptional || report.unseen.length > 0) ? 1 : 0;
}

async function gather({ kube, flags, world }: ClusterCall, maxPeriodMs: number): Promise<ComplianceReport> {
  const now = world.clock.now();
  const [namespace, labelSelector] = [flags.text("namespace"), flags.text("selector")];
  const unseen: Unseen[] = [];
  const items: ComplianceItem[] = [];
  const seen = (type: ResourceType): Promise<readonly KubeObject[]> => {
    const within = type.namespaced && namespace !== undefined ? { namespace } : {};
    return listSeen(kube, type, { ...within, ...(labelSelector !== undefined && { labelSelector }) }, unseen);
  };
  for (const kind of managedKinds) {
    for (const object of await seen(kind.type)) {
      const item = complianceItem(managedResource(kind, object), { now, maxPeriodMs });
      if (namespace === undefined || homeOf(item) === namespace) items.push(item);
    }
  }
  for (const object of await seen(bind9Instance)) {
    const item = followedKeyItem(object);
    if (item) items.push(item);
  }
  return { at: now, maxPeriodMs, items: items.toSorted(byLabel), unseen };
}

/** Of one that has none, that of its Secret. */
const homeOf = ({ namespace, secret }: ComplianceItem): string | undefined => namespace ?? secret?.split("/")[0];

const byLabel = (a: ComplianceItem, b: ComplianceItem): number => (a.label < b.label ? -1 : 1);
