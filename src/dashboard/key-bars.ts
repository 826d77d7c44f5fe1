import type { HistoryEntry, Reason } from "../engine/model.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import type { RetiredReport, StatusReport } from "../insight/status/status-report.ts";
import { lateMark } from "./late-mark.ts";
import type { KeyBar, KeyMark } from "./wire.ts";

/**
 * The keys of a resource as bars, the newest first: the one to come, the active one, then those that go. What is
 * overdue is there until now at least, and says since when it is.
 */
export function keyBars(report: StatusReport, now: number): readonly KeyBar[] {
  const { resource, active, pending, retired, rotationAt } = report;
  const marks = marksOf(resource);
  const mark = (id: string): Pick<KeyBar, "mark"> => {
    const found = marks.get(id);
    return found ? { mark: found } : {};
  };
  const bars: KeyBar[] = [];
  if (pending) {
    const { name, id = name, since, reason } = pending;
    const why = reason && reasonMark(reason);
    bars.push({ id, name, state: "pending", createdAt: since, ...(why && { mark: why }) });
  }
  if (active) {
    const { id, name, createdAt } = active;
    bars.push({
      id,
      name,
      state: "active",
      createdAt,
      ...(Number.isFinite(rotationAt) && { replacedAt: Math.max(rotationAt, now) }),
      ...(rotationAt < now && { dueAt: rotationAt }),
      ...mark(id),
    });
  }
  const gone = retired.toSorted((a, b) => retiredAt(b) - retiredAt(a));
  return [...bars, ...gone.map((key) => ({ ...retiredBar(key, now), ...mark(key.id) }))];
}

/**
 * Keys that are no more, by what the status says of the last rotations: from when to when they were the active one. When
 * they were deleted, it does not say. The newest first.
 */
export function formerBars(resource: ManagedResource): readonly KeyBar[] {
  const { active, pending, retired, history } = resource.state;
  const known = new Set([active, pending, ...retired].map((key) => key?.id));
  const succeeded = history.filter(({ outcome }) => outcome === "Succeeded");
  return succeeded.flatMap((entry, index) => {
    const { keyId, endedAt } = entry;
    const replacedAt = succeeded[index - 1]?.endedAt;
    if (known.has(keyId) || replacedAt === undefined) return [];
    const mark = markOf(resource, entry);
    return [{ id: keyId, name: keyId, state: "deleted", createdAt: endedAt, replacedAt, ...(mark && { mark }) }];
  });
}

const retiredAt = ({ replacedAt, retiredAt: at }: RetiredReport): number => replacedAt ?? at;

const retiredBar = ({ id, name, createdAt, replacedAt, goesAt, heldFor }: RetiredReport, now: number): KeyBar => ({
  id,
  name,
  state: "retired",
  createdAt,
  ...(replacedAt !== undefined && { replacedAt }),
  ...(Number.isFinite(goesAt) && { deletedAt: Math.max(goesAt, now) }),
  ...(goesAt < now && { dueAt: goesAt }),
  ...(heldFor !== undefined && { heldFor }),
});

const KINDS: Readonly<Record<Reason, KeyMark["kind"] | undefined>> = {
  FirstKey: "first",
  NothingToAdopt: "first",
  RotationDue: undefined,
  Forced: "forced",
  Compromised: "compromised",
  SpecChanged: "changed",
  ExternalNameChanged: "changed",
  ActiveKeyGone: "repaired",
  ActiveKeyIll: "repaired",
  StatusFromThePast: "repaired",
  NameTaken: "repaired",
  CredentialsUnavailable: "repaired",
  Adopted: "adopted",
};

/** Undefined: it was due, and that needs no mark. */
export function reasonMark(reason: Reason): KeyMark | undefined {
  const kind = KINDS[reason];
  return kind && { kind, words: whyIntended(reason) };
}

/** By the id of a key: how it came to be, where the history tells. */
function marksOf(resource: ManagedResource): ReadonlyMap<string, KeyMark> {
  const marks = new Map<string, KeyMark>();
  for (const entry of resource.state.history) {
    const mark = markOf(resource, entry);
    if (mark) marks.set(entry.keyId, mark);
  }
  return marks;
}

const markOf = (resource: ManagedResource, entry: HistoryEntry): KeyMark | undefined =>
  entry.reason && (reasonMark(entry.reason) ?? lateMark(resource, entry));
