import { counted, type Finding, judged, ok, problem, type Sight } from "../finding.ts";
import { DASHBOARD, type NeededRight, OPERATOR } from "../needed-rights.ts";

export interface RightsFacts {
  /** Who was asked about. */
  readonly who: string;
  readonly answers: Sight<readonly AnsweredRight[]>;
}

export interface AnsweredRight extends NeededRight {
  readonly isAllowed: boolean;
}

/** What is missing, in one line for each controller and resource. */
export function judgeRights({ who, answers }: RightsFacts): readonly Finding[] {
  return judged(answers, "rights", (rights) => {
    const missing = Map.groupBy(
      rights.filter(({ isAllowed }) => !isAllowed),
      (right) => `${right.neededBy} ${objectOf(right)}`,
    );
    if (missing.size === 0) return [ok("rights", `${who} has all ${counted(rights.length, "right")} that are needed`)];
    return [...missing.values()].map((group) => missingRight(who, group));
  });
}

function missingRight(who: string, rights: readonly AnsweredRight[]): Finding {
  const [first] = rights as readonly [AnsweredRight];
  const verbs = rights.map(({ verb }) => verb).join(", ");
  return problem(
    first.neededBy,
    `${who} may not ${verbs} ${objectOf(first)}`,
    `keyturn manifests${flagFor(first.neededBy)} has a role with this right and its binding: apply them, or grant it to ${who}`,
  );
}

function flagFor(part: string): string {
  if (part === OPERATOR) return "";
  return part === DASHBOARD ? " --serve-dashboard" : ` --controllers ${part}`;
}

function objectOf({ group, resource, subresource, name, namespace }: AnsweredRight): string {
  const path = [resource, ...(group === "" ? [] : [group])].join(".");
  const what = subresource === undefined ? path : `${path}/${subresource}`;
  const named = name === undefined ? what : `${what} ${name}`;
  return namespace === undefined ? named : `${named} in ${namespace}`;
}
