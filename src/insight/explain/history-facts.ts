import type { HistoryEntry, Reason, RotationOutcome, State } from "../../engine/model.ts";
import { moment } from "../words/when.ts";
import type { Fact } from "./explanation.ts";

/** The JSON of `keyturn status` has all that the resource keeps. */
const MAX_TOLD = 3;

const OUTCOMES: Readonly<Record<RotationOutcome, string>> = {
  Succeeded: "became the active key",
  Abandoned: "was given up for another one",
  Ineffective: "brought the credentials of the old key again, which stayed",
};

/** Why a key was intended, told when it is over. */
const REASONS: Readonly<Record<Reason, string>> = {
  FirstKey: "there was none before",
  NothingToAdopt: "there was none before, and none that the external-name could mean",
  RotationDue: "the one before was due",
  Forced: "somebody had asked for it by annotation",
  Compromised: "somebody had declared the one before compromised",
  SpecChanged: "what keys are made from had changed",
  ActiveKeyGone: "the one before had been deleted outside",
  ActiveKeyIll: "the one before had not been working for too long",
  ExternalNameChanged: "the external-name did not name the active key any more",
  StatusFromThePast: "it was there already, and the status was older",
  Adopted: "it was there to be taken over",
  NameTaken: "the name of the one to come was taken",
  CredentialsUnavailable: "the credentials of the one before were not to be had again",
};

export const whyIntended = (reason: Reason): string => REASONS[reason];

/**
 * What became of the last keys that were intended, the latest first, by the names of those that are there. The history has
 * ids alone: `others` are names of keys that are no more, by id, where somebody knows them.
 */
export function historyFacts(
  { history, active, retired }: State,
  now: number,
  others: ReadonlyMap<string, string> = new Map(),
): readonly Fact[] {
  const names = new Map([
    ...others,
    ...[...retired, ...(active ? [active] : [])].map(({ id, name }) => [id, name] as const),
  ]);
  return history.slice(0, MAX_TOLD).map((entry) => ({ about: "History", text: textOf(entry, names, now) }));
}

function textOf(
  { keyId, endedAt, reason, outcome }: HistoryEntry,
  names: ReadonlyMap<string, string>,
  now: number,
): string {
  const why = reason === undefined ? "" : `; ${REASONS[reason]} (${reason})`;
  const name = names.get(keyId);
  return `${moment(endedAt, now)}: ${name === undefined ? keyId : `${name} (${keyId})`} ${OUTCOMES[outcome]}${why}.`;
}
