import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";

/**
 * Readiness and liveness as the sum of named sources, asked when somebody asks. Readiness says whether what the operator
 * knows of the world is fresh (watches synced and in contact); liveness says whether a restart would help (event loop,
 * workers). Must not: probe anything itself, or make liveness depend on other systems.
 */
export interface HealthState {
  readonly ready: boolean;
  /** For people: what is wrong, or what is fine. */
  readonly reason: string;
}

export interface HealthSource {
  readonly name: string;
  state(): HealthState;
}

export interface HealthReport {
  readonly ready: boolean;
  readonly checks: readonly (HealthState & { readonly name: string })[];
}

export class HealthChecks {
  readonly #sources = new Set<HealthSource>();

  /** Returns how to take the source out again. */
  add(source: HealthSource): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  /** Sorted by name, so that two reports can be compared. */
  report(): HealthReport {
    const checks = [...this.#sources].map((source) => ({ name: source.name, ...ask(source) }));
    checks.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return { ready: checks.every((check) => check.ready), checks };
  }
}

function ask(source: HealthSource): HealthState {
  try {
    const { ready, reason } = source.state();
    return { ready, reason };
  } catch (error) {
    return { ready: false, reason: `the check itself failed: ${messageOf(error)}` };
  }
}

export interface Heartbeat extends HealthSource {
  stop(): void;
}

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly beatMs?: number;
  readonly maxSilenceMs?: number;
}

/**
 * A timer that should fire every `beatMs`: when it has not for `maxSilenceMs`, something holds the event loop. A blocked
 * loop cannot answer a probe either; this is for the one that only limps.
 */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { clock, beatMs = 1000, maxSilenceMs = 15_000 } = options;
  let lastBeatAt = clock.monotonic();
  let timer: Timer;
  const beat = (): void => {
    lastBeatAt = clock.monotonic();
    timer = clock.setTimer(beat, beatMs);
  };
  beat();
  return {
    name: "event-loop",
    state() {
      const silentMs = Math.round(clock.monotonic() - lastBeatAt);
      const ready = silentMs <= maxSilenceMs;
      return { ready, reason: ready ? "beating" : `timers have not fired for ${silentMs} ms` };
    },
    stop: () => timer.cancel(),
  };
}
