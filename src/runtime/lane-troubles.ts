/**
 * Which keys of a lane wait because what they all need did not work, such as an external system that is down. A success in
 * the lane is a sign that it works again, and none of them has to sit its own pause out. The sign may be wrong (not every
 * success has needed it), so the next one counts only after a pause that doubles for as long as keys keep failing. Must
 * not: know what a lane stands for.
 */
export class LaneTroubles {
  readonly #rule: { readonly baseMs: number; readonly capMs: number };
  readonly #lanes = new Map<string, { readonly keys: Set<string>; deafUntil: number; pauseMs: number }>();

  constructor(rule: { readonly baseMs: number; readonly capMs: number }) {
    this.#rule = rule;
  }

  failed(lane: string, key: string): void {
    const trouble = this.#lanes.get(lane) ?? { keys: new Set(), deafUntil: -Infinity, pauseMs: this.#rule.baseMs };
    this.#lanes.set(lane, trouble);
    trouble.keys.add(key);
  }

  /** It waits for something else by now, or for nothing. */
  forget(lane: string, key: string): void {
    const trouble = this.#lanes.get(lane);
    if (trouble?.keys.delete(key) && trouble.keys.size === 0) this.#lanes.delete(lane);
  }

  /** The keys of the lane that need not wait any longer. */
  succeeded(lane: string, nowAt: number): readonly string[] {
    const trouble = this.#lanes.get(lane);
    if (!trouble || nowAt < trouble.deafUntil) return [];
    trouble.deafUntil = nowAt + trouble.pauseMs;
    trouble.pauseMs = Math.min(2 * trouble.pauseMs, this.#rule.capMs);
    return [...trouble.keys];
  }

  clear(): void {
    this.#lanes.clear();
  }
}
