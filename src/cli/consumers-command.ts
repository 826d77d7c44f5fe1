import { reportConsumers } from "../insight/consumers/consumers-report.ts";
import type { Command, ExitCode } from "./command.ts";
import { consumersJson } from "./consumers/consumers-json.ts";
import { consumersText } from "./consumers/consumers-text.ts";
import { readSourceTarget } from "./consumers/read-source-target.ts";
import { readChoice } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { createPaint } from "./print/paint.ts";

export const consumersCommand: Command = {
  name: "consumers",
  summary: "Show who uses a Secret, on which value they run, and what a change would restart.",
  description:
    "Looks at the workloads and pods of the namespace, live, and at the metadata of the Secret alone. Of a Secret that\nKeyturn publishes it also says whose it is, which retired keys wait for whom, and who is not waited for.",
  words: {
    usage: "[secret|configmap|secretproviderclass] NAME",
    max: 2,
    first: ["secret", "configmap", "secretproviderclass"],
  },
  options: [
    outputOption("text", "wide", "json"),
    { name: "namespace", short: "n", value: "NAME", description: "Namespace. Default: that of the context." },
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn consumers orders-db -n shop", what: "Who uses a Secret" },
    { command: "keyturn consumers configmap settings -o wide", what: "A ConfigMap, with the annotations that count" },
    {
      command: "keyturn consumers secretproviderclass vault -o json",
      what: "What the Secrets Store mounts, for a program",
    },
  ],
  run: async (flags, world) => {
    readChoice(flags, "output", FORMATS);
    readSourceTarget(flags.words, flags.text("namespace"));
    return withCluster(flags, world, runConsumers);
  },
};

const FORMATS = ["text", "wide", "json"] as const;

export async function runConsumers({ kube, flags, namespace, world }: ClusterCall): Promise<ExitCode> {
  const format = readChoice(flags, "output", FORMATS);
  const said = flags.text("namespace");
  const target = readSourceTarget(flags.words, said);
  const now = world.clock.now();
  const within = target.namespace ?? said ?? namespace;
  const report = await reportConsumers(kube, { target, namespace: within, now });
  if (format === "json") world.stdout.write(`${JSON.stringify(consumersJson(report), null, 2)}\n`);
  else world.stdout.write(consumersText(report, { now, isWide: format === "wide", paint: createPaint(world) }));
  return 0;
}
