/**
 * What was seen of an operator in the course of a soak, and what is wrong with it. Pure. Must not: excuse anything that no
 * fault explains, or take nothing to judge for nothing wrong.
 */

/** Something that was made to go wrong for a while, and for whom: everybody who bears the tag. */
export interface Fault {
  readonly what: string;
  readonly tag: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** One rotation, or what became of it by the end. */
export interface SeenRotation {
  readonly resource: string;
  readonly dueAt: number;
  readonly begunAt: number;
  /** When the next key was in use. */
  readonly doneAt: number;
}

/** What can be known of a resource before anything happens to it. */
export interface Subject {
  readonly kind: string;
  /** By which faults it is touched. */
  readonly tags: ReadonlySet<string>;
  /** How long one of its rotations takes when nothing is in its way. */
  readonly takesMs: number;
}

export interface Lateness {
  readonly resource: string;
  readonly kind: string;
  readonly dueAt: number;
  readonly latenessMs: number;
  /** The fault that was last in its way. */
  readonly after: string | undefined;
}

/** What was looked at every few seconds. */
export interface Sample {
  readonly at: number;
  readonly residentMegabytes: number;
  /** What /readyz says; false where nobody answers. */
  readonly isReady: boolean;
  readonly staleWatches: readonly string[];
}

export interface MemoryFigures {
  /** Medians of the first and of the last quarter of the time that counts. */
  readonly firstMegabytes: number;
  readonly lastMegabytes: number;
  readonly growth: number;
  /** What a line through all samples of that time grows by, from its start to its end. */
  readonly trend: number;
}

/**
 * How late a rotation was in use: later than it was due, and later than the end of whatever was in its way. A fault
 * explains only what had not been late before it began, so that one in time cannot hide behind one that comes later.
 */
export function latenessOf(
  rotation: SeenRotation,
  subject: Subject,
  { faults, limitMs }: { readonly faults: readonly Fault[]; readonly limitMs: number },
): Lateness {
  const { resource, dueAt, doneAt } = rotation;
  let freeAt = dueAt;
  let after: string | undefined;
  const touching = faults.filter(({ tag }) => subject.tags.has(tag)).sort((a, b) => a.startAt - b.startAt);
  for (const { what, startAt, endAt } of touching) {
    if (startAt > freeAt + limitMs + subject.takesMs) break;
    if (endAt <= freeAt) continue;
    freeAt = endAt;
    after = what;
  }
  const latenessMs = Math.round(doneAt - freeAt - subject.takesMs);
  return { resource, kind: subject.kind, dueAt, latenessMs, after };
}

export function judgeLateness(all: readonly Lateness[], limitMs: number): readonly string[] {
  if (all.length === 0) return ["there was no rotation"];
  return all
    .filter(({ latenessMs }) => !(latenessMs <= limitMs))
    .sort((a, b) => b.latenessMs - a.latenessMs)
    .map(({ resource, latenessMs, after }) => {
      return `${resource} was ${latenessMs} ms late${after === undefined ? "" : ` after "${after}"`}, more than ${limitMs} ms`;
    });
}

/** The share of a run at its end in which memory counts: of half an hour, twenty minutes. */
const COUNTED = 2 / 3;
const QUARTER = 1 / 4;
/** Medians of fewer mean nothing. */
const FEWEST = 3;

export function memoryOf(samples: readonly Sample[]): MemoryFigures | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) return undefined;
  const countedMs = (last.at - first.at) * COUNTED;
  const fromAt = last.at - countedMs;
  const counted = samples.filter(({ at }) => at >= fromAt);
  const begin = counted.filter(({ at }) => at < fromAt + countedMs * QUARTER);
  const end = counted.filter(({ at }) => at > last.at - countedMs * QUARTER);
  if (begin.length < FEWEST || end.length < FEWEST) return undefined;
  const [firstMegabytes, lastMegabytes] = [medianOf(begin), medianOf(end)];
  const trend = (slopeOf(counted) * countedMs) / medianOf(counted);
  return { firstMegabytes, lastMegabytes, growth: lastMegabytes / firstMegabytes - 1, trend };
}

/** Flat is what has grown by no more than this share, by its medians and by its trend. */
export function judgeMemory(samples: readonly Sample[], most: number): readonly string[] {
  const figures = memoryOf(samples);
  if (!figures) return ["there are too few samples to judge memory by"];
  const { firstMegabytes, lastMegabytes, growth, trend } = figures;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  return [
    ...(growth <= most
      ? []
      : [`memory grew from ${Math.round(firstMegabytes)} to ${Math.round(lastMegabytes)} MB, by ${percent(growth)}`]),
    ...(trend <= most ? [] : [`memory grows: its trend is ${percent(trend)}`]),
  ];
}

/** Every look found it ready and all of its watches fresh, and there were as many looks as there should be. */
export function judgeSamples(samples: readonly Sample[], everyMs: number): readonly string[] {
  const gaps = samples.flatMap(({ at }, index) => {
    const gapMs = at - (samples[index - 1]?.at ?? at);
    return gapMs > 3 * everyMs ? [`nobody looked for ${Math.round(gapMs / 1000)} s`] : [];
  });
  const problems = samples.flatMap(({ at, isReady, staleWatches }) => {
    const when = new Date(at).toISOString();
    return [
      ...(isReady ? [] : [`${when}: not ready`]),
      ...staleWatches.map((watch) => `${when}: the watch of ${watch} is stale`),
    ];
  });
  return samples.length === 0 ? ["nobody looked"] : [...gaps, ...problems];
}

/** What the operator has in its caches at rest, beside what there is on the server, by watch. */
export function judgeCaches(
  cached: ReadonlyMap<string, number>,
  there: ReadonlyMap<string, number>,
): readonly string[] {
  return [...there].flatMap(([kind, count]) => {
    const known = cached.get(kind);
    return known === count ? [] : [`the operator knows ${known ?? "nothing"} of ${count} ${kind}`];
  });
}

/** A Secret that somebody has damaged or deleted, and when it was whole again; never, where it was not. */
export interface Repair {
  readonly secret: string;
  readonly harmedAt: number;
  readonly wholeAt: number;
}

/** As with rotations: what is in the way of a repair counts for it. */
export function judgeRepairs(
  repairs: readonly Repair[],
  {
    subject,
    faults,
    limitMs,
  }: { readonly subject: Subject; readonly faults: readonly Fault[]; readonly limitMs: number },
): readonly string[] {
  return repairs.flatMap(({ secret, harmedAt, wholeAt }) => {
    const rotation = { resource: secret, dueAt: harmedAt, begunAt: harmedAt, doneAt: wholeAt };
    const { latenessMs } = latenessOf(rotation, subject, { faults, limitMs });
    return latenessMs <= limitMs ? [] : [`${secret} was not whole again for ${latenessMs} ms`];
  });
}

function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ residentMegabytes }) => residentMegabytes).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Megabytes a millisecond, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanAt, meanMegabytes] = [mean(({ at }) => at), mean(({ residentMegabytes }) => residentMegabytes)];
  const covariance = mean(({ at, residentMegabytes }) => (at - meanAt) * (residentMegabytes - meanMegabytes));
  const variance = mean(({ at }) => (at - meanAt) ** 2);
  return variance === 0 ? 0 : covariance / variance;
}
