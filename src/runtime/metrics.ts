import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { LeaderObserver } from "./leader-election.ts";
import type { QueueDepth, QueueObserver } from "./queue.ts";
import type { WorkerObserver } from "./workers.ts";

/**
 * What the operator counts, in Prometheus' words. Queue, workers, watches and elector know nothing of it: they are handed
 * observers made here. A registry of its own, so that two operators in one process (as in tests) stay apart. Labels come
 * from small fixed sets, never from names of objects. Must not: influence what it observes.
 *
 * Own metrics start with `keyturn_`; those of the process and of Node keep the names that dashboards expect.
 */
export interface MetricsOptions {
  /** Off where many live in one process, since some of the process metrics cost a timer or an observer each. */
  readonly processMetrics?: boolean;
}

/** What a list-watch tells about itself. Must be quick and must not throw. */
export interface WatchObserver {
  event(type: "added" | "updated" | "deleted"): void;
  /** Connected again, and why. */
  restarted(reason: string): void;
}

/** Whom a watch serves, and what it looks at. */
export interface WatchLabels {
  /** By name, separated by commas: they share it. */
  readonly controllers: string;
  readonly kind: string;
  /** By labels or fields; empty when it is all of the kind. */
  readonly selector: string;
}

/** A watch as it is now: asked when somebody looks, so that no gauge shows what was true once. */
export interface WatchProbe {
  readonly labels: () => WatchLabels;
  readonly state: () => { readonly ready: boolean; readonly objects: number };
}

const WAIT_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300];
const WORK_BUCKETS = [0.005, 0.05, 0.25, 1, 2.5, 5, 15, 60, 300];

export class Metrics {
  /** For metrics of other layers. */
  readonly registry = new Registry();
  readonly #queue = queueMetrics(this.registry);
  readonly #workers = workerMetrics(this.registry);
  readonly #leader = leaderMetrics(this.registry);
  readonly #watch = watchMetrics(this.registry);

  constructor(options: MetricsOptions = {}) {
    if (options.processMetrics ?? true) collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }

  queueObservers(): (controller: string) => Required<QueueObserver> {
    const { depth, wait, work, retries } = this.#queue;
    return (controller) => {
      const depthChanged = (now: QueueDepth): void => {
        for (const state of ["person", "drift", "delayed", "running"] as const) {
          depth.set({ controller, state }, now[state]);
        }
      };
      // What has not happened yet is a zero, not a gap: an alert can tell "nothing" from "no such controller".
      depthChanged({ person: 0, drift: 0, delayed: 0, running: 0 });
      retries.inc({ controller }, 0);
      return {
        depthChanged,
        taken: (priority, waitedMs) => wait.observe({ controller, priority }, waitedMs / 1000),
        finished: (workMs) => work.observe({ controller }, workMs / 1000),
        retried: () => retries.inc({ controller }),
      };
    };
  }

  workerObservers(): (controller: string) => Required<WorkerObserver> {
    const { reconciles, duration, busy, stuck } = this.#workers;
    return (controller) => {
      busy.set({ controller }, 0);
      stuck.set({ controller }, 0);
      return {
        reconciled: (result, code, workMs) => {
          reconciles.inc({ controller, result, code: code ?? "" });
          duration.observe({ controller, result }, workMs / 1000);
        },
        busyChanged: (count) => busy.set({ controller }, count),
        stuckChanged: (count) => stuck.set({ controller }, count),
      };
    };
  }

  leaderObserver(): Required<LeaderObserver> {
    const { leading, changes, renewals, failures } = this.#leader;
    return {
      leadingChanged: (isLeading) => leading.set(isLeading ? 1 : 0),
      holderChanged: () => changes.inc(),
      renewed: (tookMs) => renewals.observe(tookMs / 1000),
      renewFailed: (code) => failures.inc({ code }),
    };
  }

  watchObservers(): (probe: WatchProbe) => WatchObserver {
    const { events, restarts, probes } = this.#watch;
    return (probe) => {
      probes.add(probe);
      return {
        event: (type) => events.inc({ ...probe.labels(), type }),
        restarted: (reason) => restarts.inc({ ...probe.labels(), reason }),
      };
    };
  }
}

const queueMetrics = (registry: Registry) => ({
  depth: new Gauge({
    name: "keyturn_queue_depth",
    help: "Keys in the work queue: person and drift wait for a worker, delayed ones for a retry.",
    labelNames: ["controller", "state"],
    registers: [registry],
  }),
  wait: new Histogram({
    name: "keyturn_queue_wait_seconds",
    help: "How long ready keys waited for a worker.",
    labelNames: ["controller", "priority"],
    buckets: WAIT_BUCKETS,
    registers: [registry],
  }),
  work: new Histogram({
    name: "keyturn_queue_work_seconds",
    help: "How long keys were held by a worker.",
    labelNames: ["controller"],
    buckets: WORK_BUCKETS,
    registers: [registry],
  }),
  retries: new Counter({
    name: "keyturn_queue_retries_total",
    help: "Keys put back after a failure.",
    labelNames: ["controller"],
    registers: [registry],
  }),
});

const workerMetrics = (registry: Registry) => ({
  reconciles: new Counter({
    name: "keyturn_reconciles_total",
    help: "Reconciles by result; the code is that of the error, see docs/errors.md.",
    labelNames: ["controller", "result", "code"],
    registers: [registry],
  }),
  duration: new Histogram({
    name: "keyturn_reconcile_seconds",
    help: "How long reconciles took.",
    labelNames: ["controller", "result"],
    buckets: WORK_BUCKETS,
    registers: [registry],
  }),
  busy: new Gauge({
    name: "keyturn_workers_busy",
    help: "Workers that are at work.",
    labelNames: ["controller"],
    registers: [registry],
  }),
  stuck: new Gauge({
    name: "keyturn_reconciles_stuck",
    help: "Reconciles that have not returned for longer than they should.",
    labelNames: ["controller"],
    registers: [registry],
  }),
});

const leaderMetrics = (registry: Registry) => ({
  leading: new Gauge({
    name: "keyturn_leader",
    help: "1 while this process leads; one without an election always does.",
    registers: [registry],
  }),
  changes: new Counter({
    name: "keyturn_leader_changes_total",
    help: "How often the Lease was seen to change hands.",
    registers: [registry],
  }),
  renewals: new Histogram({
    name: "keyturn_leader_renew_seconds",
    help: "How long successful writes of the Lease took.",
    buckets: WORK_BUCKETS,
    registers: [registry],
  }),
  failures: new Counter({
    name: "keyturn_leader_renew_failures_total",
    help: "Renewals of the Lease that failed, by error code.",
    labelNames: ["code"],
    registers: [registry],
  }),
});

const WATCH_LABELS: (keyof WatchLabels)[] = ["controllers", "kind", "selector"];

function watchMetrics(registry: Registry) {
  const probes = new Set<WatchProbe>();
  const gauge = (name: string, help: string, read: (state: ReturnType<WatchProbe["state"]>) => number): void => {
    const made: Gauge<keyof WatchLabels> = new Gauge({
      name,
      help,
      labelNames: WATCH_LABELS,
      registers: [registry],
      collect: () => {
        for (const { labels, state } of probes) made.set({ ...labels() }, read(state()));
      },
    });
  };
  gauge("keyturn_watch_cached_objects", "Objects in the cache.", ({ objects }) => objects);
  gauge("keyturn_watch_ready", "1 while the cache is complete and in contact with the server.", ({ ready }) =>
    ready ? 1 : 0,
  );
  return {
    probes,
    events: new Counter({
      name: "keyturn_watch_events_total",
      help: "Changes that watches delivered.",
      labelNames: [...WATCH_LABELS, "type"],
      registers: [registry],
    }),
    restarts: new Counter({
      name: "keyturn_watch_restarts_total",
      help: "Watch connections that had to be made again, by reason.",
      labelNames: [...WATCH_LABELS, "reason"],
      registers: [registry],
    }),
  };
}
