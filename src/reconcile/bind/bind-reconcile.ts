import type { Clock } from "../../base/clock.ts";
import { Conflict } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import type { BindCaches } from "./bind-caches.ts";
import type { BindReport, BindStatus, Trouble } from "./bind-status.ts";
import { ObjectNotOurs, ObjectRefused } from "./owned-objects.ts";

/** What one look at an object came to. */
export interface Look extends BindReport {
  /** When to look again though nothing changes; undefined: not before something does. */
  readonly againAt?: number;
}

/** Looks after the objects of one kind. */
export interface Looker {
  look(object: KubeObject, signal: AbortSignal): Promise<Look>;
  /** It is gone. */
  forget?(key: string): void;
}

export interface BindReconcileOptions {
  readonly clock: Clock;
  readonly caches: BindCaches;
  readonly status: BindStatus;
  readonly find: (key: string) => KubeObject | undefined;
  readonly looker: Looker;
}

const SETTLED: Outcome = { kind: "settled" };
/** The watch brings what we wrote; this is for a watch that does not. */
const OWN_WRITE_LOOK_MS = 1000;
/** What keeps us from writing is mostly nothing that is watched. */
const TROUBLE_LOOK_MS = 60_000;

/**
 * One object of the document's kinds: taken from the cache, looked after, and its status written once. Must not: touch
 * anything of an object that is being deleted; its owner references see to what was made for it.
 */
export const createBindReconcile =
  ({ clock, caches, status, find, looker }: BindReconcileOptions): Reconcile =>
  async (key, signal) => {
    const object = find(key);
    if (!object) {
      looker.forget?.(key);
      return { kind: "settled", isOver: true };
    }
    if (object.metadata.deletionTimestamp !== undefined) return SETTLED;
    const soon: Outcome = { kind: "recheck", at: clock.now() + OWN_WRITE_LOOK_MS };
    if (!caches.isCurrent(object)) return soon;
    try {
      const report = await looker.look(object, signal);
      await status.write(object, report, signal);
      return againOf(report, clock);
    } catch (error) {
      // The cache is behind: what it has missed is on its way.
      if (error instanceof Conflict) return soon;
      throw error;
    }
  };

function againOf({ againAt, troubles }: Look, clock: Clock): Outcome {
  const instants = [
    ...(againAt === undefined ? [] : [againAt]),
    ...(troubles.some(({ reason }) => WRITE_CODES.includes(reason)) ? [clock.now() + TROUBLE_LOOK_MS] : []),
  ];
  return instants.length === 0 ? SETTLED : { kind: "recheck", at: Math.min(...instants) };
}

const WRITE_CODES = ["ObjectNotOurs", "ObjectRefused"];

/** What is wrong with one object that is to be made, as it is told; anything else is thrown. */
function troubleOf(error: unknown, field: string): Trouble {
  if (!(error instanceof ObjectNotOurs || error instanceof ObjectRefused)) throw error;
  return { reason: error.code, field, message: error.message };
}

/** Does its part and tells of what kept it from that. */
export async function attempt(work: () => Promise<unknown>, field: string): Promise<readonly Trouble[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [troubleOf(error, field)];
  }
}
