import type { Clock } from "../../base/clock.ts";
import type { RestartState } from "../../restart/model.ts";
import type { RestartCaches } from "./restart-caches.ts";
import { readWorkloadKey } from "./workload-key.ts";

/** What is asked of a workload that rolls. */
interface RollingRecord {
  readonly state: Pick<RestartState, "restartedAt"> | undefined;
}

export interface SlotsOptions {
  readonly clock: Clock;
  readonly caches: Pick<RestartCaches, "capOf" | "isCurrent"> & {
    rolling(): Iterable<readonly [key: string, record: RollingRecord]>;
  };
  /** 0: no cap. */
  readonly maxRollouts: number;
  readonly maxRolloutsPerNamespace: number;
}

interface Holding {
  readonly since: number;
  /** `taken` before the write; `begun` until the watch has seen it; `lasting` until it is given back. */
  readonly phase: "taken" | "begun" | "lasting";
}

/** A rollout that takes longer than this keeps nobody else waiting. */
const LONGEST_HOLD_MS = 10 * 60_000;

/**
 * How many rollouts go on at a time. Counted from the caches, and from what was just begun and is not in them yet; so a
 * new process counts those of the one before. Must not: decide whether a workload is to be restarted.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #holdings = new Map<string, Holding>();
  /** Those that wait, who came first before the others. */
  readonly #waiting = new Set<string>();

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Whether a rollout of this workload could begin now. */
  isFree(key: string): boolean {
    // Where nothing is capped, nobody counts.
    const isUncapped = this.#options.maxRollouts === 0 && this.#capOf(key) === 0;
    return isUncapped || this.#mayTake(key, this.#holders());
  }

  /** Takes a slot, which is to be given back or begun. */
  take(key: string): boolean {
    if (!this.isFree(key)) return false;
    // One that goes on already is not cut short by what comes of the next.
    if (!this.#holdings.has(key)) this.#hold(key, "taken");
    return true;
  }

  /** What was taken was not needed. */
  putBack(key: string): void {
    if (this.#holdings.get(key)?.phase === "taken") this.#holdings.delete(key);
  }

  /** The rollout has begun; `isLasting` where no watch tells when it is over. */
  begin(key: string, isLasting: boolean): void {
    this.#waiting.delete(key);
    this.#hold(key, isLasting ? "lasting" : "begun");
  }

  giveBack(key: string): void {
    this.#holdings.delete(key);
  }

  wait(key: string): void {
    this.#waiting.add(key);
  }

  stopWaiting(key: string): void {
    this.#waiting.delete(key);
  }

  /** Those that wait and could begin now, in their order: no more than there is room for. */
  admitted(): readonly string[] {
    if (this.#waiting.size === 0) return [];
    const holders = this.#holders();
    const admitted: string[] = [];
    for (const key of this.#waiting) {
      if (!this.#mayTake(key, holders)) continue;
      holders.add(key);
      admitted.push(key);
    }
    return admitted;
  }

  get underWay(): number {
    return this.#holders().size;
  }

  #hold(key: string, phase: Holding["phase"]): void {
    this.#holdings.set(key, { since: this.#options.clock.now(), phase });
  }

  #mayTake(key: string, holders: ReadonlySet<string>): boolean {
    const { maxRollouts } = this.#options;
    if (holders.has(key)) return true;
    if (maxRollouts > 0 && holders.size >= maxRollouts) return false;
    const { namespace } = readWorkloadKey(key);
    const cap = this.#capOf(key);
    if (cap === 0 || holders.size < cap) return true;
    let inNamespace = 0;
    for (const holder of holders) if (readWorkloadKey(holder).namespace === namespace) inNamespace++;
    return inNamespace < cap;
  }

  /** Of its namespace. */
  #capOf(key: string): number {
    const { caches, maxRolloutsPerNamespace } = this.#options;
    return caches.capOf(readWorkloadKey(key).namespace) ?? maxRolloutsPerNamespace;
  }

  #holders(): Set<string> {
    const { clock, caches } = this.#options;
    const now = clock.now();
    const holders = new Set<string>();
    for (const [key, { since, phase }] of this.#holdings) {
      const isOver = now - since >= LONGEST_HOLD_MS || (phase === "begun" && caches.isCurrent(key));
      if (isOver) this.#holdings.delete(key);
      else holders.add(key);
    }
    for (const [key, record] of caches.rolling()) if (now - restartedAt(record) < LONGEST_HOLD_MS) holders.add(key);
    return holders;
  }
}

const restartedAt = ({ state }: RollingRecord): number => state?.restartedAt.at(-1) ?? 0;
