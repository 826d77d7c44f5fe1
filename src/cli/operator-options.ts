import type { AuditTrail } from "../audit/audit-entry.ts";
import type { Logger } from "../base/logger.ts";
import { controllerGroups } from "../install/controller-groups.ts";
import type { ClockSkew } from "../kube/clock-skew.ts";
import { UndiciHttp } from "../providers/undici-http.ts";
import type { ControllerSettings } from "../reconcile/controller-settings.ts";
import { type ControllerFactory, controllers } from "../reconcile/controllers.ts";
import { RestartKnowledge } from "../reconcile/restart/restart-knowledge.ts";
import { RESTART } from "../reconcile/restart/restart-name.ts";
import { RestartMetrics } from "../report/restart-metrics.ts";
import { RndcKeyMetrics } from "../report/rndc-key-metrics.ts";
import { RotationMetrics } from "../report/rotation-metrics.ts";
import type { Controller } from "../runtime/controller.ts";
import { createLogWriter } from "../runtime/log-writer.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { Flags, OptionSpec, World } from "./command.ts";
import { controllerChoices, describeControllers, readControllerNames } from "./controller-names.ts";
import { readChoice, readDuration, readWholeNumber } from "./flag-values.ts";
import { readRestartSettings, restartOptions } from "./restart-options.ts";

/** How long things take by default: in production, and where everything is quick so that there is something to see. */
export interface Pace {
  readonly minFrequency: string;
  readonly minRotateAfter: string;
  readonly driftCheck: string;
  readonly childCheck: string;
  readonly sweepEvery: string;
  readonly settleTime: string;
}

export const PRODUCTION_PACE: Pace = {
  minFrequency: "1m",
  minRotateAfter: "1h",
  driftCheck: "1h",
  childCheck: "1m",
  sweepEvery: "1h",
  settleTime: "5m",
};
export const DEMO_PACE: Pace = {
  minFrequency: "5s",
  minRotateAfter: "10s",
  driftCheck: "1m",
  childCheck: "10s",
  sweepEvery: "1m",
  settleTime: "10s",
};

const controllerNames = controllers.map(({ name }) => name);

/** The flags that `operator` and `up` share, and how they are read. */
export const operatorOptions = (pace: Pace): readonly OptionSpec[] => [
  {
    name: "controllers",
    value: "NAMES",
    description: `Controllers to switch on, separated by commas: ${describeControllers(controllerNames)}.`,
    default: "*",
    choices: controllerChoices(controllerNames),
  },
  {
    name: "workers",
    value: "N",
    description: "How many objects a controller works on at a time, for each ProviderConfig.",
    default: "32",
  },
  {
    name: "min-frequency",
    value: "DURATION",
    description: "The shortest rotation frequency that is accepted.",
    default: pace.minFrequency,
  },
  {
    name: "min-rotate-after",
    value: "DURATION",
    description: "The shortest rotateAfter of an RNDC key of BIND 9 that is accepted.",
    default: pace.minRotateAfter,
  },
  {
    name: "rollout-patience",
    value: "DURATION",
    description: "How long a rollout for an RNDC key may take before it is told of, and begun again.",
    default: "10m",
  },
  {
    name: "drift-check",
    value: "DURATION",
    description: "How often each credential is compared with what is outside.",
    default: pace.driftCheck,
  },
  {
    name: "child-check",
    value: "DURATION",
    description: "How often the children of RotatingResources, which cannot be watched, are looked at.",
    default: pace.childCheck,
  },
  {
    name: "sweep-every",
    value: "DURATION",
    description: "How often keys whose resource is gone are searched for outside.",
    default: pace.sweepEvery,
  },
  {
    name: "settle-time",
    value: "DURATION",
    description: "How long a request to make a key may still have an effect after nobody waits for it.",
    default: pace.settleTime,
  },
  {
    name: "overdue-rate",
    value: "N",
    description: "How many rotations that are overdue together start within a second, per ProviderConfig.",
    default: "10",
  },
  ...restartOptions,
  {
    name: "korifi",
    value: "MODE",
    description:
      "Service instances and bindings of Korifi: auto leaves them to Korifi's own controllers where it finds signs of them, on looks after them all the same, off never.",
    default: "auto",
    choices: ["auto", "on", "off"],
  },
  { name: "metrics-per-object", description: "Metrics with a series for each credential, by name." },
  {
    name: "log-level",
    value: "LEVEL",
    description: "debug, info, warn or error.",
    default: "info",
    choices: ["debug", "info", "warn", "error"],
  },
];

type FlaggedSettings = Pick<
  ControllerSettings,
  | "minFrequencyMs"
  | "minRotateAfterMs"
  | "rolloutPatienceMs"
  | "driftCheckMs"
  | "childCheckMs"
  | "sweepMs"
  | "settleMs"
  | "overdueStartsPerSecond"
  | "korifi"
  | "restart"
>;

/** What the flags say about controllers. */
export interface ControllerChoice {
  readonly factories: readonly ControllerFactory[];
  readonly settings: FlaggedSettings;
  readonly metricsPerObject: boolean;
}

/** Refuses nonsense before anything is opened. */
export function readControllers(flags: Flags): ControllerChoice {
  const wanted = readControllerNames(flags, controllerNames);
  const korifi = readChoice(flags, "korifi", ["auto", "on", "off"]);
  const isOff = (name: string): boolean => korifi === "off" && (controllerGroups.get("korifi") ?? []).includes(name);
  return {
    factories: controllers.filter(({ name }) => wanted.includes(name) && !isOff(name)),
    settings: {
      minFrequencyMs: readDuration(flags, "min-frequency"),
      minRotateAfterMs: readDuration(flags, "min-rotate-after"),
      rolloutPatienceMs: readDuration(flags, "rollout-patience"),
      driftCheckMs: readDuration(flags, "drift-check"),
      childCheckMs: readDuration(flags, "child-check"),
      sweepMs: readDuration(flags, "sweep-every"),
      settleMs: readDuration(flags, "settle-time"),
      overdueStartsPerSecond: readWholeNumber(flags, "overdue-rate", { min: 1, max: 100_000 }),
      korifi: korifi === "on" ? "on" : "auto",
      restart: readRestartSettings(flags),
    },
    metricsPerObject: flags.isOn("metrics-per-object"),
  };
}

export interface ControllerParts {
  readonly world: World;
  readonly metrics: Metrics;
  readonly skew: ClockSkew;
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
  readonly audit?: AuditTrail | undefined;
  readonly onCompared?: ControllerSettings["onCompared"];
}

export interface SwitchedOn {
  readonly controllers: readonly Controller[];
  /** Once nothing works any more: ends the connections to external systems. */
  readonly addShutdownSteps: (shutdown: Shutdown) => void;
}

export async function createControllers(choice: ControllerChoice, parts: ControllerParts): Promise<SwitchedOn> {
  const { world, metrics, skew, namespace, audit, onCompared } = parts;
  const { clock } = world;
  const http = new UndiciHttp();
  // Made first: others look at workloads through its watches.
  const restarts = choice.factories.filter(({ name }) => name === RESTART);
  const others = choice.factories.filter(({ name }) => name !== RESTART);
  const settings: ControllerSettings = {
    ...choice.settings,
    namespace,
    instance: world.hostName,
    http,
    metrics: new RotationMetrics({ registry: metrics.registry, clock, perObject: choice.metricsPerObject }),
    rndcKeyMetrics: new RndcKeyMetrics({ registry: metrics.registry, clock }),
    ...(audit && { audit }),
    ...(onCompared && { onCompared }),
    isSkewed: () => skew.isSkewed,
    restartMetrics: new RestartMetrics(metrics.registry),
    ...(restarts.length > 0 && { knowledge: new RestartKnowledge(choice.settings.restart) }),
  };
  const creates = await Promise.all([...restarts, ...others].map((factory) => factory.load()));
  return {
    controllers: creates.map((create) => create(settings)),
    addShutdownSteps: (shutdown) =>
      shutdown.addStep({ name: "external connections", boundMs: 500, run: () => http.close() }),
  };
}

export function readLogger(flags: Flags, world: World, format: "json" | "text"): Logger {
  const { clock, stderr } = world;
  return createLogWriter({
    clock,
    level: readChoice(flags, "log-level", ["debug", "info", "warn", "error"]),
    format,
    write: (line, level) => {
      const isUrgent = level === "warn" || level === "error";
      if (isUrgent || !stderr.writeSoon) stderr.write(line);
      else stderr.writeSoon(line);
    },
  });
}
