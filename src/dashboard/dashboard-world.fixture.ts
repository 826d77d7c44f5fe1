import { serviceBinding } from "../api/btp/service-binding.ts";
import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { formatInstant } from "../base/instant.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import { apiVersionOf, type KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { crdType } from "../runtime/operator.ts";
import { ClusterWatch } from "./cluster-watch.ts";
import { type DashboardServer, startDashboardServer } from "./dashboard-server.ts";
import type { Gate } from "./gate.ts";
import { LinkGate } from "./link-gate.ts";
import { OwnGuest } from "./own-guest.ts";
import type { PageFiles } from "./page-files.ts";
import { ReadModel } from "./read-model.ts";
import { LOOPBACK_NAMES } from "./request-guard.ts";
import type { LiveMessage, OperatorView } from "./wire.ts";

/** A dashboard over real HTTP on loopback, of an embedded API without sockets. Real time passes: nothing here waits for much of it. */
export interface DashboardWorld {
  readonly kube: Kube;
  readonly model: ReadModel;
  readonly server: DashboardServer;
  readonly log: readonly LogLine[];
  /** A token that was exchanged for the link. */
  readonly token: string;
  readonly link: () => string;
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** A page that is open, from its first message on. */
  live(token?: string): Promise<LivePage>;
  close(): Promise<void>;
}

interface AskOptions {
  readonly body?: unknown;
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly json: any;
}

interface LivePage {
  readonly status: number;
  /** The next message for which this holds. */
  until(isMeant: (message: LiveMessage) => boolean): Promise<LiveMessage>;
  /** Resolves when the server ends it. */
  ended(): Promise<void>;
  /** Everything that came, as it came. */
  text(): string;
  leave(): Promise<void>;
}

export interface DashboardWorldOptions {
  /** An API that is there already, with the kinds in it, and its clock. Absent: one of its own. */
  readonly on?: { readonly kube: Kube; readonly clock: Clock };
  /** What is said of the operator, beside the watches. */
  readonly operator?: Omit<OperatorView, "watches">;
  readonly mayChange?: boolean;
  readonly cluster?: string;
  readonly page?: PageFiles;
  readonly auditPaths?: readonly string[];
  readonly kubeOf?: (kube: Kube) => Kube;
  readonly gateOf?: (parts: { readonly kube: Kube; readonly model: ReadModel }) => Gate;
}

/** Those of the kinds that are shown, and no others: each takes a moment to be made. */
const managedDefinitions = customResources
  .filter(({ group, plural }) => managedKinds.some(({ type }) => type.group === group && type.plural === plural))
  .map(definitionOf);

const operator: OperatorView = { seenFrom: "command", version: "0", watches: [] };

async function ownCluster(): Promise<{ readonly kube: Kube; readonly clock: Clock }> {
  const clock = systemClock;
  const api = new EmbeddedServer({ clock, random: seededRandom(3), logger: silentLogger });
  const kube = createKubeClient({ transport: createLocalTransport(api.api), clock, userAgent: "keyturn/test" });
  for (const definition of managedDefinitions) {
    await kube.create<KubeObject>(crdType, definition);
  }
  return { kube, clock };
}

export async function dashboardWorld(options: DashboardWorldOptions = {}): Promise<DashboardWorld> {
  const { kube, clock } = options.on ?? (await ownCluster());
  const lines: LogLine[] = [];
  const logger = recordingLogger(lines);
  const model = new ReadModel({ clock, logger });
  const seen = options.kubeOf?.(kube) ?? kube;
  const watch = new ClusterWatch({
    kube: seen,
    clock,
    random: seededRandom(4),
    logger: silentLogger,
    model,
    namespace: undefined,
    contextNamespace: "default",
  });
  const stopping = new AbortController();
  const running = watch.run(stopping.signal);
  const guest = new OwnGuest({ kube: seen, origin: "a test", unseen: () => watch.unseen() });
  const linkGate = new LinkGate({ clock, random: seededRandom(5), guest });
  const gate = options.gateOf?.({ kube, model }) ?? linkGate;
  const server = await startDashboardServer({
    bind: { host: "127.0.0.1", port: 0 },
    hostNames: LOOPBACK_NAMES,
    isPortOurs: true,
    packsStreams: false,
    gate,
    page: options.page ?? new Map(),
    source: {
      clock,
      logger,
      model,
      ...(options.cluster !== undefined && { cluster: options.cluster }),
      mayChange: options.mayChange ?? true,
      audit: { paths: options.auditPaths ?? [], namespace: "keyturn-system" },
      operator: () => ({ ...operator, ...options.operator, watches: watch.watches() }),
    },
  });
  const token = linkGate.exchange(linkGate.link).token;
  return {
    kube,
    model,
    server,
    log: lines,
    token,
    link: () => linkGate.link,
    ask: (path, asked = {}) => ask(server.url + path, { token, ...asked }),
    live: (borne = token) => openLive(server.url, borne),
    close: async () => {
      stopping.abort();
      await server.close();
      await running;
      model.stop();
    },
  };
}

async function ask(url: string, { body, method, token, headers }: AskOptions): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(token !== undefined && token !== "" && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

async function openLive(url: string, token: string): Promise<LivePage> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/api/live`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  const messages: LiveMessage[] = [];
  let [text, read] = ["", 0];
  let wake = Promise.withResolvers<void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n", read); end >= 0; end = text.indexOf("\n\n", read)) {
        const event = text.slice(read, end);
        read = end + 2;
        if (event.startsWith("data: ")) messages.push(JSON.parse(event.slice(6)) as LiveMessage);
      }
      wake.resolve();
    }
  })().catch(() => {});
  let next = 0;
  return {
    status: response.status,
    until: async (isMeant) => {
      for (;;) {
        const message = messages[next];
        if (message) {
          next++;
          if (isMeant(message)) return message;
          continue;
        }
        wake = Promise.withResolvers<void>();
        await Promise.race([wake.promise, reading.then(() => Promise.reject(new Error("the stream is over")))]);
      }
    },
    ended: () => reading,
    text: () => text,
    leave: async () => {
      leaving.abort();
      await reading;
    },
  };
}

const DAY_MS = 86_400_000;

export interface BindingOptions {
  readonly metadata?: Partial<KubeObject["metadata"]>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** One that has an active key of two days, and rotates every twelve. */
export async function putBinding(kube: Kube, name: string, options: BindingOptions = {}): Promise<KubeObject> {
  const made = await kube.create<KubeObject>(serviceBinding, {
    apiVersion: apiVersionOf(serviceBinding),
    kind: serviceBinding.kind,
    metadata: {
      ...options.metadata,
      name,
      annotations: { "crossplane.io/external-name": `${name}-id`, ...options.metadata?.annotations },
      finalizers: ["keyturn.dev/keys"],
    },
    spec: {
      rotation: { ttl: "336h", frequency: "288h" },
      forProvider: { name, serviceInstanceId: "5e2ba271-9ea5-4bb6-a8b7-8e8b2bbd6ddb" },
      writeConnectionSecretToRef: { namespace: "default", name: `${name}-secret` },
      ...options.spec,
    },
  });
  const createdDate = formatInstant(systemClock.now() - 2 * DAY_MS);
  const status = options.status ?? {
    atProvider: { id: `${name}-id`, name: `${name}-key`, createdDate, sequence: 1, madeFrom: "m" },
    sequence: 1,
    conditions: [{ type: "Synced", status: "True", reason: "ReconcileSuccess", lastTransitionTime: createdDate }],
  };
  return kube.replace<KubeObject>(serviceBinding, { ...made, status }, { subresource: "status" });
}
