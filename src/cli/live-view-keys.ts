import { formatInstant } from "../base/instant.ts";
import type { KnownKey, RetiredKey, State } from "../engine/model.ts";
import type { KubeObject } from "../kube/objects.ts";
import { notMoved } from "../reconcile/managed/consumers.ts";
import type { ManagedKind, ManagedSpec } from "../reconcile/managed/managed-kind.ts";
import { fieldsOf, itemsOf, textOf } from "../reconcile/managed/read-fields.ts";

/**
 * What became of a resource's keys from one state of it to the next, in words: made, published, retired, deleted, and
 * what is in the way. Pure. Must not: show more of a key than its name.
 */
export interface KeyView {
  readonly state: State;
  /** Where the active key is published; undefined where nowhere, or where the spec cannot be read. */
  readonly secret: string | undefined;
  /** What the operator says is wrong. */
  readonly problem: string | undefined;
}

const DAY_MS = 86_400_000;

export function keyViewOf(kind: ManagedKind, object: KubeObject): KeyView {
  const target = specOf(kind, object)?.secret;
  return {
    state: kind.readState(object),
    secret: target && `${target.namespace}/${target.name}`,
    problem: problemOf(object),
  };
}

export function tellKeys(before: KeyView | undefined, after: KeyView): readonly string[] {
  const [was, is] = [before?.state, after.state];
  return [
    ...(is.isDeleting && !was?.isDeleting ? ["is being deleted, and its keys with it"] : []),
    ...making(was, is),
    ...publishing(was, after),
    ...retiring(was, is),
    ...holding(was, is),
    ...deleting(was, is),
    ...trouble(before, after),
  ];
}

function making(was: State | undefined, { pending }: State): readonly string[] {
  const isNew = pending !== undefined && pending.name !== was?.pending?.name;
  return isNew ? [`key ${pending.name} is being made`] : [];
}

function publishing(was: State | undefined, { state: { active }, secret }: KeyView): readonly string[] {
  if (!active || active.id === was?.active?.id) return [];
  return [`key ${active.name} is active${secret === undefined ? "" : ` and published in Secret ${secret}`}`];
}

/** Told once the successor is published: from then on the date stands. */
function retiring(was: State | undefined, { retired }: State): readonly string[] {
  return retired
    .filter(({ id, replacedAt }) => replacedAt !== undefined && find(was?.retired, id)?.replacedAt === undefined)
    .map((key) => `key ${key.name} is retired, to be deleted ${deletionOf(key)}`);
}

function holding(was: State | undefined, { retired }: State): readonly string[] {
  return retired.flatMap(({ id, name, heldFor }) =>
    heldFor === undefined || heldFor === find(was?.retired, id)?.heldFor
      ? []
      : [`key ${name} is kept: ${notMoved(heldFor)}`],
  );
}

/** The time of day is enough for what is seen to happen. */
function deletionOf({ deletionAt, retiredAt }: RetiredKey): string {
  if (!Number.isFinite(deletionAt)) return "once rotation says when";
  return deletionAt - retiredAt < DAY_MS / 2 ? `at ${clockTime(deletionAt)}` : `on ${formatInstant(deletionAt)}`;
}

function deleting(was: State | undefined, { retired, active }: State): readonly string[] {
  const gone = (was?.retired ?? []).filter(({ id }) => id !== active?.id && !find(retired, id));
  return gone.map(({ name }) => `key ${name} is deleted`);
}

function trouble(before: KeyView | undefined, after: KeyView): readonly string[] {
  if (after.problem === before?.problem) return [];
  return [after.problem === undefined ? "goes on: the problem is over" : `waits: ${after.problem}`];
}

const find = <K extends KnownKey>(keys: readonly K[] | undefined, id: string): K | undefined =>
  keys?.find((key) => key.id === id);

function problemOf(object: KubeObject): string | undefined {
  const synced = itemsOf(fieldsOf(object.status).conditions).find(({ type }) => type === "Synced");
  return synced?.status === "False" ? (textOf(synced.message) ?? textOf(synced.reason)) : undefined;
}

function specOf(kind: ManagedKind, object: KubeObject): ManagedSpec | undefined {
  try {
    return kind.readSpec(object);
  } catch {
    return undefined;
  }
}

/** Hours, minutes and seconds in UTC, as the lines of the view begin. */
export const clockTime = (at: number): string => new Date(at).toISOString().slice(11, 19);
