import { formatInstant } from "../../base/instant.ts";
import { rotationInstant } from "../../engine/dates.ts";
import type { KnownKey } from "../../engine/model.ts";
import { closesAt, isOpen, nextOpening } from "../../engine/windows.ts";
import { keyOf } from "../../kube/objects.ts";
import type { ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { moment, relative } from "../print/when.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import { type Problem, problemsOf } from "../resources/problems.ts";
import { type Outlook, outlookOf, stepOf } from "./outlook.ts";
import { fateOf, whyHeld, whyNewKey } from "./words.ts";

/** One fact about a resource: what it is about, and what is to be said. */
export interface Fact {
  readonly about: string;
  readonly text: string;
  readonly isProblem?: boolean;
}

export interface ExplainOptions {
  readonly now: number;
  /** The last failure that an event tells of. */
  readonly lastFailure: Problem | undefined;
}

/**
 * What will happen to a resource and why: the engine says what it would do, this puts it into words. A spec that nobody
 * can follow leaves only what is known of its keys.
 */
export function explain(resource: ManagedResource, { now, lastFailure }: ExplainOptions): readonly Fact[] {
  const { spec, state } = resource;
  const problems = problemsOf(resource, now);
  // What stands in the way comes before what it stands in the way of.
  const obstacles = problems.map((problem) => ({ about: "Problem", text: problemText(problem, now), isProblem: true }));
  const past = problems.length === 0 ? [pastProblem(lastFailure, now)] : [];
  if (state.isDeleting) return [...obstacles, departureFact(resource, now), ...activeFacts(resource, now), ...past];
  if (spec instanceof SpecProblem) {
    const text = "Nothing, until the spec can be followed. The keys that are there stay.";
    return [...obstacles, { about: "Now", text }, ...activeFacts(resource, now), ...past];
  }
  const outlook = outlookOf({ kind: resource.kind, object: resource.object, spec, now });
  const next = nextText(resource, spec, outlook, now);
  return [
    ...obstacles,
    { about: "Now", text: nowText(resource, spec, outlook, now) },
    {
      about: "Next rotation",
      text: problems.length > 0 && outlook.nextKey ? `If the problem is solved by then: ${next}` : next,
    },
    ...holdFacts(outlook),
    ...windowFacts(spec, now),
    ...activeFacts(resource, now),
    ...retiredKeys(state).map((key) => ({
      about: "Retired key",
      text: `${named(key)}, made at ${moment(key.createdAt, now)}, ${fateOf(key, spec.policy, now)}.`,
    })),
    ...past,
    ...spec.warnings.map((warning) => ({ about: "Warning", text: `${warning}.` })),
  ];
}

const named = ({ name, id }: KnownKey): string => `${name} (${id})`;

function nowText({ state }: ManagedResource, { policy }: ManagedSpec, outlook: Outlook, now: number): string {
  const parts: string[] = [];
  const { pending, retired } = state;
  const adopted = stepOf(outlook.now, "adopt");
  const intended = stepOf(outlook.now, "intend");
  const expired = stepOf(outlook.now, "expire")?.ids ?? [];
  if (pending && stepOf(outlook.now, "commit")) {
    const made = pending.id === undefined ? "is made or found" : "is there";
    parts.push(
      `Goes on with key ${pending.name}, intended ${relative(pending.since, now)}: it ${made}, is published and becomes active.`,
    );
  }
  if (adopted) parts.push(`Takes over the key ${adopted.id}, if it is there and nobody else's.`);
  else if (intended) {
    const what = state.active ? "Begins a rotation" : "Makes the first key";
    parts.push(`${what}, ${intended.next.name}: ${whyNewKey(intended.reason, policy)}.`);
  }
  for (const key of retired.filter(({ id }) => expired.includes(id))) {
    parts.push(`Deletes the retired key ${key.name}: its time is over.`);
  }
  return parts.length === 0 ? "Nothing to do." : parts.join(" ");
}

function nextText({ state }: ManagedResource, spec: ManagedSpec, outlook: Outlook, now: number): string {
  const { policy } = spec;
  const { nextKey } = outlook;
  const dueAt = state.active ? rotationInstant(policy, state.active, state.postponedUntil) : Infinity;
  if (!nextKey) {
    if (!Number.isFinite(policy.frequencyMs))
      return "None: it has no rotation policy, the key stays until somebody asks.";
    return Number.isFinite(dueAt) ? `Held back; by its policy it is due at ${moment(dueAt, now)}.` : "Held back.";
  }
  const why =
    nextKey.at === state.postponedUntil
      ? "the last one brought the same credentials again, and was put off until then"
      : whyNewKey(nextKey.reason, policy);
  const isLate = stepOf(outlook.now, "intend") === undefined && nextKey.at > dueAt;
  const waits = isLate ? `; it is due at ${formatInstant(dueAt)} and waits for the window that opens then` : "";
  return `At ${moment(nextKey.at, now)}: ${why}${waits}.`;
}

function holdFacts({ rest }: Outlook): readonly Fact[] {
  const why = whyHeld(rest);
  return why === undefined ? [] : [{ about: "Held back", text: `${why.charAt(0).toUpperCase()}${why.slice(1)}.` }];
}

function windowFacts({ windows }: ManagedSpec, now: number): readonly Fact[] {
  if (windows.length === 0) return [];
  const opensAt = nextOpening(windows, now);
  if (opensAt === undefined) return [{ about: "Window", text: "None will ever open again." }];
  const until = closesAt(windows, opensAt);
  const end = until === undefined || !Number.isFinite(until) ? "and stays open" : `until ${moment(until, now)}`;
  return [
    { about: "Window", text: isOpen(windows, now) ? `Open now, ${end}.` : `Opens at ${moment(opensAt, now)}, ${end}.` },
  ];
}

function activeFacts({ state, spec }: ManagedResource, now: number): readonly Fact[] {
  const { active } = state;
  const secret = spec instanceof SpecProblem ? undefined : spec.secret;
  const where = secret ? `, in the Secret ${keyOf(secret)}` : "";
  const text = active ? `${named(active)}, made at ${moment(active.createdAt, now)}${where}.` : "There is none yet.";
  return [{ about: "Active key", text }];
}

function departureFact({ kind, object, state }: ManagedResource, now: number): Fact {
  const { deletionPolicy, may } = kind.readDeparture(object);
  const since = relative(Date.parse(object.metadata.deletionTimestamp ?? ""), now);
  const isKept = deletionPolicy === "orphan" || !may.delete;
  const count = state.retired.length + (state.active ? 1 : 0);
  const what = isKept
    ? `sets its ${count} keys free, which stay outside (deletionPolicy or managementPolicies say so)`
    : `deletes its keys outside (${state.retired.length} retired first, then the active one)`;
  return { about: "Now", text: `It was deleted ${since}: ${what}, and lets go once nothing of it is left to do.` };
}

const problemText = ({ reason, message, since }: Problem, now: number): string =>
  `${reason}: ${message}${since === undefined ? "" : ` (since ${moment(since, now)})`}`;

function pastProblem(last: Problem | undefined, now: number): Fact {
  if (!last) return { about: "Problem", text: "None." };
  const when = last.since === undefined ? "" : ` at ${moment(last.since, now)}`;
  return { about: "Problem", text: `None now. The last one was${when}: ${last.reason}: ${last.message}` };
}
