import type { Clock } from "../../base/clock.ts";
import type { Redacted } from "../../base/redacted.ts";
import { ProviderError } from "../provider-error.ts";
import { startDeadline, unlessAborted } from "./deadline.ts";

/** Compared by identity. */
export interface Token {
  readonly value: Redacted<string>;
  /** On the clock that never goes back: a correction of the wall clock must not make a token look fresh. */
  readonly freshUntil: number;
}

/** What a log-in gives. */
export interface Granted {
  readonly value: Redacted<string>;
  readonly lifetimeMs: number;
}

export interface TokenSourceOptions {
  readonly clock: Clock;
  /** Throws `ProviderError` for whatever was answered, anything else when no answer came. */
  logIn(signal: AbortSignal): Promise<Granted>;
  unreachable(cause: unknown): ProviderError;
}

const LOG_IN_TIMEOUT_MS = 30_000;
const MAX_MARGIN_MS = 60_000;

/**
 * The token that requests carry, asked for once and kept until shortly before it ends. Callers at the same time share
 * one log-in, which goes on when one of them leaves. Must not: try again by itself.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #token: Token | undefined;
  #request: Promise<Token> | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  current(signal: AbortSignal): Promise<Token> {
    const token = this.#token;
    if (token && this.#options.clock.monotonic() < token.freshUntil) return Promise.resolve(token);
    this.#request ??= this.#fetch().finally(() => {
      this.#request = undefined;
    });
    return unlessAborted(this.#request, signal);
  }

  /** The service did not take this one. Another that came in the meantime stays. */
  reject(token: Token): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #fetch(): Promise<Token> {
    const { clock, logIn, unreachable } = this.#options;
    const startedTick = clock.monotonic();
    const deadline = startDeadline(clock, LOG_IN_TIMEOUT_MS);
    try {
      const { value, lifetimeMs } = await unlessAborted(logIn(deadline.signal), deadline.signal);
      const freshUntil = startedTick + lifetimeMs - Math.min(MAX_MARGIN_MS, lifetimeMs / 2);
      this.#token = { value, freshUntil };
      return this.#token;
    } catch (error) {
      throw error instanceof ProviderError ? error : unreachable(error);
    } finally {
      deadline.cancel();
    }
  }
}
