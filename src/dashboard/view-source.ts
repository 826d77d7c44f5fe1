import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { ClusterPulse } from "./cluster-pulse.ts";
import type { Guest } from "./gate.ts";
import { overviewOf } from "./overview.ts";
import type { ReadModel } from "./read-model.ts";
import type { Sight } from "./sight.ts";
import type { OperatorView, Overview, Viewer } from "./wire.ts";

/** What answers are made from. */
export interface ViewSource {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly model: ReadModel;
  readonly operator: () => OperatorView;
  /** Which cluster this is, for people. */
  readonly cluster?: string;
  /** Left out: nobody asks whether the cluster answers. */
  readonly pulse?: ClusterPulse;
  /** False: whatever somebody's rights are, this server only shows. */
  readonly mayChange: boolean;
  /** The files of the audit log that this machine has, the oldest first; and where the operator keeps what is its own. */
  readonly audit: { readonly paths: readonly string[]; readonly namespace: string };
}

/** Somebody, and what they may see now. */
export interface Looker {
  readonly guest: Guest;
  readonly sight: Sight;
}

export const viewerOf = (
  { guest, sight }: Looker,
  { mayChange, cluster }: Pick<ViewSource, "mayChange" | "cluster">,
): Viewer => ({
  name: guest.name,
  ...(cluster !== undefined && { cluster }),
  mayChange,
  unseen: sight.unseen,
});

/** How long an overview is good for whoever sees the same. */
const SHARED_MS = 400;

/** Many look at the same: what one of them was shown a moment ago is for all. */
export class SharedOverviews {
  readonly #source: ViewSource;
  readonly #made = new Map<string, { readonly tick: number; readonly overview: Overview }>();

  constructor(source: ViewSource) {
    this.#source = source;
  }

  /** With all that was heard of up to this tick. */
  of(sight: Sight, heardTick: number): Overview {
    const { clock, model, operator, pulse } = this.#source;
    const tick = clock.monotonic();
    for (const [key, made] of this.#made) if (tick - made.tick > SHARED_MS) this.#made.delete(key);
    const known = this.#made.get(sight.key);
    const silentSince = pulse?.silentSince;
    const isOfNow = known?.overview.operator.silentSince === silentSince;
    if (known && isOfNow && known.tick >= heardTick) return known.overview;
    const seen = model.entries().filter((entry) => sight.sees(entry));
    const operatorView = { ...operator(), ...(silentSince !== undefined && { silentSince }) };
    const overview = overviewOf(seen, operatorView, clock.now());
    this.#made.set(sight.key, { tick, overview });
    return overview;
  }
}
