/**
 * What restarts reason about: the sources that a workload uses, what was last rolled out of them, and what is to be done
 * next. Plain values without behaviour; instants and lengths are milliseconds. Must not: hold a value of a source, only
 * keyed digests of it.
 */
export type SourceKind = "secret" | "configmap" | "class";

/** `secret/NAME`, `configmap/NAME` or `class/NAME` (a SecretProviderClass), in the workload's namespace. */
export type SourceId = `${SourceKind}/${string}`;

/** That a pod template refers to a source. */
export interface Use {
  readonly source: SourceId;
  /** The keys that are used; undefined: all of them. */
  readonly keys: readonly string[] | undefined;
  /** Those of them that a pod starts without as well; absent: none. */
  readonly optionalKeys?: readonly string[];
  /** A pod starts without it as well. */
  readonly isOptional: boolean;
  /** To pull images only: a pod that runs no longer needs it. */
  readonly isPullOnly: boolean;
}

/** What a source is now. */
export interface SourceState {
  /** Undefined: the source is not there, or (a class) no pod tells. */
  readonly digest: string | undefined;
  /** When it came to be what it is. */
  readonly publishedAt: number;
  /** Pods start without it: that it is not there is worth knowing. */
  readonly isOptional: boolean;
  /** The resourceVersion that it was read in; undefined where it is not one object (a class), or not there. */
  readonly version?: string | undefined;
  /** No pod may be older than this, whatever is known; whoever asks for it is answered with one restart. */
  readonly againAt?: number | undefined;
  /** Pods have started with it: where it differs from what is known it is adopted, never rolled out. */
  readonly isRunning?: boolean;
}

/** What was rolled out or adopted of a source. */
export interface AppliedSource {
  /** `ABSENT` for a source that was not there. */
  readonly digest: string;
  /** When the source came to be that. */
  readonly since: number;
  /** A resourceVersion in which it was that: while it still has it, there is nothing to read. */
  readonly version?: string | undefined;
  /** The last `againAt` that was answered. */
  readonly againAt?: number | undefined;
  /** A rollout of somebody else has brought it: what the pods say of it, by the pod template, is older than they are. */
  readonly isBrought?: true;
}

/** What is remembered of a workload, on the workload itself. */
export interface RestartState {
  readonly sources: ReadonlyMap<SourceId, AppliedSource>;
  /** When it was restarted within the last hour, oldest first; the last one however long ago. */
  readonly restartedAt: readonly number[];
  /** The breaker has stopped it. */
  readonly isStopped: boolean;
  /** The uid of the pod that is being replaced; bare ReplicaSets alone. */
  readonly replacing: string | undefined;
  /** The last restart that was ours; undefined where there was none. */
  readonly rolled?: RolledOut;
  /** A rollout of somebody else that is under way, and brings what has changed. */
  readonly departure?: Departure;
}

/**
 * That a workload has left a pod template which all its pods were of: whichever of its pods is of another one was made
 * after that. So it stays, whatever becomes of the template later.
 */
export interface Departure {
  /** A keyed digest of the template that was left, after the id of the key. */
  readonly template: string;
  /** What its own controller called that template; undefined: nothing. */
  readonly revision?: string | undefined;
  /** The version in which the workload had another one for the first time. */
  readonly version: string;
}

/** That a workload is on another template than the one it has left. */
export interface Departed {
  readonly departure: Departure;
  /** No pod of the template that was left is there any more, but for those on their way out. */
  readonly areAll: boolean;
}

/** What a restart was for. */
export interface RolledOut {
  /** Of the newest of what had changed. */
  readonly publishedAt: number;
  /** It was the second one for that, because the first was reverted before it was over. */
  readonly isAgain: boolean;
}

/** The digest of a source that is not there. */
export const ABSENT = "absent";

/** How restarts are spread; the same for every kind of workload. */
export interface Pace {
  /** A change is rolled out when nothing has changed for so long … */
  readonly quietMs: number;
  /** … or so long after the first change. */
  readonly longestWaitMs: number;
  /** No restart sooner than this after the one before. */
  readonly leastIntervalMs: number;
  /** More restarts than this within an hour are a fight, and are stopped; 0: nothing is stopped. */
  readonly perHour: number;
}

/** A rollout as the workload's own status tells it. */
export interface Rollout {
  readonly isComplete: boolean;
  /** It will not go on by itself: paused, past its deadline, or waiting for somebody to delete pods. */
  readonly isStuck: boolean;
  /** Why not; absent where it is not stuck. */
  readonly halt?: Halt;
  readonly updated: number;
  readonly total: number;
}

export type Halt = "paused" | "pastDeadline" | "waitsForDeletion";

export interface RestartSituation {
  /** Undefined: nothing is known of this very object. */
  readonly state: RestartState | undefined;
  /** It does not stand on the workload any more. */
  readonly isStateLost?: boolean | undefined;
  /** What counts for the workload, as it is now. */
  readonly sources: ReadonlyMap<SourceId, SourceState>;
  /** `<prefix>/digests` and `<prefix>/restartedAt` of the pod template. */
  readonly templateDigests: string | undefined;
  readonly templateRestartedAt: string | undefined;
  readonly pace: Pace;
  readonly now: number;
  /** When a change that is still to be rolled out was first seen by this process; undefined: just now. */
  readonly changeSeenAt: number | undefined;
  /** When this process restarted this very object, whatever has become of the state since. */
  readonly ownRestartedAt: readonly number[];
  /** What this process last knew the workload to run on, under its own key; undefined: it never had the state in hand. */
  readonly own?: ReadonlyMap<SourceId, AppliedSource> | undefined;
  /** Maintenance windows, seen from now. */
  readonly window: { readonly isOpen: boolean; readonly opensAt: number | undefined };
  /** The workload bears `keyturn.dev/restart-stopped`: by the breaker, or by somebody. */
  readonly isStopped: boolean;
  /** Secrets whose publisher has seen to it, before it wrote them, that this workload is restarted for them. */
  readonly markedFor?: readonly string[] | undefined;
  /** Another rollout may begin now. */
  readonly hasSlot: boolean;
  /** Our last restart is not on the pod template any more, and pods from before it run on. */
  readonly isReverted?: boolean;
  /** Given only where its version and those of the sources that were written are counted by the same store. */
  readonly departed?: Departed | undefined;
}

export type RestartDecision =
  | { readonly kind: "settled"; readonly reason: "UpToDate" | "Stopped" | "Reverted" }
  /** Write down what is there as what runs: nobody knows better. */
  | {
      readonly kind: "adopt";
      readonly state: RestartState;
      /** Somebody has taken the breaker's mark away: what this process counted of restarts is forgotten too. */
      readonly isRelease: boolean;
    }
  | {
      readonly kind: "wait";
      /** Infinity where somebody else tells: a slot that is given back. */
      readonly until: number;
      /**
       * `OtherOperator`: one with another key has the state, and what has changed, if anything, is left to it for a while.
       * `OtherRollout`: one that somebody else has begun brings it.
       */
      readonly reason: "QuietPeriod" | "LeastInterval" | "WindowClosed" | "NoSlot" | "OtherOperator" | "OtherRollout";
      readonly changed: readonly SourceId[];
    }
  /** Too many: say so, and do nothing more. */
  | {
      readonly kind: "stop";
      readonly state: RestartState;
      readonly restarts: number;
      readonly changed: readonly SourceId[];
    }
  | {
      readonly kind: "roll";
      readonly state: RestartState;
      readonly changed: readonly SourceId[];
      /** Of the newest of those. */
      readonly publishedAt: number;
    };
