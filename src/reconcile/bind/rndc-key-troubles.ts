import { nextLook } from "../../engine/next-look.ts";
import type { Outcome } from "../../runtime/workers.ts";

interface Trouble {
  readonly keyId: string;
  readonly since: number;
  readonly looks: number;
}

/**
 * Resources whose key is in use and not accepted by some server: nothing tells when that is over, so they are looked at
 * again and again, ever less often. In memory alone: whoever forgets it finds it out at the next look.
 */
export class RndcKeyTroubles {
  readonly #troubles = new Map<string, Trouble>();

  /** Since when; now, when it is news. */
  note(key: string, keyId: string, now: number): number {
    const known = this.#troubles.get(key);
    const { since, looks } = known?.keyId === keyId ? known : { since: now, looks: 0 };
    this.#troubles.set(key, { keyId, since, looks: looks + 1 });
    return since;
  }

  over(key: string): void {
    this.#troubles.delete(key);
  }

  /** Differs after each look at a trouble, so that no rest lasts while there is one. */
  version(key: string): string {
    return String(this.#troubles.get(key)?.looks ?? "");
  }

  /** No later than the next look at a trouble. */
  sooner(key: string, outcome: Outcome, now: number): Outcome {
    const trouble = this.#troubles.get(key);
    if (!trouble) return outcome;
    const at = nextLook(trouble.since, now);
    return outcome.kind === "recheck" && outcome.at <= at ? outcome : { kind: "recheck", at };
  }
}
