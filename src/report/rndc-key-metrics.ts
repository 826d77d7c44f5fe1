import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";

/** An RNDC key as metrics see it. */
export interface RndcKeyView {
  readonly namespace: string;
  /** The Secret that it is published in. */
  readonly secret: string;
  /** Undefined while there is no active key. */
  readonly activeSince: number | undefined;
  /** From when on nothing holds the next rotation back; Infinity where none is to come. */
  readonly dueAt: number;
  readonly isHealthy: boolean;
}

export interface RndcKeyMetricsOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** So many keys have series of their own; those beyond share one, under `OTHERS`. */
  readonly maxSeries?: number;
}

/** Stands, in the place of an error code, for a workload that does not get restarted for a key. */
export const RESTART_STUCK = "RestartStuck";
/** Stands for the keys that there is no series for. */
export const OTHERS = "_others";
const MAX_SERIES = 1000;

interface Labels {
  namespace: string;
  secret: string;
}

/** Of several keys, the value that calls for somebody. */
type Worst = (...values: readonly number[]) => number;

/**
 * The metrics of RNDC keys under the names that their document gives them, and what its alerts need beside. A series for
 * each key, since the names say so, and so many at most. Ages are worked out when somebody looks. Must not: influence what
 * it observes.
 */
export class RndcKeyMetrics {
  readonly #options: RndcKeyMetricsOptions;
  readonly #rotations: Counter<"namespace" | "secret">;
  readonly #errors: Counter<"namespace" | "secret" | "error">;
  /** The keys that have series of their own, each with the errors it has had. */
  readonly #known = new Map<string, { readonly labels: Labels; readonly errors: Set<string> }>();
  #keys: (() => Iterable<RndcKeyView>) | undefined;

  constructor(options: RndcKeyMetricsOptions) {
    this.#options = options;
    const registers = [options.registry];
    // However a key went, it has no series when somebody looks.
    const collect = (): void => this.#forgetGone();
    this.#rotations = new Counter({
      name: "bindy_rndc_key_rotation_total",
      help: "Total number of RNDC key rotations",
      labelNames: ["namespace", "secret"],
      registers,
      collect,
    });
    this.#errors = new Counter({
      name: "bindy_rndc_key_rotation_errors_total",
      help: "Total number of RNDC key rotation errors",
      labelNames: ["namespace", "secret", "error"],
      registers,
      collect,
    });
  }

  /** Once: all keys, as the watch knows them. */
  addProbe(keys: () => Iterable<RndcKeyView>): void {
    const { clock } = this.#options;
    this.#keys = keys;
    const age = ({ activeSince }: RndcKeyView): number | undefined =>
      activeSince === undefined ? undefined : Math.max(0, clock.now() - activeSince) / 1000;
    const due = ({ dueAt }: RndcKeyView): number | undefined => (Number.isFinite(dueAt) ? dueAt / 1000 : undefined);
    const healthy = ({ isHealthy }: RndcKeyView): number => (isHealthy ? 1 : 0);
    const gauges: readonly (readonly [string, string, (key: RndcKeyView) => number | undefined, Worst])[] = [
      ["bindy_rndc_key_age_seconds", "Age of RNDC keys in seconds", age, Math.max],
      [
        "keyturn_rndc_key_rotation_due_timestamp_seconds",
        "From when on no window and nobody keeps the key from being rotated.",
        due,
        Math.min,
      ],
      ["keyturn_rndc_key_healthy", "0 while the key is not Ready or not Synced.", healthy, Math.min],
    ];
    for (const [name, help, measure, worst] of gauges) this.#gauge({ name, help }, keys, { measure, worst });
  }

  /** The key of this Secret has been replaced. */
  rotated(namespace: string, secret: string): void {
    this.#rotations.inc(this.#labels(namespace, secret));
  }

  /** An attempt to do something about it has failed, with this error code. */
  failed(namespace: string, secret: string, error: string): void {
    const labels = this.#labels(namespace, secret);
    this.#known.get(keyOf(labels))?.errors.add(error);
    // What has not happened yet is a zero, not a gap: an alert must see what one rotation after another comes to.
    this.#rotations.inc(labels, 0);
    this.#errors.inc({ ...labels, error });
  }

  /** Keys that the watch does not know any more, and Secrets that a key is not published in any more. */
  #forgetGone(): void {
    if (!this.#keys || this.#known.size === 0) return;
    const present = new Set(Array.from(this.#keys(), keyOf));
    for (const [key, { labels, errors }] of this.#known) {
      if (present.has(key)) continue;
      this.#known.delete(key);
      this.#rotations.remove(labels);
      for (const error of errors) this.#errors.remove({ ...labels, error });
    }
  }

  #labels(namespace: string, secret: string): Labels {
    const labels = { namespace, secret };
    if (this.#known.has(keyOf(labels))) return labels;
    if (this.#known.size >= this.#limit) return { namespace: OTHERS, secret: OTHERS };
    this.#known.set(keyOf(labels), { labels, errors: new Set() });
    return labels;
  }

  get #limit(): number {
    return this.#options.maxSeries ?? MAX_SERIES;
  }

  #gauge(
    what: { readonly name: string; readonly help: string },
    keys: () => Iterable<RndcKeyView>,
    how: { readonly measure: (key: RndcKeyView) => number | undefined; readonly worst: Worst },
  ): void {
    const limit = this.#limit;
    new Gauge({
      ...what,
      labelNames: ["namespace", "secret"],
      registers: [this.#options.registry],
      collect() {
        this.reset();
        const all = Array.from(keys(), (key) => ({ key, value: how.measure(key) }));
        let others: number | undefined;
        for (const [index, { key, value }] of all.entries()) {
          if (value === undefined) continue;
          if (index < limit) this.set({ namespace: key.namespace, secret: key.secret }, value);
          else others = how.worst(value, others ?? value);
        }
        if (others !== undefined) this.set({ namespace: OTHERS, secret: OTHERS }, others);
      },
    });
  }
}

const keyOf = ({ namespace, secret }: Pick<RndcKeyView, "namespace" | "secret">): string => `${namespace}/${secret}`;
