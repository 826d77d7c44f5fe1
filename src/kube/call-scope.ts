import type { Clock, Timer } from "../base/clock.ts";
import { Unreachable } from "./errors.ts";

const ABANDONED = new Error("the answer is no longer wanted");

/**
 * What can end one call before its answer does: the caller's signal, or silence for too long by the injected clock. The
 * transport gets `signal`; every wait goes through `wait`, so that a transport that is deaf to signals cannot hang a
 * caller. One wait at a time.
 */
export class CallScope {
  readonly #clock: Clock;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  #failure: { readonly reason: unknown } | undefined;
  #rejectWait: ((reason: unknown) => void) | undefined;
  #timer: Timer | undefined;
  #ended = false;
  #limitMs = 0;
  #quietSince = 0;
  #limitMessage = "";

  constructor(clock: Clock, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#outer = outer;
    if (outer?.aborted) this.#fail(outer.reason);
    else outer?.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the call fails when `limitMs` pass without a `touch`. */
  limit(limitMs: number, message: string): void {
    this.#timer?.cancel();
    this.#limitMs = limitMs;
    this.#limitMessage = message;
    this.touch();
    if (!this.#failure) this.#arm(limitMs);
  }

  /** From now on only the caller's signal ends the call. */
  unlimit(): void {
    this.#timer?.cancel();
  }

  /** Something came: the silence starts anew. Cheap, because the timer is only looked at when it fires. */
  touch(): void {
    this.#quietSince = this.#clock.monotonic();
  }

  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      promise.then(resolve, reject);
      if (this.#failure) reject(this.#failure.reason);
      else this.#rejectWait = reject;
    });
  }

  /** The call is over: nothing of it may fire any more. */
  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#outer?.removeEventListener("abort", this.#onOuterAbort);
    this.#rejectWait = undefined;
  }

  /** As `end`, before the answer was read whole: the transport is told, so that it lets go of the connection. */
  abandon(): void {
    if (this.#ended) return;
    this.end();
    if (!this.#failure) this.#controller.abort(ABANDONED);
  }

  /** Why the scope ended the call, if it did: this, not the transport's echo of it, is what the caller must see. */
  failureOr(error: unknown): unknown {
    return this.#failure ? this.#failure.reason : error;
  }

  readonly #onOuterAbort = (): void => this.#fail(this.#outer?.reason);

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => {
      const remainingMs = this.#quietSince + this.#limitMs - this.#clock.monotonic();
      if (remainingMs > 0) this.#arm(remainingMs);
      else this.#fail(new Unreachable(this.#limitMessage));
    }, delayMs);
  }

  #fail(reason: unknown): void {
    if (this.#failure) return;
    this.#failure = { reason };
    this.#timer?.cancel();
    this.#rejectWait?.(reason);
    this.#controller.abort(reason);
  }
}
