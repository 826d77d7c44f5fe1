/** How many keys of a lane are worked on at a time. */
export interface LaneWidths {
  /** While there is work in it alone. */
  readonly alone: number;
  /** While there is work in other lanes too, or was a moment ago: what is in flight here keeps those waiting. */
  readonly beside: number;
}

/** Work elsewhere often comes one after the other; for so long after it there is taken to be more. */
const MOMENT_MS = 1000;

interface Sight {
  readonly lane: string;
  readonly at: number;
}

/**
 * Who works in which lane, and whether there is room for another one. A lane that has become too full because somebody
 * came into another one stays as it is until enough have left it. Must not: hand anything out, or keep a lane full in
 * which nobody is.
 */
export class LaneRoom {
  readonly #widths: LaneWidths;
  readonly #busy = new Map<string, number>();
  #latest: Sight | undefined;
  /** The latest work in any lane but that of `#latest`. */
  #before: Sight | undefined;

  constructor(widths: LaneWidths) {
    this.#widths = widths;
  }

  /** Somebody begins to work in the lane; whether it is full now. */
  enter(lane: string, nowAt: number): boolean {
    this.#busy.set(lane, (this.#busy.get(lane) ?? 0) + 1);
    if (this.#latest && this.#latest.lane !== lane) this.#before = this.#latest;
    this.#latest = { lane, at: nowAt };
    return this.#isFull(lane, nowAt);
  }

  /** Somebody is done in the lane; whether it is full all the same. */
  leave(lane: string, nowAt: number): boolean {
    const busy = (this.#busy.get(lane) ?? 0) - 1;
    if (busy > 0) this.#busy.set(lane, busy);
    else this.#busy.delete(lane);
    return busy > 0 && this.#isFull(lane, nowAt);
  }

  #isFull(lane: string, nowAt: number): boolean {
    const other = this.#latest?.lane === lane ? this.#before : this.#latest;
    const isBeside = other !== undefined && nowAt - other.at < MOMENT_MS;
    const { alone, beside } = this.#widths;
    return (this.#busy.get(lane) ?? 0) >= (isBeside ? beside : alone);
  }
}
