import { shortLength } from "../insight/words/when.ts";
import type { Entry } from "./entry.ts";
import { troublesAt } from "./troubles.ts";
import {
  MAX_TROUBLES,
  MAX_UPCOMING,
  type OperatorView,
  type Overview,
  TROUBLE_GROUPS,
  type TroubleGroup,
  type TroubleLine,
  type Upcoming,
} from "./wire.ts";

const HOUR_MS = 3_600_000;
const SPANS = [
  { span: "hour", untilMs: HOUR_MS },
  { span: "day", untilMs: 24 * HOUR_MS },
  { span: "month", untilMs: 30 * 24 * HOUR_MS },
] as const;
/** As in `kube/clock-skew.ts`: from here on nothing is rotated or deleted. */
const SKEW_TOLERANCE_MS = 60_000;

/** What the page shows first. Pure; one walk over all entries, of which none is read again. */
export function overviewOf(entries: Iterable<Entry>, operator: OperatorView, now: number): Overview {
  const kinds = new Map<string, { count: number; troubled: number }>();
  const keys = { active: 0, pending: 0, retired: 0, held: 0 };
  const lines: TroubleLine[] = [...skewTrouble(operator)];
  const upcoming = SPANS.map(({ span }) => new Soonest(span));
  let [frozen, paused] = [0, 0];
  for (const entry of entries) {
    const troubles = troublesAt(entry.troubles, now);
    for (const trouble of troubles) lines.push({ ...trouble, id: entry.id });
    const name = entry.kind.type.kind;
    const { count = 0, troubled = 0 } = kinds.get(name) ?? {};
    kinds.set(name, { count: count + 1, troubled: troubled + (troubles.length > 0 ? 1 : 0) });
    if (entry.hasActive) keys.active++;
    if (entry.hasPending) keys.pending++;
    keys.retired += entry.retired;
    keys.held += entry.held;
    if (entry.isFrozen) frozen++;
    if (entry.isPaused) paused++;
    spanOf(upcoming, entry.rotationAt, now)?.add({ id: entry.id, at: entry.rotationAt, what: "rotation" });
    for (const at of entry.deletionsAt) spanOf(upcoming, at, now)?.add({ id: entry.id, at, what: "deletion" });
  }
  return {
    at: now,
    kinds: [...kinds].map(([kind, counts]) => ({ kind, ...counts })).sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    keys,
    frozen,
    paused,
    troubles: worstFirst(lines).slice(0, MAX_TROUBLES),
    troubleCounts: countsOf(lines),
    upcoming: upcoming.map((soonest) => soonest.told()),
    operator,
  };
}

/** It concerns all of them, and is the operator's own. */
function skewTrouble({ clockSkewMs = 0 }: OperatorView): readonly TroubleLine[] {
  if (Math.abs(clockSkewMs) <= SKEW_TOLERANCE_MS) return [];
  const message = `this machine's clock is ${shortLength(clockSkewMs)} ${clockSkewMs > 0 ? "ahead of" : "behind"} the API server's: nothing is rotated or deleted by dates that cannot be trusted`;
  return [{ reason: "ClockSkewed", message, group: "skewed" }];
}

function spanOf(upcoming: readonly Soonest[], at: number, now: number): Soonest | undefined {
  if (at < now) return undefined;
  const index = SPANS.findIndex(({ untilMs }) => at - now <= untilMs);
  return index < 0 ? undefined : upcoming[index];
}

type Next = Upcoming["next"][number];

/** Counts all, and keeps the first few of them. */
class Soonest {
  readonly #span: Upcoming["span"];
  readonly #next: Next[] = [];
  #rotations = 0;
  #deletions = 0;

  constructor(span: Upcoming["span"]) {
    this.#span = span;
  }

  add(next: Next): void {
    if (next.what === "rotation") this.#rotations++;
    else this.#deletions++;
    const last = this.#next.at(-1);
    if (this.#next.length >= MAX_UPCOMING && last && last.at <= next.at) return;
    const place = this.#next.findIndex(({ at }) => at > next.at);
    this.#next.splice(place < 0 ? this.#next.length : place, 0, next);
    if (this.#next.length > MAX_UPCOMING) this.#next.pop();
  }

  told(): Upcoming {
    return { span: this.#span, rotations: this.#rotations, deletions: this.#deletions, next: this.#next };
  }
}

const worstFirst = (lines: readonly TroubleLine[]): readonly TroubleLine[] =>
  lines.toSorted(
    (a, b) =>
      TROUBLE_GROUPS.indexOf(a.group) - TROUBLE_GROUPS.indexOf(b.group) ||
      (a.since ?? 0) - (b.since ?? 0) ||
      ((a.id ?? "") < (b.id ?? "") ? -1 : 1),
  );

function countsOf(lines: readonly TroubleLine[]): Overview["troubleCounts"] {
  const counts: Partial<Record<TroubleGroup, number>> = {};
  for (const { group } of lines) counts[group] = (counts[group] ?? 0) + 1;
  return counts;
}
