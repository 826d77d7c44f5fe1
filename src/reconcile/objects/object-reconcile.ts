import type { Clock } from "../../base/clock.ts";
import { Conflict } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import type { ObjectReport, ObjectStatus, Trouble } from "./object-status.ts";
import { ObjectNotOurs, ObjectRefused } from "./owned-objects.ts";

/** What one look at an object came to. */
export interface Look extends ObjectReport {
  /** When to look again though nothing changes; undefined: not before something does. */
  readonly againAt?: number;
  /** What may be done only once the status is written; it may say when to look again, too. */
  readonly afterwards?: (stored: KubeObject) => Promise<number | undefined>;
}

/** Looks after the objects of one kind. */
export interface Looker {
  /** An outcome: everything stays as it is, and nothing is said. */
  look(object: KubeObject, signal: AbortSignal): Promise<Look | Outcome>;
  /** It is gone. */
  forget?(key: string): void;
}

export interface ObjectReconcileOptions {
  readonly clock: Clock;
  /** False while what is known of the object may be older than our own last write of it. */
  readonly isCurrent: (object: KubeObject) => boolean;
  readonly status: ObjectStatus;
  readonly find: (key: string) => KubeObject | undefined;
  readonly looker: Looker;
}

const SETTLED: Outcome = { kind: "settled" };
/** The watch brings what we wrote; this is for a watch that does not. */
const OWN_WRITE_LOOK_MS = 1000;
/** What keeps us from writing is mostly nothing that is watched. */
const TROUBLE_LOOK_MS = 60_000;

/**
 * One object that others are made for: taken from the cache, looked after, and its status written once. Must not: touch
 * anything of an object that is being deleted; its owner references see to what was made for it.
 */
export const createObjectReconcile =
  ({ clock, isCurrent, status, find, looker }: ObjectReconcileOptions): Reconcile =>
  async (key, signal) => {
    const object = find(key);
    if (!object) {
      looker.forget?.(key);
      return { kind: "settled", isOver: true };
    }
    if (object.metadata.deletionTimestamp !== undefined) return SETTLED;
    const soon: Outcome = { kind: "recheck", at: clock.now() + OWN_WRITE_LOOK_MS };
    if (!isCurrent(object)) return soon;
    try {
      const look = await looker.look(object, signal);
      if ("kind" in look) return look;
      const stored = await status.write(object, look, signal);
      const thenAt = await look.afterwards?.(stored);
      return againOf(look, thenAt, clock);
    } catch (error) {
      // The cache is behind: what it has missed is on its way.
      if (error instanceof Conflict) return soon;
      throw error;
    }
  };

function againOf({ againAt, troubles }: Look, thenAt: number | undefined, clock: Clock): Outcome {
  const isRefused = troubles.some(({ reason }) => WRITE_CODES.includes(reason));
  const instants = [againAt, thenAt, isRefused ? clock.now() + TROUBLE_LOOK_MS : undefined];
  const at = Math.min(...instants.filter((instant) => instant !== undefined));
  return Number.isFinite(at) ? { kind: "recheck", at } : SETTLED;
}

const WRITE_CODES = ["ObjectNotOurs", "ObjectRefused"];

/** What is wrong with one object that is to be made, as it is told; anything else is thrown. */
function troubleOf(error: unknown, field: string | undefined): Trouble {
  if (!(error instanceof ObjectNotOurs || error instanceof ObjectRefused)) throw error;
  return { reason: error.code, ...(field !== undefined && { field }), message: error.message };
}

/** Does its part and tells of what kept it from that. */
export async function attempt(work: () => Promise<unknown>, field?: string): Promise<readonly Trouble[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [troubleOf(error, field)];
  }
}
