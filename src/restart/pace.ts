import { parseDuration } from "../base/duration.ts";
import { InvalidValue, messageOf } from "../base/errors.ts";
import { type MaintenanceWindow, nextOpening, parseWindow } from "../engine/windows.ts";
import { type Annotations, MAX_ROLLOUTS_ANNOTATION, PACE_ANNOTATIONS } from "./annotations.ts";
import type { Pace } from "./model.ts";

/** How restarts of one workload are spread, and when they may begin. */
export interface PaceSettings {
  readonly pace: Pace;
  /** None: at any time. */
  readonly windows: readonly MaintenanceWindow[];
}

/**
 * The defaults, with what the annotations say otherwise. A mistake is a problem, and the default counts; of windows, those
 * that can be read: who asks for any does not want restarts at all times.
 */
export function readPace(
  annotations: Annotations,
  defaults: PaceSettings,
): PaceSettings & { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T, otherwise: T): T =>
    readAnnotation({ annotations, name, parse, otherwise, problems });
  const { quietPeriod, maxWait, minInterval, maxPerHour, window } = PACE_ANNOTATIONS;
  const { pace, windows } = defaults;
  return {
    pace: {
      quietMs: read(quietPeriod, parseDuration, pace.quietMs),
      longestWaitMs: read(maxWait, parseDuration, pace.longestWaitMs),
      leastIntervalMs: read(minInterval, parseDuration, pace.leastIntervalMs),
      perHour: read(maxPerHour, parseRestartsPerHour, pace.perHour),
    },
    windows: readWindows(annotations[window], windows, (problem) => problems.push(`${window}: ${problem}`)),
    problems,
  };
}

interface Reading<T> {
  readonly annotations: Annotations;
  readonly name: string;
  readonly parse: (text: string) => T;
  readonly otherwise: T;
  readonly problems: string[];
}

function readAnnotation<T>({ annotations, name, parse, otherwise, problems }: Reading<T>): T {
  const text = annotations[name];
  if (text === undefined) return otherwise;
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    problems.push(`${name}: ${messageOf(error)}`);
    return otherwise;
  }
}

const MAX_WINDOWS = 16;
const NEVER_OPEN = parseWindow({ schedule: "0 0 31 2 *", duration: "1m" });

function readWindows(
  text: string | undefined,
  otherwise: readonly MaintenanceWindow[],
  tell: (problem: string) => void,
): readonly MaintenanceWindow[] {
  if (text === undefined) return otherwise;
  const attempt = <T>(parse: () => T): readonly T[] => {
    try {
      return [parse()];
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      tell(messageOf(error));
      return [];
    }
  };
  const parts = attempt(() => splitWindows(text)).flat();
  const readable = parts.flatMap((part) => attempt(() => parseOne(part)));
  return readable.length > 0 ? readable : [NEVER_OPEN];
}

/** `CRON; DURATION[; ZONE]`, several joined by ` | `; `InvalidValue` where it cannot be read. */
export function parseRestartWindows(text: string): readonly MaintenanceWindow[] {
  return splitWindows(text).map(parseOne);
}

function splitWindows(text: string): readonly string[] {
  const windows = text.split("|");
  if (windows.length > MAX_WINDOWS) throw new InvalidValue(`more than ${MAX_WINDOWS} windows`);
  return windows;
}

function parseOne(text: string): MaintenanceWindow {
  const [schedule = "", duration, timeZone, ...rest] = text.split(";").map((part) => part.trim());
  if (duration === undefined || rest.length > 0) {
    throw new InvalidValue(
      `${JSON.stringify(text.trim().slice(0, 80))} is not a window: "CRON; DURATION" or "CRON; DURATION; TIME ZONE"`,
    );
  }
  const window = parseWindow({ schedule, duration, ...(timeZone === undefined ? {} : { timeZone }) });
  // Whatever opens at all does so within the years that are searched from any day.
  if (nextOpening([window], 0) !== undefined) return window;
  throw new InvalidValue(`${JSON.stringify(text.trim().slice(0, 80))} never opens`);
}

/** More could not be remembered on the workload, and nobody needs as many. */
export const MAX_PER_HOUR = 1000;

/** 0: nothing is stopped. */
const parseRestartsPerHour = (text: string): number => parseCount(text, MAX_PER_HOUR);

const MAX_CAP = 100_000;

/** 0: no cap. */
const parseRolloutCap = (text: string): number => parseCount(text, MAX_CAP);

function parseCount(text: string, max: number): number {
  const count = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw new InvalidValue(`${JSON.stringify(text.slice(0, 40))} is not a whole number from 0 to ${max}`);
}

/** How many rollouts may be under way in a namespace, by the annotations of the Namespace; 0: no cap. */
export function readRolloutCap(
  annotations: Annotations,
  defaultCap: number,
): { readonly cap: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const name = MAX_ROLLOUTS_ANNOTATION;
  const cap = readAnnotation({ annotations, name, parse: parseRolloutCap, otherwise: defaultCap, problems });
  return { cap, problems };
}
