import type { RestartWait } from "../../report/restart-metrics.ts";
import type { AppliedSource, RestartState, SourceId } from "../../restart/model.ts";

type Applied = ReadonlyMap<SourceId, AppliedSource>;

interface Own {
  readonly uid: string;
  readonly sources: Applied;
  readonly state: RestartState | undefined;
}

/**
 * What this process remembers of workloads. Losing it costs a little more waiting and a second event; and where somebody has
 * taken the state off a workload, nobody knows any more what it ran on.
 */
export class RestartMemory {
  readonly #changes = new Map<string, { readonly uid: string; readonly seenAt: number }>();
  readonly #own = new Map<string, Own>();
  readonly #waits = new Map<string, RestartWait>();
  /** By UID, so that a workload whose state is reverted again and again is still counted. */
  readonly #restarts = new Map<string, readonly number[]>();

  /** When the change that is still to be rolled out was first seen. */
  changeSeenAt(key: string, uid: string): number | undefined {
    const change = this.#changes.get(key);
    return change?.uid === uid ? change.seenAt : undefined;
  }

  noteChange(key: string, uid: string, at: number): void {
    if (this.changeSeenAt(key, uid) === undefined) this.#changes.set(key, { uid, seenAt: at });
  }

  noteWait(key: string, reason: RestartWait): void {
    this.#waits.set(key, reason);
  }

  waiting(reason: RestartWait): number {
    let count = 0;
    for (const one of this.#waits.values()) if (one === reason) count++;
    return count;
  }

  /** What a workload was known to run on when its state was last under our own key, or as good as that. */
  own(key: string, uid: string): Applied | undefined {
    const own = this.#own.get(key);
    return own?.uid === uid ? own.sources : undefined;
  }

  noteOwn(key: string, uid: string, sources: Applied): void {
    this.#own.set(key, { uid, sources, state: this.state(key, uid) });
  }

  /** The state as it was last seen on the workload, or written there. */
  state(key: string, uid: string): RestartState | undefined {
    const own = this.#own.get(key);
    return own?.uid === uid ? own.state : undefined;
  }

  noteState(key: string, uid: string, state: RestartState): void {
    this.#own.set(key, { uid, sources: state.sources, state });
  }

  /** The workload no longer takes part. */
  forget(key: string): void {
    this.settle(key);
    this.#own.delete(key);
  }

  /** Nothing is to be rolled out any more. */
  settle(key: string): void {
    this.#changes.delete(key);
    this.#waits.delete(key);
  }

  restartsOf(uid: string): readonly number[] {
    return this.#restarts.get(uid) ?? [];
  }

  noteRestart(uid: string, at: number): void {
    this.#restarts.set(uid, [...this.restartsOf(uid).filter((one) => at - one < HOUR_MS), at]);
    if (this.#restarts.size > MOST_COUNTED) this.#forgetOld(at);
  }

  forgetRestarts(uid: string): void {
    this.#restarts.delete(uid);
  }

  #forgetOld(now: number): void {
    for (const [uid, restarts] of this.#restarts) {
      if (now - (restarts.at(-1) ?? 0) >= HOUR_MS) this.#restarts.delete(uid);
    }
  }
}

const HOUR_MS = 3_600_000;
const MOST_COUNTED = 10_000;
