import { setFlagsFromString } from "node:v8";
import type { Logger } from "../base/logger.ts";
import { ClockSkew } from "../kube/clock-skew.ts";
import { scopedKube } from "../kube/scoped-kube.ts";
import { type HttpEndpoints, parseBindAddress, startHttpEndpoints } from "../runtime/http-endpoints.ts";
import { Metrics } from "../runtime/metrics.ts";
import { Operator } from "../runtime/operator.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import { auditLogOption, openAuditLog } from "./audit/open-audit-log.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import { namespacesOption, readNamespaces } from "./controller-names.ts";
import { operatorDashboardOptions, readOperatorDashboard } from "./dashboard-options.ts";
import { readChoice, readWholeNumber } from "./flag-values.ts";
import { leaseDurationOption, readLeaseTiming } from "./lease-timing.ts";
import { clusterOptions, type OpenCluster, openCluster } from "./open-cluster.ts";
import type { OperatorDashboard, OperatorDashboardParts } from "./operator-dashboard.ts";
import {
  createControllers,
  operatorOptions,
  PRODUCTION_PACE,
  readControllers,
  readLogger,
} from "./operator-options.ts";
import { objectName, ownNamespace, SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { restartHints } from "./restart-options.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

export const operatorCommand: Command = {
  name: "operator",
  summary: "Run the operator against a cluster.",
  description:
    "Watches the kinds of the controllers that are switched on. A kind whose CRD is not installed is no error:\nit is picked up when it appears.",
  options: [
    ...clusterOptions,
    ...operatorOptions(PRODUCTION_PACE),
    namespacesOption,
    { name: "leader-elect", description: "Stand for election, so that of several only one works." },
    {
      name: "lease-namespace",
      value: "NAME",
      description: `Namespace of the election's Lease and of the operator's own Secrets. Default: that of the pod; outside of one, ${SYSTEM_NAMESPACE}.`,
    },
    { name: "lease-name", value: "NAME", description: "Name of the election's Lease.", default: "keyturn" },
    leaseDurationOption,
    {
      name: "metrics-bind",
      value: "ADDRESS",
      description: "Where /metrics, /readyz and /healthz are served; 0 switches them off.",
      default: ":8080",
    },
    { name: "log-format", value: "FORMAT", description: "json or text.", default: "json", choices: ["json", "text"] },
    auditLogOption,
    ...operatorDashboardOptions,
  ],
  examples: [
    { command: "keyturn operator --kubeconfig ~/.kube/dev", what: "Against the cluster of a kubeconfig" },
    { command: "keyturn operator --leader-elect --metrics-bind :9090", what: "In a pod, one of several replicas" },
  ],
  run: runOperator,
};

/**
 * An operator lives for months with little in its heap and much passing through it. Left alone, V8 lets garbage pile up to
 * several times of what is alive; collecting a little more often costs a few per cent of very little.
 */
const HEAP_GROWTH = "--heap-growing-percent=40";
/**
 * The HTTP parser is WebAssembly, and to optimise its one large function takes V8 some 20 MB at a time, which the allocator
 * does not give back. A filter that no function passes leaves it as it was compiled first, which is fast enough to parse
 * a few hundred bytes of headers an answer.
 */
const PLAIN_HTTP_PARSER = "--wasm-tier-up-filter=1000000";

async function runOperator(flags: Flags, world: World): Promise<ExitCode> {
  setFlagsFromString(HEAP_GROWTH);
  setFlagsFromString(PLAIN_HTTP_PARSER);
  const choice = readControllers(flags);
  const timing = readLeaseTiming(flags);
  const namespaces = readNamespaces(flags);
  const workersPerController = readWholeNumber(flags, "workers", { min: 1, max: 1024 });
  const logger = readLogger(flags, world, readChoice(flags, "log-format", ["json", "text"]));
  const bind = parseBindAddress(flags.text("metrics-bind") ?? "0");
  const dashboardCall = readOperatorDashboard(flags);
  return runUntilStopped(world, logger, async (shutdown) => {
    const skew = new ClockSkew(world.clock);
    const cluster = await openCluster(flags, world, (serverAt) => skew.observe(serverAt));
    const { clock, random } = world;
    const metrics = new Metrics();
    const namespace = await ownNamespace(flags, cluster);
    const audit = await openAuditLog(auditPath(flags), world, { kube: cluster.kube, namespace, logger, metrics });
    const compared: { at: number | undefined } = { at: undefined };
    const onCompared = (at: number): void => {
      compared.at = at;
    };
    const switchedOn = await createControllers(choice, { world, metrics, skew, namespace, audit, onCompared });
    const common = { world, logger, cluster, skew, namespace, auditPaths: auditPaths(flags), name: leaseName(flags) };
    const dashboard =
      dashboardCall && (await loadDashboard({ ...common, call: dashboardCall, comparedAt: () => compared.at }));
    const { controllers } = switchedOn;
    const operator = new Operator({
      kube: scopedKube(cluster.kube, namespaces),
      namespaces,
      controllers,
      clock,
      random,
      logger,
      metrics,
      workersPerController,
      heap: world.heap,
      ...(flags.isOn("leader-elect") && { election: { ...electionOf(flags, world, namespace), timing } }),
      ...(dashboard && { onlookers: dashboard.onlookers }),
      onLost: (reason) => void shutdown.leave(reason, 1),
    });
    const served = await dashboard?.start(operator);
    const { readiness, liveness } = operator;
    const endpoints = bind && (await startHttpEndpoints({ bind, readiness, liveness, metrics, logger }));
    operator.addShutdownSteps(shutdown);
    switchedOn.addShutdownSteps(shutdown);
    if (audit) shutdown.addStep({ name: "audit log", boundMs: 1000, run: (signal) => audit.close(signal) });
    if (served) shutdown.addStep({ name: "dashboard", boundMs: 500, run: () => served.close() });
    addClosingSteps(shutdown, cluster, endpoints);
    announce(logger, {
      cluster,
      endpoints,
      dashboard: served?.url,
      names: controllers.map(({ name }) => name),
      version: world.version,
    });
    for (const hint of restartHints(choice.settings.restart)) logger.warn(hint);
    if (!shutdown.isUnderWay) operator.start();
  });
}

/** An operator that shows nothing does not load what shows it. */
async function loadDashboard(parts: OperatorDashboardParts): Promise<OperatorDashboard> {
  const { prepareOperatorDashboard } = await import("./operator-dashboard.ts");
  return prepareOperatorDashboard(parts);
}

const leaseName = (flags: Flags): string => objectName("lease-name", flags.text("lease-name") ?? "keyturn");

const auditPath = (flags: Flags): string => flags.text("audit-log") ?? "-";

/** What goes to stdout is somebody else's by now. */
function auditPaths(flags: Flags): readonly string[] {
  const path = auditPath(flags);
  return path === "-" || path === "off" ? [] : [path];
}

function electionOf(
  flags: Flags,
  world: World,
  namespace: string,
): { namespace: string; name: string; identity: string } {
  return { namespace, name: leaseName(flags), identity: world.hostName };
}

function addClosingSteps(shutdown: Shutdown, { kube }: OpenCluster, endpoints: HttpEndpoints | undefined): void {
  if (endpoints) shutdown.addStep({ name: "endpoints", boundMs: 500, run: () => endpoints.close() });
  shutdown.addStep({ name: "connections", boundMs: 500, run: () => kube.close() });
}

function announce(
  logger: Logger,
  details: {
    readonly cluster: OpenCluster;
    readonly endpoints: HttpEndpoints | undefined;
    readonly dashboard: string | undefined;
    readonly names: readonly string[];
    readonly version: string;
  },
): void {
  logger.info("starting", {
    version: details.version,
    server: details.cluster.access.server,
    access: details.cluster.access.origin,
    controllers: details.names,
    ...(details.endpoints && { endpoints: `http://${details.endpoints.address}` }),
    ...(details.dashboard !== undefined && { dashboard: details.dashboard }),
  });
}
