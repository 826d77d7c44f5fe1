import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { controllerGroups } from "../src/install/controller-groups.ts";
import { controllerNeeds, ownRules, sharedRules } from "../src/install/permissions.ts";
import { dashboardRules } from "../src/install/web-dashboard.ts";
import { RESTART } from "../src/reconcile/restart/restart-name.ts";
import { AUDIT_LOG } from "../test/cluster/audit-log.ts";
import { type AuditedRequest, readAuditLine } from "../test/rights/audited-request.ts";
import {
  type DeclaredRefusal,
  type GrantedRole,
  judgeRights,
  type RightsVerdict,
} from "../test/rights/judge-rights.ts";
import { DECLARED_REFUSALS } from "../test/support/declare-refusal.ts";
import { LEASE, SCOPED_HOME } from "../test/support/operator-access.ts";
import { root } from "./run.ts";

const roles: readonly GrantedRole[] = [
  { name: "shared by all", isShared: true, rules: sharedRules },
  { name: "own namespace", isOwn: true, rules: ownRules(LEASE) },
  { name: "dashboard", isShared: true, rules: dashboardRules },
  ...[...controllerNeeds].map(([name, { rules }]) => ({
    name,
    rules,
    ...(name === RESTART && { lends: true as const }),
    ...(controllerGroups.get("korifi")?.includes(name) && { family: "korifi" }),
  })),
];

const atHome: readonly GrantedRole[] = [...controllerNeeds].flatMap(([name, { atHome: rules = [] }]) =>
  rules.length > 0 ? [{ name, isAtHome: true, rules }] : [],
);

/**
 * What the servers of `npm run test:cluster` were asked by operators, held against the roles of an installation with all
 * controllers and the dashboard: what they lacked, and what they were granted for nothing; how many lines there are of
 * that. Where only some of the suites ran, rights that nobody needed are told of, and nothing more.
 */
export async function reportRights(folder: string, { isWhole }: { readonly isWhole: boolean }): Promise<number> {
  const requests = [...(await auditedIn(folder))];
  const verdict = withAtHome(judgeRights(requests, roles, declaredIn(folder)), requests);
  print(verdict, isWhole);
  const { missing, unused } = verdict;
  const passed = verdict.roles.reduce((sum, { needed }) => sum + needed, 0);
  const failed = missing.length + (isWhole ? unused.length : 0);
  console.log(`rights: ${passed} passed, ${failed} failed, ${isWhole ? 0 : unused.length} skipped`);
  return failed;
}

/** Rights at home are those of an operator of some namespaces: one that may look everywhere has no need of them. */
function withAtHome(verdict: RightsVerdict, requests: readonly AuditedRequest[]): RightsVerdict {
  const scoped = requests.filter(({ home, refusal }) => home === SCOPED_HOME && refusal === undefined);
  const own = judgeRights(scoped, atHome);
  return { ...verdict, roles: [...verdict.roles, ...own.roles], unused: [...verdict.unused, ...own.unused] };
}

function print({ roles: all, missing, unused }: RightsVerdict, isWhole: boolean): void {
  console.log("── rights of the operator, by role: granted, and needed on the servers");
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, granted, needed } of all) {
    console.log(`  ${name.padEnd(width)}  ${String(granted).padStart(3)}  ${String(needed).padStart(3)}`);
  }
  for (const line of missing) console.log(`  ✖ missing  ${line}`);
  for (const line of unused) console.log(`  ${isWhole ? "✖" : "-"} unused   ${line}`);
}

/** Each request once: there are hundreds of thousands that are the same but for names. */
async function auditedIn(folder: string): Promise<Iterable<AuditedRequest>> {
  const version = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string })
    .version;
  // Releases of before have rights of their own, but none of them may be refused what it had.
  const isOurs = (request: AuditedRequest): boolean =>
    [version, "test"].includes(request.version) || request.refusal !== undefined;
  const requests = new Map<string, AuditedRequest>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(AUDIT_LOG))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
      const request = readAuditLine(line);
      if (!request || !isOurs(request)) continue;
      const { namespace, name, refusal, ...same } = request;
      const key = JSON.stringify([same, namespace === undefined, namespace === same.home, namedIn(request), refusal]);
      requests.set(key, request);
    }
  }
  return requests.values();
}

/** Names count where a rule has some. */
const named: ReadonlySet<string> = new Set(
  roles.flatMap(({ rules }) => rules.flatMap(({ resourceNames = [] }) => resourceNames)),
);

const namedIn = ({ name }: AuditedRequest): string | undefined =>
  name !== undefined && named.has(name) ? name : undefined;

function declaredIn(folder: string): readonly DeclaredRefusal[] {
  const file = join(folder, DECLARED_REFUSALS);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as DeclaredRefusal);
}
