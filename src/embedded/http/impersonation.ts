import { SOLE_USER } from "../sole-user.ts";
import { badRequest } from "../status-error.ts";

/** Who a request is made as. */
export interface Caller {
  readonly username: string;
  readonly groups: readonly string[];
}

const USER = "impersonate-user";
const BESIDE_A_USER = /^impersonate-(uid|group|extra-.*)$/;
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;
const EVERYBODY = "system:authenticated";

/**
 * The one user there is, or whom that user asks to be taken for. Nothing is forbidden to anybody here, so it shows in a
 * SelfSubjectReview alone; headers that a real server refuses are refused. Must not: be mistaken for a right.
 */
export function callerOf(headers: Readonly<Record<string, string>>): Caller {
  const { [USER]: username = "" } = headers;
  if (username !== "") return { username, groups: groupsOf(username, headers["impersonate-group"]) };
  if (Object.keys(headers).some((name) => BESIDE_A_USER.test(name))) {
    throw badRequest("requested the groups, UID or extras of somebody else without impersonating a user name");
  }
  return SOLE_USER;
}

/** Groups that are sent along count alone; a ServiceAccount for which none are sent has those it always has. */
function groupsOf(username: string, sent: string | undefined): readonly string[] {
  const named = sent === undefined ? accountGroups(username) : sent.split(", ");
  return named.includes(EVERYBODY) ? named : [...named, EVERYBODY];
}

function accountGroups(username: string): readonly string[] {
  const [, namespace] = ACCOUNT.exec(username) ?? [];
  return namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
