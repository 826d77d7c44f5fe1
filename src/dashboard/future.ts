import { MAX_INSTANT } from "../base/instant.ts";
import { deletionInstant } from "../engine/dates.ts";
import type { Reason, State } from "../engine/model.ts";
import { type Foreseen, foresee } from "../insight/foresee/foresee.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { reportOf } from "../insight/status/status-report.ts";
import type { ManagedSpec } from "../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { keyBars, reasonMark } from "./key-bars.ts";
import { type Future, type KeyBar, MAX_FUTURE_KEYS } from "./wire.ts";

export interface FutureSpan {
  readonly now: number;
  readonly until: number;
}

/** Far more than `MAX_FUTURE_KEYS` need: each key is a handful of steps and rests. */
const MAX_STEPS = 8000;

/**
 * The bars of a resource as they will be, played through by the engine that will act. Must not: say anything of the future
 * that the engine has not said.
 */
export function futureOf(resource: ManagedResource, span: FutureSpan): Omit<Future, "windows"> {
  const { spec, state } = resource;
  const now = span.now;
  const until = Math.min(span.until, MAX_INSTANT);
  const bars = new Bars(keyBars(reportOf(resource, now), now));
  if (spec instanceof SpecProblem || state.isDeleting) return { keys: bars.told() };
  const cutAt = play(bars, resource, spec, { now, until });
  return { keys: bars.told(), ...(cutAt !== undefined && { until: cutAt }) };
}

/** Returns up to when, where that is not all of it. */
function play(
  bars: Bars,
  { kind, object, state }: ManagedResource,
  spec: ManagedSpec,
  span: FutureSpan,
): number | undefined {
  let reason: Reason | undefined = state.pending?.reason;
  let last: State = state;
  let cutAt: number | undefined;
  let steps = 0;
  // Keys that there are take no room from those to come, however many they are.
  const most = bars.size + Math.max(MAX_FUTURE_KEYS - bars.size, MAX_FUTURE_KEYS / 2);
  for (const seen of foresee({ kind, object, spec, now: span.now })) {
    if (seen.at > span.until) break;
    if (++steps > MAX_STEPS || bars.size >= most) {
      cutAt = seen.at;
      break;
    }
    if (seen.kind === "rest") continue;
    if (seen.decision.kind === "intend") reason = seen.decision.reason;
    bars.take(seen, reason);
    last = seen.after;
  }
  for (const key of last.retired) bars.end(key.id, deletionInstant(spec.policy, key));
  return cutAt;
}

type Step = Extract<Foreseen, { kind: "step" }>;

/** Bars by the id that the engine has for their key. */
class Bars {
  readonly #bars: Map<string, KeyBar>;

  constructor(bars: readonly KeyBar[]) {
    this.#bars = new Map(bars.map((bar) => [bar.id, bar]));
  }

  get size(): number {
    return this.#bars.size;
  }

  take({ at, decision, before, after }: Step, reason: Reason | undefined): void {
    if (decision.kind === "expire") for (const id of decision.ids) this.#change(id, (bar) => expired(bar, at));
    if (decision.kind !== "commit" || !after.active) return;
    const { id, name, createdAt } = after.active;
    if (before.active && before.active.id !== id) {
      // As it turns out: what was foreseen of it by its policy alone does not count any more.
      this.#change(before.active.id, ({ deletedAt: _, ...bar }) => ({ ...bar, replacedAt: at }));
    }
    const mark = reason && reasonMark(reason);
    const known = this.#bars.get(id) ?? this.#takeByName(name);
    this.#bars.set(id, known ?? { id, name, state: "foreseen", createdAt, ...(mark && { mark }) });
  }

  /** When a key goes of which the end was not played through. */
  end(id: string, deletedAt: number): void {
    if (!Number.isFinite(deletedAt)) return;
    this.#change(id, (bar) => (bar.deletedAt === undefined ? { ...bar, deletedAt } : bar));
  }

  told(): readonly KeyBar[] {
    return [...this.#bars.values()].sort((a, b) => b.createdAt - a.createdAt);
  }

  #change(id: string, change: (bar: KeyBar) => KeyBar): void {
    const bar = this.#bars.get(id);
    if (bar) this.#bars.set(id, change(bar));
  }

  /** One that is to come has no id before it is made. */
  #takeByName(name: string): KeyBar | undefined {
    const bar = this.#bars.get(name);
    if (bar) this.#bars.delete(name);
    return bar;
  }
}

/** Of one that is kept for somebody, nobody knows when they move on: the latest date stays. */
const expired = (bar: KeyBar, at: number): KeyBar => (bar.heldFor === undefined ? { ...bar, deletedAt: at } : bar);
