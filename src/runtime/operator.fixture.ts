import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { createFaultyTransport, type FaultPlan, type FaultyTransport } from "../kube/faulty-transport.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Controller, Watch } from "./controller.ts";
import { Metrics } from "./metrics.ts";
import type { Onlooker } from "./onlooker.ts";
import { Operator, type OperatorOptions } from "./operator.ts";
import { Shutdown } from "./shutdown.ts";
import type { Outcome } from "./workers.ts";

/** A world for one operator: the embedded API without sockets, a clock that is moved by hand, faults on request. */
const group = "test.keyturn.dev";

const kind = (name: string, plural: string): ResourceType => ({
  group,
  version: "v1",
  plural,
  kind: name,
  namespaced: false,
});

export const widgets = kind("Widget", "widgets");
export const gadgets = kind("Gadget", "gadgets");
export const leases: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};
export const namespaces: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const record = ({ metadata }: KubeObject): object => ({ generation: metadata.generation ?? 0 });
const widgetWatch: Watch = { source: { type: widgets, record }, keysOf: ({ key }) => [key] };
const gadgetWatch: Watch = { source: { type: gadgets, record }, keysOf: () => [] };

export interface Cluster {
  readonly clock: ManualClock;
  /** Not through the faults. */
  readonly kube: Kube;
  install(type: ResourceType): Promise<void>;
  uninstall(type: ResourceType): Promise<void>;
  put(type: ResourceType, name: string): Promise<void>;
  connect(): { readonly kube: Kube; readonly faults: Faults };
}

interface Faults {
  plan: FaultPlan;
  readonly transport: FaultyTransport;
  readonly requests: string[];
}

export function startCluster(): Cluster {
  const clock = new ManualClock();
  const server = new EmbeddedServer({ clock, random: seededRandom(1), logger: silentLogger });
  server.start();
  const client = (transport: Parameters<typeof createKubeClient>[0]["transport"]): Kube =>
    createKubeClient({ transport, clock, userAgent: "keyturn-test" });
  const kube = client(createLocalTransport(server.api));
  return {
    clock,
    kube,
    install: async (type) => {
      await kube.create(definitions, definitionOf(type));
      await clock.advance(100);
    },
    uninstall: async (type) => {
      await kube.delete(definitions, { name: `${type.plural}.${type.group}` });
      await clock.advance(100);
    },
    put: async (type, name) => {
      await kube.create(type, { apiVersion: `${group}/v1`, kind: type.kind, metadata: { name } });
    },
    connect: () => {
      const faults: { plan: FaultPlan; requests: string[] } = { plan: () => undefined, requests: [] };
      const transport = createFaultyTransport({
        inner: createLocalTransport(server.api),
        clock,
        plan: (request) => {
          faults.requests.push(`${request.method} ${request.path}`);
          return faults.plan(request);
        },
      });
      return { kube: client(transport), faults: Object.assign(faults, { transport }) };
    },
  };
}

const definitionOf = (type: ResourceType): KubeObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${type.plural}.${type.group}` },
  spec: {
    group: type.group,
    scope: "Cluster",
    names: { plural: type.plural, kind: type.kind },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

export interface Running {
  readonly operator: Operator;
  readonly metrics: Metrics;
  readonly faults: Faults;
  /** The keys as they were reconciled, `-key` where the cache no longer held the object. */
  readonly reconciled: string[];
  readonly log: LogLine[];
  readonly lost: string[];
  /** What the process would have ended with. */
  readonly exits: number[];
  readonly shutdown: Shutdown;
  stop(): Promise<void>;
  metric(name: string): Promise<string | undefined>;
}

export interface StartOptions {
  /** What a reconcile does besides being noted. */
  readonly work?: (key: string, signal: AbortSignal) => Promise<Outcome>;
  readonly isElected?: boolean;
  readonly leaseNamespace?: string;
  readonly name?: string;
  readonly plan?: FaultPlan;
  /** Gadgets only save time. */
  readonly areGadgetsHints?: boolean;
  /** Gadgets are looked at for the sake of widgets. */
  readonly areGadgetsForWidgets?: boolean;
  readonly onlookers?: readonly Onlooker[];
}

/** An operator with one controller that watches widgets and gadgets and notes which keys it was given. */
export async function startOperator(cluster: Cluster, options: StartOptions = {}): Promise<Running> {
  const { clock } = cluster;
  const { kube, faults } = cluster.connect();
  if (options.plan) faults.plan = options.plan;
  const log: LogLine[] = [];
  const [reconciled, lost, exits]: [string[], string[], number[]] = [[], [], []];
  const metrics = new Metrics({ processMetrics: false });
  const logger = recordingLogger(log);
  const election: Partial<OperatorOptions> = options.isElected
    ? { election: { namespace: options.leaseNamespace ?? "default", name: "keyturn", identity: options.name ?? "a" } }
    : {};
  const operator = new Operator({
    kube,
    clock,
    random: seededRandom(options.name?.length ?? 7),
    logger,
    metrics,
    controllers: [noting(reconciled, options)],
    workersPerController: 4,
    onLost: (reason) => void lost.push(reason),
    ...election,
    ...(options.onlookers && { onlookers: options.onlookers }),
  });
  const shutdown = new Shutdown({ clock, logger, exit: (code) => void exits.push(code) });
  operator.addShutdownSteps(shutdown);
  operator.start();
  await clock.advance(10);
  return {
    operator,
    metrics,
    faults,
    reconciled,
    log,
    lost,
    exits,
    shutdown,
    stop: async () => {
      const left = shutdown.leave("test", 0);
      await clock.advance(5_000);
      await left;
    },
    metric: async (name) => {
      const line = (await metrics.render()).split("\n").find((candidate) => candidate.startsWith(`${name} `));
      return line?.slice(name.length + 1);
    },
  };
}

function noting(reconciled: string[], options: StartOptions): Controller {
  const { source } = gadgetWatch;
  const sakes = options.areGadgetsForWidgets === true ? { source: { ...source, sakes: [widgetWatch.source] } } : {};
  return {
    name: "test",
    watches: [widgetWatch, { ...gadgetWatch, isHint: options.areGadgetsHints === true, ...sakes }],
    createReconcile: ({ cacheOf }) => {
      const cache = cacheOf(widgetWatch);
      return async (key, signal) => {
        reconciled.push(cache.get(key) === undefined ? `-${key}` : key);
        return options.work ? options.work(key, signal) : { kind: "settled" };
      };
    },
  };
}
