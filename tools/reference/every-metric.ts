import { Registry } from "prom-client";
import { AuditMetrics } from "../../src/audit/audit-metrics.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { RestartMetrics } from "../../src/report/restart-metrics.ts";
import { RndcKeyMetrics } from "../../src/report/rndc-key-metrics.ts";
import { RotationMetrics } from "../../src/report/rotation-metrics.ts";
import { Metrics } from "../../src/runtime/metrics.ts";

/** A metric as it is declared. */
interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
  /** Whether it is there with `--metrics-per-object` alone. */
  readonly isPerObject: boolean;
}

/** By what they are about, in the order in which the page lists them. */
export interface MetricGroup {
  readonly title: string;
  readonly metrics: readonly DeclaredMetric[];
}

/**
 * Every metric of ours, from the very objects that the operator counts with: each family is made once, on a registry of its
 * own, as the operator makes it. `test/docs/metrics.test.ts` sees to it that none is missing.
 */
export function everyMetric(): readonly MetricGroup[] {
  const clock = new ManualClock();
  const rotation = (perObject: boolean): Registry =>
    filled((registry) => void new RotationMetrics({ registry, clock, perObject }));
  const always = new Set(keptIn(rotation(false)).map(({ name }) => name));
  return [
    group("Rotation", rotation(true), (name) => !always.has(name)),
    group(
      "RNDC keys",
      filled((registry) => new RndcKeyMetrics({ registry, clock }).addProbe(() => [])),
    ),
    group(
      "Restarts",
      filled((registry) =>
        new RestartMetrics(registry).addProbe({ stopped: () => 0, waiting: () => 0, rolloutsUnderWay: () => 0 }, []),
      ),
    ),
    group(
      "The audit log",
      filled((registry) => new AuditMetrics(registry).addProbe({ state: { waiting: 0, unanchored: 0 } })),
    ),
    group("Queue, workers, leader and watches", new Metrics({ processMetrics: false }).registry),
  ];
}

function filled(fill: (registry: Registry) => void): Registry {
  const registry = new Registry();
  fill(registry);
  return registry;
}

/** As prom-client keeps them; its types do not say so. */
interface Kept {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

const keptIn = (registry: Registry): readonly Kept[] =>
  registry.getMetricsAsArray().map((metric) => metric as unknown as Kept);

const group = (
  title: string,
  registry: Registry,
  isPerObject: (name: string) => boolean = () => false,
): MetricGroup => ({
  title,
  metrics: keptIn(registry).map(({ name, help, type, labelNames }) => ({
    name,
    help,
    type,
    labels: labelNames,
    isPerObject: isPerObject(name),
  })),
});
