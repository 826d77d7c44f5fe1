import { keyOf } from "../../kube/objects.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";

/** How many are remembered; past that all are forgotten, and counted once more. */
const MOST = 10_000;

/** Counts each attempt to restart a workload that does not come to its end, however often it is looked at. */
export class StuckRestarts {
  readonly #known = new Set<string>();
  readonly #count: (secret: SecretAddress) => void;

  constructor(count: (secret: SecretAddress) => void) {
    this.#count = count;
  }

  note(secret: SecretAddress, workload: string, restartedAt: number | undefined): void {
    const attempt = `${keyOf(secret)} ${workload} ${restartedAt ?? ""}`;
    if (this.#known.has(attempt)) return;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.add(attempt);
    this.#count(secret);
  }
}
