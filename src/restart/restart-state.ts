import { InvalidValue } from "../base/errors.ts";
import { formatInstant, parseInstant } from "../base/instant.ts";
import type { KubeObject } from "../kube/objects.ts";
import { isRecord } from "../kube/record.ts";
import { ROLL_MANAGER, STATE_ANNOTATION, STATE_MANAGER } from "./annotations.ts";
import { ownersOf } from "./managed-fields.ts";
import type { AppliedSource, Departure, RestartState, SourceId } from "./model.ts";
import { isDigest } from "./source-digests.ts";
import { isSourceId } from "./source-id.ts";

/** Annotations of an object may have four times as much in all. */
const MAX_BYTES = 64 * 1024;

const HOUR_MS = 3_600_000;

/**
 * What is remembered on the workload; undefined where it is not of this very object (a copied manifest, a backup), was
 * not put there by us (an undone rollout, an export under GitOps) or cannot be read.
 */
export function readState(object: KubeObject): RestartState | undefined {
  const text = object.metadata.annotations?.[STATE_ANNOTATION];
  if (typeof text !== "string" || Buffer.byteLength(text) > MAX_BYTES || !isOurs(object)) return undefined;
  return parseState(text, object.metadata.uid);
}

const isOurs = (object: KubeObject): boolean =>
  ownersOf(object, ["metadata", "annotations", STATE_ANNOTATION]).some(
    ({ manager, isApply }) => isApply && (manager === ROLL_MANAGER || manager === STATE_MANAGER),
  );

function parseState(text: string, uid: string | undefined): RestartState | undefined {
  const fields = parseJson(text);
  if (!isRecord(fields) || uid === undefined || fields.uid !== uid) return undefined;
  const { sources, restarts, stopped, replacing, rolled, again } = fields;
  const departure = readDeparture(fields.left);
  const applied = readSources(sources);
  const restartedAt = Array.isArray(restarts) ? restarts.map(parseInstant) : [undefined];
  const publishedAt = parseInstant(rolled);
  if (applied === undefined || !restartedAt.every((at) => at !== undefined)) return undefined;
  return {
    sources: applied,
    restartedAt: restartedAt.sort((a, b) => a - b),
    isStopped: stopped === true,
    replacing: typeof replacing === "string" ? replacing : undefined,
    ...(publishedAt === undefined ? {} : { rolled: { publishedAt, isAgain: again === true } }),
    ...(departure && { departure }),
  };
}

/** What cannot be read is not there: then the change that it was to bring is rolled out. */
function readDeparture(value: unknown): Departure | undefined {
  if (!isRecord(value)) return undefined;
  const { template, revision, version } = value;
  if (typeof template !== "string" || typeof version !== "string") return undefined;
  return { template, version, ...(typeof revision === "string" && { revision }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readSources(value: unknown): ReadonlyMap<SourceId, AppliedSource> | undefined {
  if (!isRecord(value)) return undefined;
  const sources = new Map<SourceId, AppliedSource>();
  for (const [source, applied] of Object.entries(value)) {
    if (!isSourceId(source) || !isRecord(applied)) return undefined;
    const { digest, since, version, again, brought } = applied;
    const againAt = parseInstant(again);
    const at = parseInstant(since);
    if (typeof digest !== "string" || !isDigest(digest) || at === undefined) return undefined;
    const more = { ...(typeof version === "string" && { version }), ...(againAt !== undefined && { againAt }) };
    sources.set(source, { digest, since: at, ...more, ...(brought === true && { isBrought: true }) });
  }
  return sources;
}

/** The text of the annotation, the same for the same state. `InvalidValue` where it would be too long to be read back. */
export function stateAnnotation(state: RestartState, uid: string): string {
  const { sources, restartedAt, isStopped, replacing, rolled, departure } = state;
  const applied = [...sources].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify({
    uid,
    sources: Object.fromEntries(
      applied.map(([source, { since, againAt, isBrought, ...rest }]) => {
        const again = againAt === undefined ? {} : { again: formatInstant(againAt) };
        return [source, { ...rest, since: formatInstant(since), ...again, ...(isBrought && { brought: true }) }];
      }),
    ),
    restarts: restartedAt.map(formatInstant),
    ...(isStopped ? { stopped: true } : {}),
    ...(replacing === undefined ? {} : { replacing }),
    ...(rolled === undefined ? {} : { rolled: formatInstant(rolled.publishedAt) }),
    ...(rolled?.isAgain ? { again: true } : {}),
    ...(departure && { left: departure }),
  });
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  throw new InvalidValue(`${applied.length} sources with their keys are more than a workload can be restarted for`);
}

/** Without the restarts that no longer count; the last one stays, since an interval may be longer than an hour. */
export function trimmed(state: RestartState, now: number, perHour: number): RestartState {
  const restartedAt = state.restartedAt.map((at) => Math.min(at, now));
  const recent = restartsWithinHour(restartedAt, now).slice(-(perHour + 1));
  return { ...state, restartedAt: recent.length > 0 ? recent : restartedAt.slice(-1) };
}

export const restartsWithinHour = (restartedAt: readonly number[], now: number): readonly number[] =>
  restartedAt.filter((at) => at > now - HOUR_MS);
