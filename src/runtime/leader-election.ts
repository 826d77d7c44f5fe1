import { type Clock, delay, type Timer } from "../base/clock.ts";
import { KeyturnError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { type Random, uuid } from "../base/random.ts";
import type { ObjectRef } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { HealthSource, HealthState } from "./health.ts";
import { type Lease, type LeaseSpec, leaseType, recordOf, releasedRecord, renewedRecord } from "./lease-record.ts";

/**
 * Leader election on a Lease, by the same rules as client-go, so that both can compete for one Lease. Must not: trust
 * another's clock, write without compare-and-swap, or be the only thing between two writers.
 *
 * Why two never lead at once. A leader counts its term from the moment before it sent its last successful write, and
 * stops after `renewDeadline` (10 s) on its own monotonic clock. The others cannot have seen that write earlier than it
 * was sent, and wait `leaseDuration` (15 s) from seeing it, on theirs. So the terms cannot overlap as long as no clock
 * runs more than 15/10 = 1.5 times as fast as another. Wall clocks only label the record; what they say is never
 * compared between machines. `isLeader` computes from the clock when asked, so a process that was stopped for any time
 * knows at once, before any timer of its own has fired, that its term is over. Monotonic time stands still while a
 * machine is suspended; that shows as a leap of the own wall clock, and `isLeader` answers no until the next renewal.
 *
 * What these rules cannot promise: a request that a leader sent, or was about to send, before it was paused can arrive
 * after another has taken over. That is for the request's own compare-and-swap to stop. And a Lease that somebody deletes
 * is free for whoever has never seen it.
 */
export interface LeaderElectorOptions {
  readonly kube: Pick<Kube, "get" | "create" | "replace">;
  readonly lease: ObjectRef & { readonly namespace: string };
  /** Who this is, for people: the host or pod name. A random part is added, so that a restart is somebody else. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly timing?: Partial<ElectionTiming>;
  readonly onStarted?: () => void;
  /** Leadership is gone for good: the caller stops all work and exits. Called at most once, never after a release. */
  readonly onLost: (reason: string) => void;
  readonly observer?: LeaderObserver;
}

export interface ElectionTiming {
  /** How long others wait after the last change they saw. */
  readonly leaseDurationMs: number;
  /** How long a leader leads on without a successful renewal. */
  readonly renewDeadlineMs: number;
  /** The pause from the start of one attempt to the start of the next. */
  readonly retryPeriodMs: number;
  /** The bound of giving the Lease back on shutdown. */
  readonly releaseMs: number;
}

/** Must be quick and must not throw. */
export interface LeaderObserver {
  leadingChanged?(isLeading: boolean): void;
  holderChanged?(holder: string): void;
  renewed?(tookMs: number): void;
  renewFailed?(code: string): void;
}

/** `stopped`: told to stop, the Lease given back if it was held. `lost`: led, and does not any more. */
export type ElectionEnd = "stopped" | "lost";

const defaultTiming: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  releaseMs: 2_000,
};

/** Candidates spread their attempts by up to this share of the period, as client-go's do. */
const CANDIDATE_JITTER = 1.2;
const RELEASE_ATTEMPTS = 3;

/** The last state of the Lease that was seen to differ from the one before, and when (monotonic). */
interface Sighting {
  readonly resourceVersion: string | undefined;
  readonly holder: string;
  readonly durationMs: number;
  readonly at: number;
}

export class LeaderElector implements HealthSource {
  readonly name = "leader election";
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #timing: ElectionTiming;
  readonly #lostSignal = new AbortController();
  #sighting: Sighting | undefined;
  /** What the next compare-and-swap builds on; undefined when it has to be read first. */
  #lease: Lease | undefined;
  #term: { readonly sinceAt: number; readonly wallAt: number } | undefined;
  #deadline: Timer | undefined;
  #mayHold = false;
  #contactAt: number | undefined;
  #lastTrouble: { readonly code: string; readonly text: string } | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#timing;
    if (
      !(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > CANDIDATE_JITTER * retryPeriodMs && retryPeriodMs > 0)
    ) {
      throw new RangeError("leader election needs leaseDuration > renewDeadline > 1.2 × retryPeriod > 0");
    }
    this.identity = `${options.identity}_${uuid(options.random)}`;
  }

  /** Whether this process may act as the leader right now. Ask before every act, not once. */
  isLeader(): boolean {
    const term = this.#term;
    if (!term) return false;
    const { clock } = this.#options;
    const { renewDeadlineMs } = this.#timing;
    return clock.monotonic() - term.sinceAt < renewDeadlineMs && clock.now() - term.wallAt < renewDeadlineMs;
  }

  /** For readiness: who cannot reach the Lease will never lead, however fresh the caches are. */
  state(): HealthState {
    if (this.isLeader()) return { ready: true, reason: "leading" };
    const silentMs = this.#options.clock.monotonic() - (this.#contactAt ?? Number.NEGATIVE_INFINITY);
    if (silentMs > 2 * this.#timing.leaseDurationMs) {
      return { ready: false, reason: `the Lease cannot be reached (${this.#lastTrouble?.code ?? "no answer yet"})` };
    }
    return { ready: true, reason: this.holder === "" ? "standing for election" : `standing by for ${this.holder}` };
  }

  /** Who holds the Lease as last seen; empty when nobody does. */
  get holder(): string {
    return this.#sighting?.holder ?? "";
  }

  /** Stands for election, leads, renews; until told to stop or until leadership is lost. Call once. */
  async run(signal: AbortSignal): Promise<ElectionEnd> {
    const { clock } = this.#options;
    const stop = AbortSignal.any([signal, this.#lostSignal.signal]);
    const endTerm = (): void => this.#endTerm();
    signal.addEventListener("abort", endTerm, { once: true });
    while (!stop.aborted) {
      const startedAt = clock.monotonic();
      await this.#attempt(stop);
      if (stop.aborted) break;
      await delay(clock, Math.max(0, startedAt + this.#pauseMs() - clock.monotonic()), stop);
    }
    signal.removeEventListener("abort", endTerm);
    if (this.#lostSignal.signal.aborted) return "lost";
    if (this.#mayHold) await this.#release();
    return "stopped";
  }

  #pauseMs(): number {
    const { retryPeriodMs } = this.#timing;
    return this.#term ? retryPeriodMs : retryPeriodMs * (1 + CANDIDATE_JITTER * this.#options.random.next());
  }

  async #attempt(stop: AbortSignal): Promise<void> {
    try {
      await this.#stand(stop);
      this.#contactAt = this.#options.clock.monotonic();
      if (this.#lastTrouble) this.#options.logger.info("the Lease can be reached again");
      this.#lastTrouble = undefined;
    } catch (error) {
      this.#lease = undefined;
      if (!stop.aborted) this.#noteTrouble(error);
    }
  }

  async #stand(stop: AbortSignal): Promise<void> {
    if (this.#term && this.#lease && (await this.#tryWrite(this.#lease, stop))) return;
    const lease = await this.#read(stop);
    if (this.#mayTake(lease)) await this.#tryWrite(lease, stop);
  }

  /** True when the write went through. False when somebody else wrote first: read again and think again. */
  async #tryWrite(previous: Lease | undefined, stop: AbortSignal): Promise<boolean> {
    const { clock, kube, lease } = this.#options;
    const sentAt = clock.monotonic();
    const wallAt = clock.now();
    const record = renewedRecord({
      previous: previous && recordOf(previous),
      identity: this.identity,
      durationMs: this.#timing.leaseDurationMs,
      nowAt: wallAt,
    });
    this.#mayHold = true;
    this.#lease = undefined;
    try {
      const written = await this.#bounded(stop, (signal) =>
        previous
          ? kube.replace<Lease>(leaseType, { ...previous, spec: record }, { signal })
          : kube.create<Lease>(leaseType, newLease(lease, record), { signal }),
      );
      this.#see(written);
      this.#lease = written;
      if (!stop.aborted) this.#confirm(sentAt, wallAt);
      return true;
    } catch (error) {
      // Where a Lease is made, "not found" is about its namespace, and nobody was faster.
      if (!isOvertaken(error) || (!previous && codeOf(error) === "NotFound")) throw error;
      return false;
    }
  }

  async #read(stop: AbortSignal): Promise<Lease | undefined> {
    const { kube, lease } = this.#options;
    try {
      const found = await this.#bounded(stop, (signal) => kube.get<Lease>(leaseType, lease, { signal }));
      this.#see(found);
      return found;
    } catch (error) {
      if (codeOf(error) === "NotFound") return undefined;
      throw error;
    }
  }

  /**
   * A Lease that is gone does not end the term of whoever held it when it was last seen, so its time is waited out all
   * the same.
   */
  #mayTake(lease: Lease | undefined): boolean {
    const seen = this.#sighting;
    if (!seen || seen.holder === "" || seen.holder === this.identity) return true;
    if (this.#term && lease) {
      this.#lose(`the Lease was taken by ${seen.holder}`);
      return false;
    }
    if (this.#term) return true;
    return this.#options.clock.monotonic() - seen.at >= seen.durationMs;
  }

  /** Every write changes the resourceVersion, so an unchanged one means: not renewed since it was first seen. */
  #see(lease: Lease): void {
    const { resourceVersion } = lease.metadata;
    const before = this.#sighting;
    if (before && before.resourceVersion === resourceVersion) return;
    const record = recordOf(lease);
    const durationMs = record.leaseDurationMs ?? this.#timing.leaseDurationMs;
    this.#sighting = { resourceVersion, holder: record.holder, durationMs, at: this.#options.clock.monotonic() };
    if (before?.holder === record.holder) return;
    this.#options.observer?.holderChanged?.(record.holder);
    this.#options.logger.info("the Lease changed hands", { holder: record.holder, self: this.identity });
  }

  /** A success starts or extends the term, counted from before the request was sent; one that took too long is none. */
  #confirm(sentAt: number, wallAt: number): void {
    const { clock, observer } = this.#options;
    const leftMs = sentAt + this.#timing.renewDeadlineMs - clock.monotonic();
    if (leftMs <= 0) return;
    const isFirst = !this.#term;
    this.#term = { sinceAt: sentAt, wallAt };
    this.#deadline?.cancel();
    this.#deadline = clock.setTimer(() => this.#lose("the Lease could not be renewed in time"), leftMs);
    observer?.renewed?.(clock.monotonic() - sentAt);
    if (!isFirst) return;
    observer?.leadingChanged?.(true);
    this.#options.logger.info("leading", { identity: this.identity });
    this.#tell(() => this.#options.onStarted?.());
  }

  #endTerm(): void {
    this.#deadline?.cancel();
    this.#deadline = undefined;
    if (!this.#term) return;
    this.#term = undefined;
    this.#options.observer?.leadingChanged?.(false);
  }

  #lose(reason: string): void {
    if (!this.#term) return;
    this.#endTerm();
    this.#options.logger.error("no longer leading", { identity: this.identity, reason });
    this.#lostSignal.abort(new Error(reason));
    this.#tell(() => this.#options.onLost(reason));
  }

  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.logger.error("a leader election callback failed", { error });
    }
  }

  /**
   * One call to the API server, given up after half the deadline or on `stop`. A write that is given up may still
   * happen; that is why the Lease is read again before the next one.
   */
  async #bounded<T>(stop: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    stop.throwIfAborted();
    const giveUp = new AbortController();
    const boundMs = this.#timing.renewDeadlineMs / 2;
    const timer = this.#options.clock.setTimer(() => giveUp.abort(new Error(`no answer in ${boundMs} ms`)), boundMs);
    const onStop = (): void => giveUp.abort(stop.reason);
    stop.addEventListener("abort", onStop, { once: true });
    try {
      return await new Promise<T>((resolve, reject) => {
        giveUp.signal.addEventListener("abort", () => reject(giveUp.signal.reason), { once: true });
        call(giveUp.signal).then(resolve, reject);
      });
    } finally {
      timer.cancel();
      stop.removeEventListener("abort", onStop);
    }
  }

  /** Lets the next leader start at once. A write of ours that is still under way loses against it, or is undone by it. */
  async #release(): Promise<void> {
    const { clock, kube, lease, logger } = this.#options;
    const outOfTime = new AbortController();
    const timer = clock.setTimer(() => outOfTime.abort(new Error("out of time")), this.#timing.releaseMs);
    try {
      for (let attempt = 1; attempt <= RELEASE_ATTEMPTS; attempt++) {
        const found = await this.#read(outOfTime.signal);
        if (!found || recordOf(found).holder !== this.identity) return;
        const spec = releasedRecord(recordOf(found), clock.now());
        const isReleased = await this.#bounded(outOfTime.signal, (signal) =>
          kube.replace<Lease>(leaseType, { ...found, spec }, { signal }),
        ).then(
          () => true,
          (error: unknown) => {
            if (isOvertaken(error)) return false;
            throw error;
          },
        );
        if (!isReleased) continue;
        logger.info("released the Lease", { lease: `${lease.namespace}/${lease.name}` });
        return;
      }
    } catch (error) {
      logger.warn("could not release the Lease; it runs out by itself", { error });
    } finally {
      timer.cancel();
    }
  }

  /** Logged when it changes, so that an outage is one line and not one every two seconds. */
  #noteTrouble(error: unknown): void {
    const code = codeOf(error);
    if (this.#term) this.#options.observer?.renewFailed?.(code);
    const text = messageOf(error);
    if (this.#lastTrouble?.code === code && this.#lastTrouble.text === text) return;
    this.#lastTrouble = { code, text };
    this.#options.logger.warn("cannot reach the Lease", { isLeading: this.isLeader(), code, error });
  }
}

const newLease = (ref: ObjectRef & { readonly namespace: string }, spec: LeaseSpec): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: ref.name, namespace: ref.namespace },
  spec,
});

const codeOf = (error: unknown): string => (error instanceof KeyturnError ? error.code : "Unreachable");

const isOvertaken = (error: unknown): boolean => ["Conflict", "AlreadyExists", "NotFound"].includes(codeOf(error));
