import { ClusterWatch } from "../dashboard/cluster-watch.ts";
import type { DashboardServer } from "../dashboard/dashboard-server.ts";
import { LeaseView } from "../dashboard/lease-view.ts";
import { ReadModel } from "../dashboard/read-model.ts";
import { ClockSkew } from "../kube/clock-skew.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import { namespaceIn, readWholeNumber } from "./flag-values.ts";
import { ensureReadable } from "./input-file.ts";
import { clientOf, clusterOptions, findAccess } from "./open-cluster.ts";
import { readLogger } from "./operator-options.ts";
import { objectName, SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { prepareReadyFile, readyFileOption } from "./ready-file.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { serveByLink } from "./serve-by-link.ts";

export const dashboardCommand: Command = {
  name: "dashboard",
  summary: "Show the dashboard of a cluster in the browser, on this machine alone.",
  description:
    "Serves the page on loopback and prints a link that opens it once. Everything is read with the rights of the kubeconfig,\nand nothing is changed without --changes. A cluster that does not answer is waited for.",
  options: [
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description:
        "Only this namespace; of kinds that have none, that of their Secret. Default: all that may be listed.",
    },
    { name: "port", value: "PORT", description: "Port on loopback; 0 takes a free one.", default: "0" },
    { name: "changes", description: "Let the page rotate, freeze and unfreeze, as far as the kubeconfig may." },
    {
      name: "audit-log",
      value: "FILE",
      description: "A file of the audit log, for history and evidence; may be given several times, the oldest first.",
    },
    {
      name: "operator-namespace",
      value: "NAME",
      description: "Where the operator has its Lease and its own Secrets.",
      default: SYSTEM_NAMESPACE,
    },
    { name: "lease-name", value: "NAME", description: "Name of the operator's Lease.", default: "keyturn" },
    {
      name: "log-level",
      value: "LEVEL",
      description: "debug, info, warn or error.",
      default: "warn",
      choices: ["debug", "info", "warn", "error"],
    },
    readyFileOption,
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn dashboard", what: "Everything that the kubeconfig may see, to look at" },
    { command: "keyturn dashboard --kubeconfig ~/.kube/dev --changes -n shop", what: "One namespace, with buttons" },
  ],
  run: runDashboard,
};

async function runDashboard(flags: Flags, world: World): Promise<ExitCode> {
  const call = await readCall(flags);
  const logger = readLogger(flags, world, "text");
  return runUntilStopped(world, logger, async (shutdown) => {
    const readyFile = await prepareReadyFile(flags, world, shutdown);
    const { clock, random } = world;
    const skew = new ClockSkew(clock);
    const access = await findAccess(flags, world);
    const kube = clientOf(access, world, { onServerDate: (serverAt) => skew.observe(serverAt) });
    const model = new ReadModel({ clock, logger });
    const { namespace, operatorNamespace, leaseName } = call;
    const watch = new ClusterWatch({
      kube,
      clock,
      random,
      logger,
      model,
      namespace,
      contextNamespace: access.namespace,
    });
    const lease = new LeaseView({ kube, clock, namespace: operatorNamespace, name: leaseName });
    const served = await serveByLink({
      world,
      logger,
      kube,
      origin: access.origin,
      ...(access.context !== undefined && { cluster: access.context }),
      unseen: () => watch.unseen(),
      port: call.port,
      model,
      mayChange: flags.isOn("changes"),
      audit: { paths: call.auditPaths, namespace: operatorNamespace },
      operator: () => {
        const leader = lease.leader();
        const clock = skew.isKnown && { clockSkewMs: Math.round(skew.skewMs) };
        const seen = { seenFrom: "command", version: world.version, watches: watch.watches() } as const;
        return { ...seen, ...clock, ...(leader && { leader }) };
      },
    });
    addShutdownSteps(
      shutdown,
      served.server,
      [(signal) => watch.run(signal), (signal) => lease.run(signal)],
      async () => {
        model.stop();
        await kube.close();
      },
    );
    world.stdout.write(`The dashboard of ${access.server}: ${served.link}\nIt opens once. Ctrl-C ends it.\n`);
    await readyFile?.write({ dashboard: { url: served.server.url, link: served.link } });
  });
}

function addShutdownSteps(
  shutdown: Shutdown,
  server: DashboardServer,
  runs: readonly ((signal: AbortSignal) => Promise<void>)[],
  close: () => Promise<void>,
): void {
  const stopping = new AbortController();
  const running = Promise.all(runs.map((run) => run(stopping.signal)));
  shutdown.addStep({ name: "dashboard", boundMs: 500, run: () => server.close() });
  shutdown.addStep({
    name: "watches",
    boundMs: 500,
    run: async () => {
      stopping.abort();
      await running;
    },
  });
  shutdown.addStep({ name: "connections", boundMs: 500, run: close });
}

interface DashboardCall {
  readonly namespace: string | undefined;
  readonly port: number;
  readonly auditPaths: readonly string[];
  readonly operatorNamespace: string;
  readonly leaseName: string;
}

async function readCall(flags: Flags): Promise<DashboardCall> {
  const namespace = flags.text("namespace");
  const auditPaths = flags.texts("audit-log");
  await ensureReadable(auditPaths);
  return {
    namespace: namespace === undefined ? undefined : namespaceIn("namespace", namespace),
    port: readWholeNumber(flags, "port", { min: 0, max: 65_535 }),
    auditPaths,
    operatorNamespace: namespaceIn("operator-namespace", flags.text("operator-namespace") ?? SYSTEM_NAMESPACE),
    leaseName: objectName("lease-name", flags.text("lease-name") ?? "keyturn"),
  };
}
