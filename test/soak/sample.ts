import { residentMegabytes } from "../bench/process-memory.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import type { Sample } from "./judge.ts";

const WATCH_READY = /^keyturn_watch_ready\{(.*)\}$/;
const CACHED = /^keyturn_watch_cached_objects\{.*kind="([^"]*)",selector=""\}$/;

/** What nothing is judged by, and whoever follows a soak wants to know. */
export interface Look extends Sample {
  /** What objects take that are in use, or were until lately. */
  readonly heapMegabytes: number;
  /** What the process has worked since it began. */
  readonly cpuSeconds: number;
}

const GONE = { residentMegabytes: 0, heapMegabytes: 0, cpuSeconds: 0, isReady: false, staleWatches: [] };

/** One look at an operator from outside. */
export async function takeSample(operator: KeyturnOperator): Promise<Look> {
  const at = Date.now();
  if (operator.hasEnded) return { at, ...GONE };
  const [isReady, metrics] = [await operator.isReady(), await operator.metrics()];
  return {
    at,
    residentMegabytes: residentMegabytes(operator.processId),
    heapMegabytes: (metrics.get("nodejs_heap_size_used_bytes") ?? Number.NaN) / 2 ** 20,
    cpuSeconds: metrics.get("process_cpu_seconds_total") ?? Number.NaN,
    isReady,
    staleWatches: staleIn(metrics),
  };
}

/** Those that are not complete and in contact; no metrics at all are as bad. */
export function staleIn(metrics: ReadonlyMap<string, number>): readonly string[] {
  const watches = [...metrics].flatMap(([series, value]) => {
    const [, labels] = WATCH_READY.exec(series) ?? [];
    return labels === undefined ? [] : [{ labels, isFresh: value === 1 }];
  });
  return watches.length === 0 ? ["everything"] : watches.filter(({ isFresh }) => !isFresh).map(({ labels }) => labels);
}

/** How many objects of a kind the operator knows, where it watches all of them. */
export const cachedObjects = (metrics: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map(
    [...metrics].flatMap(([series, value]) => {
      const [, kind] = CACHED.exec(series) ?? [];
      return kind === undefined ? [] : [[kind, value] as const];
    }),
  );
