import assert from "node:assert/strict";
import { controllerNeeds, ownRules, type PolicyRule, sharedRules } from "../../src/install/permissions.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";

/** Every right that these calls needed, as `verb group/plural`. */
export const rightsUsedIn = (requests: readonly TransportRequest[]): ReadonlySet<string> =>
  new Set(requests.flatMap(rightsFor));

const rightsIn = (rules: readonly PolicyRule[]): readonly string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((plural) => verbs.map((verb) => `${verb} ${group}/${plural}`))),
  );

/** No more and no fewer than those that are granted to the controller. */
export function assertRights(name: string, used: ReadonlySet<string>): void {
  const own = rightsIn(controllerNeeds.get(name)?.rules ?? []);
  const given = new Set([...own, ...rightsIn(sharedRules), ...rightsIn(ownRules("keyturn"))]);
  assert.deepEqual([...used].filter((call) => !given.has(call)).sort(), [], `${name} calls without the right to`);
  // What it owns it owns with blockOwnerDeletion, which no call tells.
  const needless = own.filter((right) => !used.has(right) && !right.endsWith("/finalizers"));
  assert.deepEqual(needless.sort(), [], `${name} has rights that no call needs`);
}

const VERBS = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

/** None for a question of what is served. */
function rightsFor({ method, path }: TransportRequest): readonly string[] {
  const [pathname = "", query = ""] = path.split("?");
  const [, root, ...parts] = pathname.split("/");
  const group = root === "apis" ? (parts.shift() ?? "") : "";
  const [, first, ...rest] = parts;
  const [plural, name, subresource] = first === "namespaces" && rest.length > 1 ? rest.slice(1) : [first, ...rest];
  if (plural === undefined) return [];
  const what = `${group}/${plural}${subresource === undefined ? "" : `/${subresource}`}`;
  if (method !== "GET") return [`${VERBS[method]} ${what}`];
  // Where a server does not know how to begin a watch with what is there, a list comes before it.
  if (query.includes("watch=")) return [`list ${what}`, `watch ${what}`];
  return [`${name === undefined ? "list" : "get"} ${what}`];
}
