import type { PolicyRule } from "../../src/install/permissions.ts";
import type { AuditedRequest } from "./audited-request.ts";

/** A role of an installation, and whose it is. */
export interface GrantedRole {
  /** That of a controller, or one of these two for all of them. */
  readonly name: string;
  /** Granted in the operator's own namespace alone. */
  readonly isOwn?: true;
  /** The same, to its own controller: where the operator may look at some namespaces alone. */
  readonly isAtHome?: true;
  /** Whatever is switched on: who asks may be anybody. */
  readonly isShared?: true;
  /** Others look at workloads through its eyes where it runs, and not at all where it does not. */
  readonly lends?: true;
  /** Of several whose controllers share what they have read and written: what one asks for may be for another. */
  readonly family?: string;
  readonly rules: readonly PolicyRule[];
}

/** What a story does on purpose, and says so: an operator is refused this. */
export interface DeclaredRefusal {
  readonly verb?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly reason: string;
}

interface Right {
  readonly role: GrantedRole;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
}

export interface RightsVerdict {
  /** How many of the rights of each role were needed. */
  readonly roles: readonly { readonly name: string; readonly granted: number; readonly needed: number }[];
  /** One line for each request that was refused, or that only somebody else's role allows. */
  readonly missing: readonly string[];
  /** One line for each right that no request needed. */
  readonly unused: readonly string[];
}

/**
 * What operators have asked of servers, held against what their roles grant. Every controller has to get by with its own
 * role and with those that all share, whoever else runs in the same process; and a right counts as needed only where its
 * own controller has asked for it, and one that is granted everywhere only where that was not in the operator's own
 * namespace. Pure.
 */
export function judgeRights(
  requests: Iterable<AuditedRequest>,
  roles: readonly GrantedRole[],
  declared: readonly DeclaredRefusal[] = [],
): RightsVerdict {
  const judge = new Judge(roles);
  const all = [...requests];
  const granted = new Set(all.filter(({ refusal }) => refusal === undefined).map(rightAsked));
  for (const request of all) {
    // A server that has only just started refuses whoever's roles it has yet to read.
    const isTooEarly = isLasting(request) && granted.has(rightAsked(request));
    if (request.refusal === undefined) judge.allowed(request);
    else if (!isTooEarly && !declared.some((one) => isMeant(one, request))) judge.refused(request, request.refusal);
  }
  return judge.verdict();
}

/** Whether its rights stay what they are for as long as there is the account. An installation's change by an upgrade. */
const isLasting = ({ account }: AuditedRequest): boolean => account !== "keyturn";

const rightAsked = ({ home, account, verb, group, resource, namespace }: AuditedRequest): string =>
  JSON.stringify([home, account, verb, group, resource, namespace]);

class Judge {
  readonly #roles: readonly GrantedRole[];
  readonly #rights: readonly Right[];
  readonly #needed = new Set<Right>();
  readonly #missing = new Set<string>();

  constructor(roles: readonly GrantedRole[]) {
    this.#roles = roles;
    this.#rights = roles.flatMap(rightsIn);
  }

  refused(request: AuditedRequest, why: string): void {
    this.#missing.add(`${describe(request)}: ${why}`);
  }

  allowed(request: AuditedRequest): void {
    for (const asked of neededFor(request)) {
      for (const caller of request.callers.length > 0 ? request.callers : [undefined]) this.#ask(asked, caller);
    }
  }

  #ask(asked: Asked, caller: string | undefined): void {
    const found = this.#rights.filter((right) => grants(right, asked));
    const own = found.filter((right) => isFor(right, caller));
    // The narrowest: what is granted at home is not needed everywhere.
    const [best] = own.sort((a, b) => breadth(a) - breadth(b));
    if (best) {
      // What is asked for at home alone need not be granted everywhere.
      if (isThere(best.role) || asked.namespace !== asked.home) this.#note(best, found);
    } else if (!asked.isMaybe && !found.some((right) => this.#helps(right, caller))) {
      const callers = caller === undefined ? [] : [caller];
      this.#missing.add(`${describe({ ...asked, callers })}: no role of its own allows it`);
    }
  }

  /** Which of a family asks first is chance: the next time, it is another one. */
  #note(best: Right, found: readonly Right[]): void {
    const { family } = best.role;
    this.#needed.add(best);
    for (const right of found) if (family !== undefined && right.role.family === family) this.#needed.add(right);
  }

  /** Whether a right of somebody else is enough. */
  #helps({ role, verb }: Right, caller: string | undefined): boolean {
    if (role.lends) return READS.includes(verb);
    return role.family !== undefined && role.family === this.#roles.find(({ name }) => name === caller)?.family;
  }

  verdict(): RightsVerdict {
    const countOf = (rights: Iterable<Right>, role: GrantedRole): number =>
      [...rights].filter((right) => right.role === role).length;
    return {
      roles: this.#roles.map((role) => ({
        name: titleOf(role),
        granted: countOf(this.#rights, role),
        needed: countOf(this.#needed, role),
      })),
      missing: [...this.#missing].sort(),
      unused: this.#rights.filter((right) => !this.#needed.has(right)).map(describeRight),
    };
  }
}

const rightsIn = (role: GrantedRole): readonly Right[] =>
  role.rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => ({ role, verb, group, resource, ...(name !== undefined && { name }) })),
        ),
      ),
    ),
  );

type Asked = Pick<AuditedRequest, "home" | "verb" | "group" | "resource" | "namespace" | "name"> & {
  /** The server asks for it only where something was otherwise before, which the request does not tell. */
  readonly isMaybe?: boolean;
};

/** Besides the request itself: what the server asks of whoever makes something by a patch, or something that holds its owner. */
function neededFor(request: AuditedRequest): readonly Asked[] {
  const { home, namespace } = request;
  return [
    request,
    ...(request.isCreated ? [{ ...request, verb: "create" }] : []),
    ...request.blocks.map((owner) => {
      const [group = "", plural = ""] = owner.split("/");
      const isMaybe = request.verb !== "create" && !request.isCreated;
      return { home, namespace, verb: "update", group, resource: `${plural}/finalizers`, isMaybe };
    }),
  ];
}

const isFor = ({ role }: Right, caller: string | undefined): boolean =>
  role.isOwn === true || role.isShared === true || role.name === caller;

const isThere = ({ isOwn, isAtHome }: GrantedRole): boolean => isOwn === true || isAtHome === true;

const READS: readonly string[] = ["get", "list", "watch"];

function grants(right: Right, asked: Asked): boolean {
  const isSame = right.verb === asked.verb && right.group === asked.group && right.resource === asked.resource;
  const isNamed = right.name === undefined || right.name === asked.name;
  return isSame && isNamed && (!isThere(right.role) || asked.namespace === asked.home);
}

const breadth = ({ role, name }: Right): number =>
  (isThere(role) ? 0 : role.isShared ? 2 : 4) + (name === undefined ? 1 : 0);

const isMeant = ({ verb, resource, namespace }: DeclaredRefusal, request: AuditedRequest): boolean =>
  (verb === undefined || verb === request.verb) &&
  (resource === undefined || resource === request.resource) &&
  (namespace === undefined || namespace === request.namespace);

const titleOf = ({ name, isAtHome }: GrantedRole): string => (isAtHome ? `${name} at home` : name);

const describeRight = (right: Right): string =>
  `${titleOf(right.role)}: ${right.verb} ${nameOf(right)}${right.name === undefined ? "" : ` "${right.name}"`}`;

const describe = (request: Asked & Pick<AuditedRequest, "callers">): string => {
  const who = request.callers.length === 0 ? "the operator" : request.callers.join();
  const where =
    request.namespace === undefined
      ? ""
      : ` in ${request.namespace === request.home ? "its own namespace" : "a namespace"}`;
  return `${who}: ${request.verb} ${nameOf(request)}${where}`;
};

const nameOf = ({ group, resource }: { readonly group: string; readonly resource: string }): string =>
  group === "" ? resource : `${resource.replace(/(\/|$)/, `.${group}$1`)}`;
