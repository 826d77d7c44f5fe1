import { UsageError } from "../base/errors.ts";
import type { Command, ExitCode, Flags } from "./command.ts";
import { readChoice } from "./flag-values.ts";
import { reportReloader } from "./migrate/reloader-report.ts";
import { GENERAL_CHANGES, reloaderText, STEPS } from "./migrate/reloader-text.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { createPaint } from "./print/paint.ts";
import { allNamespacesOption } from "./resources/target-options.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Report what would change for workloads that are restarted by Reloader; writes nothing.",
  description:
    "Workload by workload: what its Reloader annotations mean, what would restart it with Keyturn, what differs, and what\nto do. It ends with 0, also when there is nothing to migrate.",
  words: { usage: "reloader", max: 1 },
  options: [
    { name: "output", short: "o", value: "FORMAT", description: "text or json.", default: "text" },
    { name: "namespace", short: "n", value: "NAME", description: "Namespace. Default: that of the context." },
    allNamespacesOption,
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn migrate reloader -A", what: "The whole cluster" },
    { command: "keyturn migrate reloader -n shop -o json", what: "One namespace, for a program" },
  ],
  run: async (flags, world) => {
    readFrom(flags);
    readChoice(flags, "output", FORMATS);
    return withCluster(flags, world, runMigrate);
  },
};

const FORMATS = ["text", "json"] as const;

function readFrom({ words: [from] }: Flags): void {
  if (from === "reloader") return;
  throw new UsageError(
    from === undefined ? "from what? keyturn migrate reloader" : `"${from}" is not known: only reloader is`,
  );
}

export async function runMigrate({ kube, flags, namespace, world }: ClusterCall): Promise<ExitCode> {
  readFrom(flags);
  const format = readChoice(flags, "output", FORMATS);
  const within = flags.isOn("all-namespaces") ? undefined : (flags.text("namespace") ?? namespace);
  const report = await reportReloader(kube, within);
  if (format === "json") {
    const { unseen: notLookedAt, ...rest } = report;
    world.stdout.write(`${JSON.stringify({ ...rest, notLookedAt, forAll: GENERAL_CHANGES, steps: STEPS }, null, 2)}\n`);
    return 0;
  }
  const width = world.stdout.columns ?? Number.POSITIVE_INFINITY;
  world.stdout.write(reloaderText(report, { paint: createPaint(world), width }));
  return 0;
}
