import { parseDuration } from "../base/duration.ts";
import { messageOf, UsageError } from "../base/errors.ts";
import type { MaintenanceWindow } from "../engine/windows.ts";
import type { RestartSettings } from "../reconcile/restart/restart-settings.ts";
import { OWN_PREFIX } from "../restart/annotations.ts";
import { MAX_PER_HOUR, parseRestartWindows } from "../restart/pace.ts";
import type { Flags, OptionSpec } from "./command.ts";
import { readWholeNumber } from "./flag-values.ts";

/** The flags about restarts, and how they are read. A workload's annotations say otherwise for itself. */
export const restartOptions: readonly OptionSpec[] = [
  {
    name: "restart-prefix",
    value: "PREFIXES",
    description: `Workloads opt in to restarts with PREFIX/restartOnChange too, besides ${OWN_PREFIX}; several separated by commas.`,
  },
  { name: "reloader-annotations", description: "The annotations of Reloader opt in to restarts too." },
  {
    name: "restart-quiet-period",
    value: "DURATION",
    description: "A change is rolled out when nothing else has changed for so long.",
    default: "5s",
  },
  {
    name: "restart-max-wait",
    value: "DURATION",
    description: "A change waits no longer than this for a quiet period.",
    default: "1m",
  },
  {
    name: "restart-min-interval",
    value: "DURATION",
    description: "No workload is restarted again sooner than this.",
    default: "0s",
  },
  {
    name: "restart-max-per-hour",
    value: "N",
    description: "More restarts of a workload within an hour are a fight, and are stopped; 0: never.",
    default: "12",
  },
  {
    name: "restart-max-rollouts",
    value: "N",
    description: "How many rollouts go on at a time in the cluster; 0: any number.",
    default: "50",
  },
  {
    name: "restart-max-rollouts-per-namespace",
    value: "N",
    description: "How many of them in one namespace; 0: any number.",
    default: "10",
  },
  {
    name: "restart-again",
    description: "Leave a restart that somebody has reverted before it was over, and do not begin it again, once.",
    isOnByDefault: true,
  },
  {
    name: "restart-window",
    value: "WINDOW",
    description: 'When restarts may begin: "CRON; DURATION[; ZONE]", for example "0 2 * * *; 3h; Europe/Berlin".',
  },
];

export function readRestartSettings(flags: Flags): RestartSettings {
  const perHour = readWholeNumber(flags, "restart-max-per-hour", { min: 0, max: MAX_PER_HOUR });
  return {
    prefixes: readPrefixes(flags),
    reloader: flags.isOn("reloader-annotations"),
    defaults: {
      pace: {
        quietMs: readLength(flags, "restart-quiet-period"),
        longestWaitMs: readLength(flags, "restart-max-wait"),
        leastIntervalMs: readLength(flags, "restart-min-interval"),
        perHour,
      },
      windows: readWindows(flags),
    },
    maxRollouts: readWholeNumber(flags, "restart-max-rollouts", { min: 0, max: 1_000_000 }),
    maxRolloutsPerNamespace: readWholeNumber(flags, "restart-max-rollouts-per-namespace", { min: 0, max: 1_000_000 }),
    beginsAgain: flags.isOn("restart-again"),
  };
}

/** What was asked for and does not come about, in words for the log. */
export function restartHints({ defaults: { pace } }: RestartSettings): readonly string[] {
  if (pace.quietMs <= pace.longestWaitMs) return [];
  return ["--restart-max-wait is shorter than --restart-quiet-period, and goes before it"];
}

/** Nothing is a length, too. */
function readLength(flags: Flags, name: string): number {
  try {
    return parseDuration(flags.text(name) ?? "");
  } catch (error) {
    throw new UsageError(`--${name}: ${messageOf(error)}`, error);
  }
}

/** What may stand before the slash of an annotation: a DNS subdomain. */
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function readPrefixes(flags: Flags): readonly string[] {
  const given = flags.texts("restart-prefix").flatMap((text) => text.split(",").map((prefix) => prefix.trim()));
  for (const prefix of given) {
    if (prefix.length > 253 || !PREFIX.test(prefix)) {
      throw new UsageError(`--restart-prefix: "${prefix}" cannot stand before the slash of an annotation`);
    }
  }
  return [...new Set([OWN_PREFIX, ...given])];
}

function readWindows(flags: Flags): readonly MaintenanceWindow[] {
  try {
    return flags.texts("restart-window").flatMap((text) => parseRestartWindows(text));
  } catch (error) {
    throw new UsageError(`--restart-window: ${messageOf(error)}`, error);
  }
}
