import type { Clock } from "../../base/clock.ts";
import { nextLook } from "../../engine/next-look.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";

interface Trouble {
  readonly keyId: string;
  readonly since: number;
  readonly looks: number;
  /** When to look again, on the clock that never jumps. */
  readonly dueTick: number;
}

/**
 * Resources whose key is in use and not accepted by some server: nothing tells when that is over, so they are looked at
 * again and again, ever less often. In memory alone: whoever forgets it finds it out at the next look.
 */
export class RndcKeyTroubles {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #troubles = new Map<string, Trouble>();

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
  }

  /** Since when; now, when it is news. What a clock that ran ahead has said is not believed for as long as it was wrong. */
  note(key: string, keyId: string, now: number): number {
    const known = this.#troubles.get(key);
    const { since, looks } = known?.keyId === keyId ? known : { since: now, looks: 0 };
    const begun = Math.min(since, now);
    const dueTick = this.#clock.monotonic() + nextLook(begun, now) - now;
    this.#troubles.set(key, { keyId, since: begun, looks: looks + 1, dueTick });
    return begun;
  }

  over(key: string): void {
    this.#troubles.delete(key);
  }

  /** Differs after each look at a trouble, and when the next one is due, so that no rest lasts longer. */
  version(key: string): string {
    const trouble = this.#troubles.get(key);
    return trouble ? `${trouble.looks}${this.#isDue(trouble) ? " due" : ""}` : "";
  }

  /** The same reconcile, which comes back no later than for the next look at a trouble. */
  watched(reconcile: Reconcile): Reconcile {
    return async (key, signal) => {
      const before = this.#troubles.get(key);
      const wasDue = before !== undefined && this.#isDue(before);
      const outcome = await reconcile(key, signal);
      const isUnasked = wasDue && this.#troubles.get(key) === before;
      // Nobody asks about it any more, or there is nobody to ask for.
      if (isUnasked || (outcome.kind === "settled" && outcome.isOver)) this.over(key);
      return this.#sooner(key, outcome);
    };
  }

  #sooner(key: string, outcome: Outcome): Outcome {
    const trouble = this.#troubles.get(key);
    if (!trouble) return outcome;
    const at = this.#clock.now() + Math.max(0, trouble.dueTick - this.#clock.monotonic());
    return outcome.kind === "recheck" && outcome.at <= at ? outcome : { kind: "recheck", at };
  }

  #isDue({ dueTick }: Trouble): boolean {
    return this.#clock.monotonic() >= dueTick;
  }
}
