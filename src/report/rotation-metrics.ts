import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";

/** A credential as metrics see it. */
export interface CredentialView {
  readonly key: string;
  /** Undefined while there is no active key. */
  readonly activeSince: number | undefined;
  /** Infinity for a static one. */
  readonly rotationAt: number;
  /** From when on nothing holds that rotation back; Infinity while something does; absent: the same. */
  readonly dueAt?: number;
  readonly retired: number;
  /** Those of them that are kept because somebody has not moved on. */
  readonly held?: number;
  readonly isHealthy: boolean;
}

/** All credentials of one kind, as the watch knows them: asked when somebody looks. */
export interface CredentialProbe {
  readonly kind: string;
  readonly credentials: () => Iterable<CredentialView>;
}

export interface RotationMetricsOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** A series for each credential, by name: useful, and as many as there are. */
  readonly perObject: boolean;
}

const LATENESS_BUCKETS = [0.1, 0.5, 1, 2, 5, 15, 60, 300, 3600];
const CALL_BUCKETS = [0.01, 0.05, 0.25, 1, 2.5, 5, 15, 60];

/**
 * What is counted about rotation. Labels come from small fixed sets unless series by name were asked for. Must not:
 * influence what it observes, or carry anything but names.
 */
export class RotationMetrics {
  readonly #options: RotationMetricsOptions;
  readonly #probes: CredentialProbe[] = [];
  readonly #counters: ReturnType<typeof countersIn>;

  constructor(options: RotationMetricsOptions) {
    this.#options = options;
    this.#counters = countersIn(options.registry);
    this.#defineGauges();
  }

  addProbe(probe: CredentialProbe): void {
    this.#probes.push(probe);
  }

  /** Observers for one kind; shaped as the reconcile layer wants them. */
  observerOf(kind: string): {
    activated(cause: string, latenessMs: number | undefined): void;
    deleted(cause: string): void;
    secretRestored(): void;
    failed(code: string): void;
  } {
    const { activations, lateness, deletions, restored, failures } = this.#counters;
    // What has not happened yet is a zero, not a gap.
    for (const cause of ["first", "rotated", "forced"]) activations.inc({ kind, cause }, 0);
    deletions.inc({ kind, cause: "rotated" }, 0);
    restored.inc({ kind }, 0);
    return {
      activated: (cause, latenessMs) => {
        activations.inc({ kind, cause });
        if (latenessMs !== undefined) lateness.observe({ kind }, latenessMs / 1000);
      },
      deleted: (cause) => deletions.inc({ kind, cause }),
      secretRestored: () => restored.inc({ kind }),
      failed: (code) => failures.inc({ kind, reason: code }),
    };
  }

  httpObserverOf(provider: string): {
    requested(method: string, status: number | undefined, tookMs: number): void;
  } {
    const { calls, throttled } = this.#counters;
    throttled.inc({ provider }, 0);
    return {
      requested: (method, status, tookMs) => {
        calls.observe({ provider, method, status: status === undefined ? "none" : String(status) }, tookMs / 1000);
        if (status === 429) throttled.inc({ provider });
      },
    };
  }

  #defineGauges(): void {
    const { registry, perObject } = this.#options;
    const registers = [registry];
    const gauge = (name: string, help: string, measure: (views: readonly CredentialView[]) => number): void => {
      const each = (into: Gauge<string>): void => this.#measure(into, measure);
      new Gauge({
        name,
        help,
        labelNames: ["kind"],
        registers,
        collect() {
          each(this);
        },
      });
    };
    gauge("keyturn_credentials", "Credentials that are looked after.", (views) => views.length);
    gauge("keyturn_credentials_unhealthy", "Credentials that are not Ready or not Synced.", (views) =>
      count(views, (view) => !view.isHealthy),
    );
    gauge("keyturn_retired_keys", "Retired keys that still live.", (views) =>
      views.reduce((sum, view) => sum + view.retired, 0),
    );
    gauge("keyturn_held_keys", "Retired keys that are kept because a consumer has not moved on.", (views) =>
      views.reduce((sum, view) => sum + (view.held ?? 0), 0),
    );
    gauge("keyturn_active_key_age_max_seconds", "Age of the oldest active key.", (views) =>
      largest(views.map((view) => this.#now() - (view.activeSince ?? this.#now()))),
    );
    gauge(
      "keyturn_next_rotation_min_seconds",
      "Seconds until the next rotation of all; +Inf when none will come.",
      (views) =>
        Math.max(
          0,
          -largest(
            views.map((view) => this.#now() - view.rotationAt),
            -Infinity,
          ),
        ),
    );
    gauge(
      "keyturn_rotation_overdue_max_seconds",
      "How late the latest rotation is by now, of those that no window and nobody holds back.",
      (views) => largest(views.map((view) => this.#now() - dueOf(view))),
    );
    gauge(
      "keyturn_rotations_held_back",
      "Credentials whose rotation is due and held back: by a window, a freeze or a pause.",
      (views) => count(views, (view) => view.rotationAt <= this.#now() && dueOf(view) > this.#now()),
    );
    if (perObject) this.#definePerObject(registry);
  }

  #now(): number {
    return this.#options.clock.now() / 1000;
  }

  #measure(into: Gauge<string>, measure: (views: readonly CredentialView[]) => number): void {
    for (const { kind, credentials } of this.#probes) into.set({ kind }, measure(inSeconds(credentials())));
  }

  #definePerObject(registry: Registry): void {
    const define = (name: string, help: string, value: (view: CredentialView) => number | undefined): void => {
      const fill = (into: Gauge<string>): void => {
        into.reset();
        for (const { kind, credentials } of this.#probes) {
          for (const view of inSeconds(credentials())) {
            const measured = value(view);
            if (measured !== undefined && Number.isFinite(measured)) into.set({ kind, name: view.key }, measured);
          }
        }
      };
      new Gauge({
        name,
        help,
        labelNames: ["kind", "name"],
        registers: [registry],
        collect() {
          fill(this);
        },
      });
    };
    define("keyturn_active_key_created_timestamp_seconds", "When the active key was created.", (v) => v.activeSince);
    define("keyturn_next_rotation_timestamp_seconds", "When the next rotation is due.", (v) => v.rotationAt);
    define("keyturn_credential_retired_keys", "Retired keys of the credential.", (v) => v.retired);
  }
}

const inSeconds = (views: Iterable<CredentialView>): readonly CredentialView[] =>
  Array.from(views, (view) => ({
    ...view,
    activeSince: view.activeSince === undefined ? undefined : view.activeSince / 1000,
    rotationAt: view.rotationAt / 1000,
    ...(view.dueAt !== undefined && { dueAt: view.dueAt / 1000 }),
  }));

const dueOf = ({ dueAt, rotationAt }: CredentialView): number => dueAt ?? rotationAt;

/** A loop: as arguments, very many would not fit. */
const largest = (values: readonly number[], least = 0): number =>
  values.reduce((most, value) => (value > most ? value : most), least);

const count = <T>(items: readonly T[], holds: (item: T) => boolean): number => items.filter(holds).length;

const countersIn = (registry: Registry) => ({
  activations: new Counter({
    name: "keyturn_rotations_total",
    help: "Keys that became the active one, by why: first, rotated, forced, compromised, adopted, found.",
    labelNames: ["kind", "cause"],
    registers: [registry],
  }),
  lateness: new Histogram({
    name: "keyturn_rotation_lateness_seconds",
    help: "From when a rotation was due, and its window open, to when it began.",
    labelNames: ["kind"],
    buckets: LATENESS_BUCKETS,
    registers: [registry],
  }),
  deletions: new Counter({
    name: "keyturn_keys_deleted_total",
    help: "Retired keys that were deleted outside, by why they had been retired.",
    labelNames: ["kind", "cause"],
    registers: [registry],
  }),
  restored: new Counter({
    name: "keyturn_secrets_restored_total",
    help: "Published Secrets that somebody had changed or deleted, and that were put right.",
    labelNames: ["kind"],
    registers: [registry],
  }),
  failures: new Counter({
    name: "keyturn_rotation_failures_total",
    help: "Attempts that failed, by reason; docs/errors.md explains each.",
    labelNames: ["kind", "reason"],
    registers: [registry],
  }),
  calls: new Histogram({
    name: "keyturn_external_request_duration_seconds",
    help: "Requests to external systems; status none means that no whole answer came.",
    labelNames: ["provider", "method", "status"],
    buckets: CALL_BUCKETS,
    registers: [registry],
  }),
  throttled: new Counter({
    name: "keyturn_external_throttled_total",
    help: "Requests that an external system refused with 429.",
    labelNames: ["provider"],
    registers: [registry],
  }),
});
