import { readFile } from "node:fs/promises";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { Redacted } from "../base/redacted.ts";
import { ClusterGate } from "../dashboard/cluster-gate.ts";
import { ClusterPulse } from "../dashboard/cluster-pulse.ts";
import { type DashboardServer, startDashboardServer, type TlsPair } from "../dashboard/dashboard-server.ts";
import { modelOnlookers } from "../dashboard/model-onlookers.ts";
import { operatorViewOf } from "../dashboard/operator-view.ts";
import { defaultPageFolder, readPageFiles } from "../dashboard/page-files.ts";
import { ReadModel } from "../dashboard/read-model.ts";
import { LOOPBACK_NAMES } from "../dashboard/request-guard.ts";
import { bearingTransport } from "../kube/bearing-transport.ts";
import type { ClockSkew } from "../kube/clock-skew.ts";
import { openTransport, withoutCredentials } from "../kube/cluster-access.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import { readClusterId } from "../reconcile/cluster-identity.ts";
import type { Onlooker } from "../runtime/onlooker.ts";
import type { Operator } from "../runtime/operator.ts";
import type { World } from "./command.ts";
import type { OperatorDashboardCall } from "./dashboard-options.ts";
import type { OpenCluster } from "./open-cluster.ts";

export interface OperatorDashboardParts {
  readonly call: OperatorDashboardCall;
  readonly world: World;
  readonly logger: Logger;
  readonly cluster: OpenCluster;
  readonly skew: ClockSkew;
  /** Where the operator keeps what is its own, and has its Service. */
  readonly namespace: string;
  /** What an installation calls everything, its Lease included. */
  readonly name: string;
  readonly auditPaths: readonly string[];
  readonly comparedAt: () => number | undefined;
}

export interface OperatorDashboard {
  readonly onlookers: readonly Onlooker[];
  start(operator: Operator): Promise<DashboardServer>;
}

const NAMED_WITHIN_MS = 5_000;
/** Of its id: enough to tell clusters apart by, and short enough to be read. */
const NAME_LENGTH = 8;

/** From within, a cluster has no name but its id. Left out where that cannot be had now: the page does without. */
async function nameOf({ kube }: OpenCluster): Promise<string | undefined> {
  const id = await readClusterId(kube, AbortSignal.timeout(NAMED_WITHIN_MS)).catch(() => "");
  return id === "" ? undefined : `cluster ${id.slice(0, NAME_LENGTH)}`;
}

/** The dashboard of an operator, filled from its own watches, for whoever the cluster knows. */
export async function prepareOperatorDashboard(parts: OperatorDashboardParts): Promise<OperatorDashboard> {
  const { call, world, cluster, skew, namespace, auditPaths, comparedAt } = parts;
  const { clock, version } = world;
  const logger = parts.logger.with({ part: "dashboard" });
  const pair = call.tls;
  // What cannot be read shows before anything else is begun.
  if (pair) await readTls(pair);
  const model = new ReadModel({ clock, logger });
  // One pool of connections for all viewers, which bears nobody's credentials.
  const transport = openTransport(withoutCredentials(cluster.access));
  const userAgent = `keyturn-dashboard/${version}`;
  const gate = new ClusterGate({
    kube: cluster.kube,
    kubeFor: (token) => createKubeClient({ transport: bearingTransport(transport, token), clock, userAgent }),
    model,
    clock,
  });
  return {
    onlookers: modelOnlookers(model, clock),
    start: async (operator) => {
      const called = await nameOf(cluster);
      const server = await startDashboardServer({
        bind: call.bind,
        hostNames: [...LOOPBACK_NAMES, ...serviceNames(parts), ...call.hostNames],
        isPortOurs: false,
        packsStreams: true,
        ...(pair && { tls: { read: () => readTls(pair) } }),
        gate,
        page: await readPageFiles(defaultPageFolder()),
        source: {
          clock,
          logger,
          model,
          mayChange: call.mayChange,
          ...(called !== undefined && { cluster: called }),
          pulse: new ClusterPulse({ kube: cluster.kube, clock }),
          audit: { paths: auditPaths, namespace },
          operator: () =>
            operatorViewOf(operator.look(), { version, clockSkewMs: skew.skewMs, comparedAt: comparedAt() }),
        },
      });
      const close = async (): Promise<void> => {
        await server.close();
        model.stop();
        await transport.close();
      };
      return { ...server, close };
    },
  };
}

/** As `keyturn manifests` and the chart call it. */
function serviceNames({ name, namespace }: Pick<OperatorDashboardParts, "name" | "namespace">): readonly string[] {
  const service = `${name}-dashboard`;
  return ["", `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`].map((rest) => service + rest);
}

async function readTls(call: { readonly certificate: string; readonly key: string }): Promise<TlsPair> {
  const read = (flag: string, path: string): Promise<string> =>
    readFile(path, "utf8").catch((error: unknown) => {
      throw new UsageError(`--${flag} ${path}: ${messageOf(error)}`, error);
    });
  const certificate = await read("dashboard-tls-cert", call.certificate);
  return { certificate, key: new Redacted(await read("dashboard-tls-key", call.key)) };
}
