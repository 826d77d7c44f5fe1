import { sortedJson } from "../../../base/sorted-json.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { isRecord, recordOf, recordsIn } from "../../../kube/record.ts";
import { counted, type Finding, hint, notLookedAt, notYet, ok, problem, type Sight } from "../finding.ts";

/** A policy or a binding as this version has it, and as it is installed; undefined: it is not. */
export interface AdmissionFacts {
  readonly ours: KubeObject;
  readonly installed: Sight<KubeObject | undefined>;
  /** Nobody need have it; whoever has it lets this user alone write what is published. */
  readonly protectsFor?: string;
}

const INSTALL = "keyturn manifests | kubectl apply --server-side -f -";

/**
 * Whether our admission policies are there, are of this version and are bound. They only ever warn, so that nothing here
 * is a problem: who leaves them out finds the same in the conditions of resources. The one that protects Secrets refuses.
 */
export function judgeAdmission(facts: readonly AdmissionFacts[]): readonly Finding[] {
  const blind = facts.find(({ installed }) => !installed.isSeen)?.installed;
  if (blind?.isSeen === false) return [notLookedAt("validatingadmissionpolicies", blind.why)];
  const findings = facts.flatMap((fact) => {
    const installed = fact.installed.isSeen ? fact.installed.value : undefined;
    return fact.protectsFor === undefined
      ? judgeOne(fact.ours, installed)
      : judgeProtection(fact.ours, installed, fact.protectsFor);
  });
  const policies = facts.filter(({ ours, protectsFor }) => isPolicy(ours) && protectsFor === undefined);
  if (findings.length > 0 || policies.length === 0) return findings;
  return [ok("admission policies", `${policies.length} of this version, all of them bound`)];
}

function judgeOne(ours: KubeObject, installed: KubeObject | undefined): readonly Finding[] {
  const { name } = ours.metadata;
  const isBinding = ours.kind === "ValidatingAdmissionPolicyBinding";
  if (!installed) {
    return isBinding
      ? [notYet(hint(name, "the policy is not bound: nobody is warned", INSTALL))]
      : [notYet(hint(name, "is not installed: nobody is warned of what is allowed but will surprise", INSTALL))];
  }
  if (!holds(installed.spec, ours.spec)) {
    const what = isBinding ? "its binding says otherwise than that of this version" : "is not that of this version";
    return [hint(name, what, INSTALL)];
  }
  return isBinding ? [] : typeFindings(name, installed);
}

/** It refuses: one that was made for an operator elsewhere keeps this one from publishing anything. */
function judgeProtection(ours: KubeObject, installed: KubeObject | undefined, user: string): readonly Finding[] {
  if (!installed || holds(installed.spec, ours.spec)) return [];
  const { name } = ours.metadata;
  if (isPolicy(ours) && !JSON.stringify(installed.spec).includes(`'${user}'`)) {
    return [
      problem(
        name,
        `does not let ${user} change published Secrets: no rotation is ever published`,
        "keyturn manifests --protect-secrets, with the namespace of the operator, | kubectl apply --server-side -f -; or delete the policy",
      ),
    ];
  }
  return [
    hint(name, "is not that of this version", "keyturn manifests --protect-secrets | kubectl apply --server-side -f -"),
  ];
}

const isPolicy = ({ kind }: KubeObject): boolean => kind === "ValidatingAdmissionPolicy";

/** What the server has to say about the expressions, once it has seen the schema. */
function typeFindings(name: string, { status }: KubeObject): readonly Finding[] {
  const warnings = recordsIn(recordOf(recordOf(status).typeChecking).expressionWarnings);
  if (warnings.length === 0) return [];
  return [
    hint(
      name,
      `${counted(warnings.length, "expression")} of it cannot be evaluated with the schema that is installed`,
      "keyturn crds | kubectl apply --server-side -f -",
    ),
  ];
}

/** Everything that we say is there, whatever the server has filled in besides. */
export function holds(installed: unknown, ours: unknown): boolean {
  if (Array.isArray(ours)) {
    return (
      Array.isArray(installed) &&
      installed.length === ours.length &&
      ours.every((part: unknown, index) => holds(installed[index], part))
    );
  }
  if (!isRecord(ours)) return sortedJson(installed) === sortedJson(ours);
  return isRecord(installed) && Object.entries(ours).every(([name, part]) => holds(installed[name], part));
}
