import { type Clock, delay } from "../base/clock.ts";
import { parseInstant } from "../base/instant.ts";
import type { Kube } from "../kube/port.ts";
import { type Lease, leaseType, recordOf } from "../runtime/lease-record.ts";
import type { OperatorView } from "./wire.ts";

export interface LeaseViewOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
}

const EVERY_MS = 10_000;
const USUAL_DURATION_MS = 15_000;

/** Who holds the operator's Lease, for whoever looks from outside. Whoever may not read it is told nothing of it. */
export class LeaseView {
  readonly #options: LeaseViewOptions;
  #lease: Lease | undefined;

  constructor(options: LeaseViewOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { kube, clock, namespace, name } = this.#options;
    while (!signal.aborted) {
      this.#lease = await kube.get<Lease>(leaseType, { namespace, name }, { signal }).catch(() => undefined);
      await delay(clock, EVERY_MS, signal);
    }
  }

  /** By the clocks of two machines: said to people, and nothing follows from it. */
  leader(): OperatorView["leader"] {
    if (!this.#lease) return undefined;
    const { holder, leaseDurationMs = USUAL_DURATION_MS, spec } = recordOf(this.#lease);
    if (holder === "") return undefined;
    const renewedAt = parseInstant(spec.renewTime);
    const isStale = renewedAt !== undefined && this.#options.clock.now() - renewedAt > 2 * leaseDurationMs;
    return { identity: holder, ...(renewedAt !== undefined && { renewedAt }), ...(isStale && { isStale }) };
  }
}
