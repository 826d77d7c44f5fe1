import { formatInstant } from "../../base/instant.ts";
import { deletionInstant, latestDeletion, rotationInstant } from "../../engine/dates.ts";
import type { KnownKey } from "../../engine/model.ts";
import { closesAt, isOpen, nextOpening } from "../../engine/windows.ts";
import { keyOf } from "../../kube/objects.ts";
import { notMoved } from "../../reconcile/managed/consumers.ts";
import type { ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { childKindOf, parentOf } from "../resources/children.ts";
import type { ChildView } from "../resources/look-at-children.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import { outdatedWords } from "../resources/outdated.ts";
import { conditionOf, type Problem, problemsOf } from "../resources/problems.ts";
import { oneLine } from "../words/one-line.ts";
import { moment, relative } from "../words/when.ts";
import { awaitedChild, childFacts, nextAfter, waitingText } from "./child-words.ts";
import { historyFacts } from "./history-facts.ts";
import { type Outlook, outlookOf, stepOf } from "./outlook.ts";
import { endByParent } from "./parent-words.ts";
import { fateOf, whyHeld, whyNewKey } from "./words.ts";

/** One fact about a resource: what it is about, and what is to be said. */
export interface Fact {
  readonly about: string;
  readonly text: string;
  readonly isProblem?: boolean;
  /** Nothing is wrong yet, and will be unless somebody does something. */
  readonly isWarning?: boolean;
}

export interface ExplainOptions {
  readonly now: number;
  /** The last failure that an event tells of. */
  readonly lastFailure: Problem | undefined;
  /** The children in use and to come, where keys are such. */
  readonly children?: readonly ChildView[];
  /** Where it is a child, and its parent could be looked at. */
  readonly parent?: ManagedResource | undefined;
  /** What is wrong with those who use its Secret; nothing of the resource waits for that. */
  readonly consumerProblems?: readonly Problem[];
  /** Who will be locked out when a retired key goes, in words. */
  readonly leftBehind?: readonly string[];
  /** By id: of keys that are no more, which the resource itself does not name. */
  readonly formerNames?: ReadonlyMap<string, string>;
}

/**
 * What will happen to a resource and why: the engine says what it would do, this puts it into words. A spec that nobody
 * can follow leaves only what is known of its keys.
 */
export function explain(resource: ManagedResource, options: ExplainOptions): readonly Fact[] {
  const { now, lastFailure, children = [], consumerProblems = [], leftBehind = [], formerNames } = options;
  const { spec, state } = resource;
  const problems = problemsOf(resource, now);
  // What stands in the way comes before what it stands in the way of.
  const all = [...problems, ...heldProblems(resource, now), ...consumerProblems];
  const obstacles = all.map((problem) => ({ about: "Problem", text: problemText(problem, now), isProblem: true }));
  const history = historyFacts(state, now, formerNames);
  const past = all.length === 0 ? [pastProblem(lastFailure, now)] : [];
  if (state.isDeleting) return [...obstacles, departureFact(resource, now), ...activeFacts(resource, now), ...past];
  if (spec instanceof SpecProblem) {
    const text = "Nothing, until the spec can be followed. The keys that are there stay.";
    return [...obstacles, { about: "Now", text }, ...activeFacts(resource, now), ...history, ...past];
  }
  const awaited = awaitedChild(resource, children);
  const { kind, object } = resource;
  const outlook = outlookOf({ kind, object, spec, now, isAwaited: awaited !== undefined });
  const next = awaited ? nextAfter(awaited, spec) : nextText(resource, spec, outlook, now);
  const byParent = endByParent(resource, options.parent, now);
  return [
    ...obstacles,
    ...leftBehind.map((text) => ({ about: "Consumer", text, isWarning: true })),
    { about: "Now", text: nowText(resource, outlook, { spec, now, awaited }) },
    {
      about: "Next rotation",
      text: problems.length > 0 && outlook.nextKey ? `If the problem is solved by then: ${uncapped(next)}` : next,
    },
    ...(byParent === undefined ? [] : [{ about: "Parent", text: sentence(byParent) }]),
    ...holdFacts(outlook),
    ...outdatedFacts(resource, children),
    ...windowFacts(spec, now),
    ...activeFacts(resource, now),
    ...childFacts(children),
    ...retiredKeys(state).map((key) => ({
      about: "Retired key",
      text: `${named(key)}, made at ${moment(key.createdAt, now)}, ${fateOf(key, spec.policy, now)}.`,
    })),
    ...history,
    ...past,
    ...spec.warnings.map((warning) => ({ about: "Warning", text: `${warning}.` })),
  ];
}

const named = ({ name, id }: KnownKey): string => `${name} (${id})`;

function nowText(
  resource: ManagedResource,
  outlook: Outlook,
  {
    spec: { policy },
    now,
    awaited,
  }: { readonly spec: ManagedSpec; readonly now: number; readonly awaited?: ChildView | undefined },
): string {
  const parts: string[] = awaited ? [waitingText(awaited)] : [];
  const { state } = resource;
  const { pending, retired } = state;
  const adopted = stepOf(outlook.now, "adopt");
  const intended = stepOf(outlook.now, "intend");
  const expired = stepOf(outlook.now, "expire")?.ids ?? [];
  if (pending && stepOf(outlook.now, "commit")) {
    const way =
      pending.id === undefined ? "is made or found, is published and" : "is there, is published once it is ready, and";
    parts.push(`Goes on with key ${pending.name}, intended ${relative(pending.since, now)}: it ${way} becomes active.`);
  }
  if (adopted) parts.push(`Takes over the key ${adopted.id}, if it is there and nobody else's.`);
  else if (intended) {
    const what = state.active ? "Begins a rotation" : "Makes the first key";
    parts.push(`${what}, ${intended.next.name}: ${whyNewKey(intended.reason, policy)}.`);
  }
  parts.push(...deletions(retired, expired));
  if (parts.length > 0) return parts.join(" ");
  if (retired.some(({ heldFor }) => heldFor !== undefined)) return "Nothing but to wait for those who have not moved.";
  return isTriedAgain(resource) ? "What has failed is tried again, after longer and longer pauses." : "Nothing to do.";
}

const isTriedAgain = (resource: ManagedResource): boolean =>
  !resource.isPaused && conditionOf(resource, "Synced")?.status === "False";

/** Of very many the first few are named. */
const MAX_DELETIONS = 5;

function deletions(retired: readonly KnownKey[], expired: readonly string[]): readonly string[] {
  const ids = new Set(expired);
  const gone = retired.filter(({ id }) => ids.has(id));
  const named = gone.slice(0, MAX_DELETIONS).map(({ name }) => `Deletes the retired key ${name}: its time is over.`);
  const rest = gone.length - named.length;
  return rest === 0
    ? named
    : [...named, `And ${rest} more retired ${rest === 1 ? "key" : "keys"}, whose time is over.`];
}

function nextText(resource: ManagedResource, spec: ManagedSpec, outlook: Outlook, now: number): string {
  const { state } = resource;
  const { policy } = spec;
  const { nextKey } = outlook;
  const dueAt = state.active ? rotationInstant(policy, state.active, state.postponedUntil) : Infinity;
  if (!nextKey) {
    if (!Number.isFinite(policy.frequencyMs))
      return parentOf(resource)
        ? "None of its own: its parent replaces it."
        : "None: it has no rotation policy, the key stays until somebody asks.";
    return Number.isFinite(dueAt) ? `Held back; by its policy it is due at ${moment(dueAt, now)}.` : "Held back.";
  }
  const why =
    nextKey.at === state.postponedUntil
      ? "the last one brought the same credentials again, and was put off until then"
      : whyNewKey(nextKey.reason, policy);
  // One that has begun is late for nothing any more: what comes next is the one after.
  const isLate = !state.pending && stepOf(outlook.now, "intend") === undefined && nextKey.at > dueAt;
  const waits = isLate ? `; it is due at ${formatInstant(dueAt)} and waits for the window that opens then` : "";
  return `At ${moment(nextKey.at, now)}: ${why}${waits}.`;
}

const uncapped = (words: string): string => `${words.charAt(0).toLowerCase()}${words.slice(1)}`;

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

function holdFacts({ rest }: Outlook): readonly Fact[] {
  const why = whyHeld(rest);
  return why === undefined ? [] : [{ about: "Held back", text: sentence(why) }];
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

function activeFacts(resource: ManagedResource, now: number): readonly Fact[] {
  const { state, spec } = resource;
  const { active } = state;
  const childKind = childKindOf(resource);
  const what = childKind === undefined ? "" : `, ${withArticle(childKind)}`;
  const secret = spec instanceof SpecProblem ? undefined : spec.secret;
  const where = secret ? `, in the Secret ${keyOf(secret)}` : "";
  const text = active
    ? `${named(active)}${what}, made at ${moment(active.createdAt, now)}${where}.`
    : "There is none yet.";
  return [{ about: "Active key", text }];
}

const withArticle = (kind: string): string => `${/^[AEIOU]/i.test(kind) ? "an" : "a"} ${kind}`;

function outdatedFacts(resource: ManagedResource, children: readonly ChildView[]): readonly Fact[] {
  const words = outdatedWords(resource, children.find(({ state }) => state === "active")?.object);
  return words === undefined ? [] : [{ about: "Outdated", text: sentence(words) }];
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
  `${reason}: ${oneLine(message)}${since === undefined ? "" : ` (since ${moment(since, now)})`}`;

/** Keys whose time is over, and for whom they are kept: at the end of the hold they go all the same. */
function heldProblems({ spec, state }: ManagedResource, now: number): readonly Problem[] {
  if (spec instanceof SpecProblem) return [];
  return retiredKeys(state).flatMap((key) => {
    const goesAt = latestDeletion(spec.policy, key);
    if (key.heldFor === undefined || !Number.isFinite(goesAt)) return [];
    const since = `since ${moment(deletionInstant(spec.policy, key), now)}`;
    const end = `it is deleted at ${moment(goesAt, now)} at the latest, and whoever uses it then is locked out`;
    const message = `the retired key ${key.name} is kept ${since}: ${notMoved(key.heldFor)}; ${end}`;
    return [{ reason: "ConsumersBehind", message, since: undefined }];
  });
}

function pastProblem(last: Problem | undefined, now: number): Fact {
  return { about: "Problem", text: last ? `None now. ${lastFailureText(last, now)}` : "None." };
}

/** Of a failure that is over. */
export function lastFailureText({ since, reason, message }: Problem, now: number): string {
  const when = since === undefined ? "" : ` at ${moment(since, now)}`;
  return `The last one was${when}: ${reason}: ${message}`;
}
