import type { Template } from "./shop.ts";

/** What a workload was at one time: what an undone rollout brings back. */
interface Revision {
  readonly template: Template;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What a source was from some step on. */
interface Value {
  readonly at: number;
  readonly value: string;
}

/** What the judge of restarts remembers by itself. */
export interface RestartBooks {
  /** By source: what it came to be, and at which step; that it was not there for a while is no change. */
  readonly values: Map<string, readonly Value[]>;
  /** By workload and source: up to which step its changes are taken account of; absent: nobody knows what runs. */
  readonly baselines: Map<string, number>;
  /** By workload, source and what was written down for it: the same, for when somebody brings that back. */
  readonly noted: Map<string, number>;
  /** By UID: what a pod was started with, and when. */
  readonly runsOn: Map<string, Value>;
  /** Pods that were started with something else than what was taken for it, since nobody could know better. */
  readonly excused: Set<string>;
  /** By workload: when it was restarted by us. */
  readonly rolls: Map<string, readonly number[]>;
  /** Workloads off whose template somebody has taken our last restart: it may be begun again. */
  readonly reverted: Set<string>;
  /** Workloads whose last restart was the second one for the same change: it is not begun a third time. */
  readonly begunAgain: Set<string>;
  /** Workloads that we have stopped: others may do so too, in whichever words. */
  readonly stopped: Set<string>;
  /** Of the workload that people lay hands on, oldest first. */
  readonly revisions: Revision[];
  /** At which steps the key of the digests was lost: what was known before can no longer be compared. */
  readonly keyLostAt: number[];
  /** Nothing that restarts are counted by was taken away, and no clock was wrong. */
  isCountKnown: boolean;
}

/** Those of somebody who has seen nothing yet. */
export const NO_RESTART_BOOKS: RestartBooks = {
  values: new Map(),
  baselines: new Map(),
  noted: new Map(),
  runsOn: new Map(),
  excused: new Set(),
  rolls: new Map(),
  reverted: new Set(),
  begunAgain: new Set(),
  stopped: new Set(),
  revisions: [],
  keyLostAt: [],
  isCountKnown: true,
};
