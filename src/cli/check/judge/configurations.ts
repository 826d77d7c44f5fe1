import { counted, type Finding, hint, notLookedAt, ok, problem, type Sight } from "../finding.ts";

/** The ProviderConfigs of one external system. */
export interface ConfigurationFacts {
  /** As people know the kind: `ProviderConfig.account.btp.sap.crossplane.io`. */
  readonly kind: string;
  readonly configs: Sight<readonly TriedConfig[]>;
}

export interface TriedConfig {
  readonly name: string;
  readonly outcome: Outcome;
}

export type Outcome =
  /** Logged in, and something could be read. */
  | { readonly kind: "works" }
  /** Its Secret is complete; the system itself was not asked. */
  | { readonly kind: "complete" }
  /** The operator looks at some namespaces alone, and its Secret is in none of them. */
  | { readonly kind: "outOfScope"; readonly message: string }
  /** An error code, and its message, in which there is never anything of a Secret. */
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** Whether each external system can be reached and lets us in. */
export function judgeConfigurations(facts: readonly ConfigurationFacts[]): readonly Finding[] {
  return facts.flatMap(({ kind, configs }) => {
    if (!configs.isSeen) return [notLookedAt(kind, configs.why)];
    const findings = configs.value.flatMap((config) => judgeConfig(kind, config));
    const works = configs.value.filter(({ outcome }) => outcome.kind === "works").length;
    const complete = configs.value.filter(({ outcome }) => outcome.kind === "complete").length;
    return [
      ...(works > 0 ? [ok(kind, `${counted(works, "configuration")}: reached, and logged in`)] : []),
      ...(complete > 0
        ? [ok(kind, `${counted(complete, "configuration")}: Secret complete; nobody was asked (--offline)`)]
        : []),
      ...findings,
    ];
  });
}

const REMEDIES: Readonly<Record<string, string>> = {
  ReferenceProblem: "create or complete what it names, or correct the reference; the operator looks again by itself",
  SpecProblem: "correct the field",
  ProviderForbidden:
    "put credentials into its Secret that are accepted and have the rights; the operator takes them up by itself",
  ProviderUnavailable:
    "see whether the address is right and the system is up; from the operator's pods NetworkPolicies and proxies count as well (--offline leaves this out)",
};

const INTO_SIGHT =
  "move the Secret into the operator's namespace or one of those that it looks at, or let it look there, too (--namespaces)";

/** What says nothing about the configuration itself. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  Forbidden: "check again with a kubeconfig that may read the Secret",
  ProviderThrottled: "check again in a minute",
};

function judgeConfig(kind: string, { name, outcome }: TriedConfig): readonly Finding[] {
  const about = `${kind} ${name}`;
  if (outcome.kind === "outOfScope") return [problem(about, outcome.message, INTO_SIGHT)];
  if (outcome.kind !== "failed") return [];
  const { code, message } = outcome;
  const elsewhere = ELSEWHERE[code];
  if (elsewhere !== undefined) return [hint(about, message, elsewhere)];
  return [problem(about, message, REMEDIES[code] ?? `what the message says; ${code} is explained in docs/errors.md`)];
}
