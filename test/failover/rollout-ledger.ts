interface Known {
  changes: number;
  rolls: number;
  /** When the first change came that no rollout has followed yet. */
  behindSinceAt: number | undefined;
}

/**
 * Counts how often what a workload uses has changed and how often it was rolled out, in the order in which a watch told of
 * it: never more rollouts than changes, and none is missing after the last one. Pure.
 */
export class RolloutLedger {
  readonly #workloads = new Map<string, Known>();

  /** What it uses has other content now. */
  changed(workload: string, at: number): void {
    const known = this.#of(workload);
    known.changes++;
    known.behindSinceAt ??= at;
  }

  /** Its pod template has become another one. */
  rolled(workload: string): void {
    const known = this.#of(workload);
    known.rolls++;
    known.behindSinceAt = undefined;
  }

  /** It runs on what it uses without a rollout: that was taken for what it runs on, or is again what it was. */
  settled(workload: string): void {
    this.#of(workload).behindSinceAt = undefined;
  }

  get rolls(): number {
    return [...this.#workloads.values()].reduce((sum, { rolls }) => sum + rolls, 0);
  }

  get changes(): number {
    return [...this.#workloads.values()].reduce((sum, { changes }) => sum + changes, 0);
  }

  /** Those that have been without a change for which they should have been rolled out since then, or longer. */
  behind(sinceAt = Number.POSITIVE_INFINITY): readonly string[] {
    return [...this.#workloads]
      .filter(([, { behindSinceAt }]) => behindSinceAt !== undefined && behindSinceAt <= sinceAt)
      .map(([workload]) => workload);
  }

  get problems(): readonly string[] {
    return [...this.#workloads]
      .filter(([, { changes, rolls }]) => rolls > changes)
      .map(([workload, { changes, rolls }]) => `${workload} was rolled out ${rolls} times for ${changes} changes`);
  }

  #of(workload: string): Known {
    const known = this.#workloads.get(workload) ?? { changes: 0, rolls: 0, behindSinceAt: undefined };
    this.#workloads.set(workload, known);
    return known;
  }
}
