import {
  type Action,
  type CredentialView,
  type KeyBar,
  type KeyMark,
  type OperatorView,
  type Overview,
  type Row,
  TROUBLE_GROUPS,
  type TroubleGroup,
  type Upcoming,
} from "../../../src/dashboard/wire.ts";
import { relative, shortLength } from "../../../src/insight/words/when.ts";
import { instantText } from "./sentence-parts.ts";

/** What things are called on the page: the words of `keyturn status`, each with a shape, so that colour says nothing alone. */
export interface StateWords {
  readonly word: string;
  readonly shape: Shape;
  readonly tone: Tone;
}

export type Shape = "note" | "ok" | "trouble" | "turning" | "frozen" | "paused" | "leaving" | "unknown";
type Tone = "calm" | "trouble" | "busy" | "still";

/** `retirement`: as which key of its parent it is retired (`retirementOf`). */
export function stateOf(row: Row, retirement?: KeyBar): StateWords {
  const worst = worstGroup(row);
  if (worst !== undefined) {
    const word = TROUBLE_WORDS[worst]?.state ?? "Problem";
    return { word: row.phase === "Rotating" ? `${word}, rotating` : word, shape: "trouble", tone: "trouble" };
  }
  if (retirement && row.phase !== "Deleting") return { word: "Retired", shape: "leaving", tone: "still" };
  if (row.isPaused) return { word: `${row.phase}, paused`, shape: "paused", tone: "still" };
  if (row.isFrozen) return { word: `${row.phase}, frozen`, shape: "frozen", tone: "still" };
  switch (row.phase) {
    case "Ready":
      return { word: "Ready", shape: "ok", tone: "calm" };
    case "Creating":
    case "Rotating":
      return { word: row.phase, shape: "turning", tone: "busy" };
    case "Deleting":
      return { word: "Deleting", shape: "leaving", tone: "busy" };
    default:
      return { word: "Unknown", shape: "unknown", tone: "still" };
  }
}

/** Of several troubles the one that the overview shows first. */
function worstGroup({ troubles = [] }: Row): TroubleGroup | undefined {
  const groups = troubles.map(({ group }) => group);
  return TROUBLE_GROUPS.find((group) => groups.includes(group)) ?? groups[0];
}

interface TroubleWords {
  readonly title: string;
  /** As the state of one credential, where there is little room. */
  readonly state: string;
  readonly what: string;
}

export const TROUBLE_WORDS: Readonly<Record<TroubleGroup, TroubleWords>> = {
  overdue: { title: "Overdue", state: "Overdue", what: "A rotation or a deletion should have happened by now." },
  failing: { title: "Failing", state: "Failing", what: "Something stands in the way; it is tried again." },
  held: {
    title: "Held back by a consumer",
    state: "Held back",
    what: "A retired key is kept, since somebody still runs on it.",
  },
  ineffective: {
    title: "Ineffective",
    state: "Ineffective",
    what: "Rotations bring the same credentials again.",
  },
  skewed: {
    title: "Skewed clock",
    state: "Skewed clock",
    what: "The clocks of the operator and of the API server differ, or a date cannot be right.",
  },
};

export const MARK_WORDS: Readonly<Record<KeyMark["kind"], string>> = {
  first: "first key",
  forced: "forced",
  compromised: "compromised",
  late: "late",
  changed: "changed",
  repaired: "repaired",
  adopted: "taken over",
};

export const ACTION_WORDS: Readonly<Record<Action, { readonly label: string; readonly confirm: string }>> = {
  rotate: { label: "Rotate now", confirm: "Rotate now" },
  compromised: { label: "Compromised", confirm: "Replace it without overlap" },
  freeze: { label: "Freeze", confirm: "Freeze" },
  unfreeze: { label: "Unfreeze", confirm: "Unfreeze" },
};

/** `1 key`, `2 keys`, `1,234 keys`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** The same in every locale: what is on the page is in English. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/**
 * What an overview has of a span: each credential is counted where its next rotation is, and not once for each of those that
 * come after it.
 */
export function upcomingWords({ rotations, deletions }: Pick<Upcoming, "rotations" | "deletions">): string {
  const words = [
    ...(rotations > 0 ? [counted(rotations, "credential rotates next", "credentials rotate next")] : []),
    ...(deletions > 0 ? [counted(deletions, "retired key goes", "retired keys go")] : []),
  ];
  return words.length === 0 ? "Nothing." : words.join(", ");
}

/** What a rotation takes: for so long nobody calls it overdue. */
export const OVERDUE_MS = 120_000;

/** What happens next to a credential, as `keyturn status` says it. */
export function nextWords(row: Row, now: number, retirement?: KeyBar): string {
  const at = rotationOf(row, retirement);
  return at === undefined ? otherNextWords(row, now, retirement) : `rotation ${dueWords(at, now)}`;
}

/** The same where it stands under "Next rotation": of a rotation just when. */
export function nextRotationWords(row: Row, now: number, retirement?: KeyBar): string {
  const at = rotationOf(row, retirement);
  return at === undefined ? otherNextWords(row, now, retirement) : dueWords(at, now);
}

const dueWords = (at: number, now: number): string => `${at < now - OVERDUE_MS ? "due " : ""}${relative(at, now)}`;

/** When a rotation is what comes next. */
const rotationOf = (row: Row, retirement: KeyBar | undefined): number | undefined =>
  retirement || row.phase === "Deleting" || row.keys.some(({ state }) => state === "pending")
    ? undefined
    : row.rotationAt;

function otherNextWords(row: Row, now: number, retirement: KeyBar | undefined): string {
  if (row.phase === "Deleting") return "is being deleted";
  if (retirement) {
    const { deletion } = datesOf(retirement);
    return deletion === undefined ? "deletion held back" : `deletion ${dueWords(deletion, now)}`;
  }
  const pending = row.keys.find(({ state }) => state === "pending");
  if (pending) return `${pending.name} is being made`;
  if (row.isPaused) return "no rotation: paused";
  if (row.isFrozen) return "no rotation: frozen";
  if (row.parent !== undefined && row.frequencyMs === undefined) return "its parent replaces it";
  return row.frequencyMs === undefined ? "no rotation" : "held back";
}

/** The dates of a key for people: of what is overdue, since when it is, and not until when it is drawn. */
export const datesOf = ({
  state,
  replacedAt,
  deletedAt,
  dueAt,
}: KeyBar): { readonly replacement: number | undefined; readonly deletion: number | undefined } => ({
  replacement: state === "active" ? (dueAt ?? replacedAt) : replacedAt,
  deletion: state === "retired" ? (dueAt ?? deletedAt) : deletedAt,
});

/** A key in words: what stands in its bar. */
export function keyWords(key: KeyBar, now: number): readonly string[] {
  const { state, createdAt, replacedAt, deletedAt, heldFor, mark } = key;
  const { replacement, deletion } = datesOf(key);
  const isForeseen = state === "foreseen";
  const made = isForeseen || createdAt > now ? "to be made" : "made";
  const lines = [`${made} ${instantText(createdAt)}, ${relative(createdAt, now)}`];
  if (replacement !== undefined) {
    const word = replacement > now ? "to be replaced" : state === "active" ? "should have been replaced" : "replaced";
    lines.push(`${word} ${instantText(replacement)}, ${relative(replacement, now)}`);
  }
  if (state === "deleted" && deletedAt === undefined) lines.push("deleted; when, nobody has written down");
  if (deletion !== undefined) {
    const word = state === "deleted" ? "deleted" : deletion < now ? "should have been deleted" : "to be deleted";
    lines.push(`${word} ${instantText(deletion)}, ${relative(deletion, now)}`);
  }
  if (replacedAt !== undefined && deletedAt !== undefined && deletedAt > replacedAt) {
    lines.push(`overlap ${shortLength(deletedAt - replacedAt)}`);
  }
  if (heldFor !== undefined) lines.push(`held back: ${heldFor}`);
  if (mark) lines.push(`${MARK_WORDS[mark.kind]}: ${mark.words}`);
  return lines;
}

/** A row of the timeline for whoever does not see it. */
export function rowWords(row: Row, now: number, retirement?: KeyBar): string {
  const retired = row.keys.filter(({ state }) => state === "retired").length + (row.moreKeys ?? 0);
  const active = row.keys.find(({ state }) => state === "active");
  return [
    active ? `active key ${active.name}, made ${relative(active.createdAt, now)}` : "no active key",
    retired > 0 ? counted(retired, "retired key") : undefined,
    nextWords(row, now, retirement),
  ]
    .filter(Boolean)
    .join("; ");
}

/** Who leads, in one sentence. */
export function leaderWords({ leader }: OperatorView, now: number): string {
  if (!leader) return "Nobody leads, or the Lease may not be read.";
  const renewed = leader.renewedAt === undefined ? "" : `, renewed ${relative(leader.renewedAt, now)}`;
  const isSaid = leader.identity.startsWith("this ");
  return `${leader.identity}${leader.isThis && !isSaid ? " (this one)" : ""}${renewed}`;
}

/**
 * What is known of a credential, each label once: what is said of problems comes first, and problems themselves are notices.
 * Where there are none, the last one that there was is told of.
 */
export function factGroups(
  facts: CredentialView["facts"],
  lastFailure?: string,
): readonly { about: string; texts: readonly string[] }[] {
  // Those stand at the top of the page.
  const calm = facts.filter(({ isProblem, isWarning }) => !isProblem && !isWarning);
  const isInOrder = !facts.some(({ isProblem }) => isProblem);
  const past = isInOrder && lastFailure !== undefined ? [{ about: "Problem", text: lastFailure }] : [];
  const groups = Map.groupBy([...calm, ...past], ({ about }) => about);
  return [...groups]
    .map(([about, alike]) => ({ about, texts: [...new Set(alike.map(({ text }) => text))] }))
    .sort((a, b) => Number(b.about === "Problem") - Number(a.about === "Problem"));
}

/** Kinds that were not read, or not lately, or that the cluster itself is silent; empty where all is as it should be. */
export function unreadWords(overview: Pick<Overview, "operator"> | undefined): string {
  const [first, ...others] = (overview?.operator.watches ?? []).filter(({ isReady }) => !isReady);
  if (!first) return overview?.operator.silentSince === undefined ? "" : "The cluster does not answer";
  return `${first.kind}: ${first.words}${others.length === 0 ? "" : ` (and ${counted(others.length, "more kind")})`}`;
}

/** Where there is no row at all. */
export const noneWords = (unread: string): string =>
  unread === "" ? "There are no credentials yet." : "Nothing was read yet.";

/** Those that have something to do, line by line. */
export function queueWords(queues: OperatorView["queues"]): readonly string[] {
  if (!queues) return ["only the operator itself knows"];
  const busy = queues.filter(({ waiting, working }) => waiting + working > 0);
  if (busy.length === 0) return ["nothing waits"];
  return busy.map(({ controller, waiting, working }) => `${controller}: ${waiting} waiting, ${working} in progress`);
}

/** What has become of a rotation that was asked for here, from one row to the next. */
export function progressWords(before: Row | undefined, after: Row | undefined): string | undefined {
  if (!after) return before ? `${before.name} is gone` : undefined;
  const keyOf = (row: Row | undefined, state: KeyBar["state"]): KeyBar | undefined =>
    row?.keys.find((key) => key.state === state);
  const [wasActive, isActive] = [keyOf(before, "active"), keyOf(after, "active")];
  const [wasPending, isPending] = [keyOf(before, "pending"), keyOf(after, "pending")];
  if (isActive && wasActive?.id !== isActive.id && before) return `key ${isActive.name} is active`;
  if (isPending && wasPending?.name !== isPending.name) return `key ${isPending.name} is being made`;
  const trouble = after.troubles?.[0];
  if (trouble && !before?.troubles?.some(({ reason }) => reason === trouble.reason)) {
    return `problem: ${trouble.reason}: ${trouble.message}`;
  }
  if (before && before.isFrozen !== after.isFrozen) return after.isFrozen ? "frozen" : "not frozen any more";
  const [wasRetired, isRetired] = [before, after].map(
    (row) => row?.keys.filter(({ state }) => state === "retired") ?? [],
  );
  const gone = wasRetired?.find(({ id }) => !isRetired?.some((key) => key.id === id));
  return gone ? `key ${gone.name} is deleted` : undefined;
}
