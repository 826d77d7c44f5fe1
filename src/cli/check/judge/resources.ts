import { ownName } from "../../../base/own-names.ts";
import { counted, type Finding, few, hint, notLookedAt, problem, type Sight } from "../finding.ts";

/** The resources of one kind that is rotated, as far as it matters here. */
export interface ResourceFacts {
  readonly kind: string;
  readonly resources: Sight<readonly KeptResource[]>;
  /** The ProviderConfigs that there are; absent for kinds that need none. */
  readonly configs?: Sight<readonly string[]>;
}

export interface KeptResource {
  /** `namespace/name`, or `name`. */
  readonly name: string;
  readonly providerConfig?: string;
  readonly isDeleting: boolean;
  /** Our finalizer is on it. */
  readonly isHeld: boolean;
}

/** Resources with which nothing will happen; `isAtWork` says whether an operator was seen, where somebody could look. */
export function judgeResources(facts: readonly ResourceFacts[], isAtWork: boolean | undefined): readonly Finding[] {
  return facts.flatMap(({ kind, resources, configs }) => {
    if (!resources.isSeen) return [notLookedAt(kind, resources.why)];
    return [
      ...(configs?.isSeen ? missingConfigs(kind, resources.value, configs.value) : []),
      ...(isAtWork === false ? leftAlone(kind, resources.value) : []),
    ];
  });
}

function missingConfigs(
  kind: string,
  resources: readonly KeptResource[],
  configs: readonly string[],
): readonly Finding[] {
  const astray = Map.groupBy(
    resources.filter(({ providerConfig }) => providerConfig !== undefined && !configs.includes(providerConfig)),
    ({ providerConfig }) => providerConfig,
  );
  return [...astray].map(([config, users]) =>
    problem(
      kind,
      `${few(users.map(({ name }) => name))}: there is no ProviderConfig ${config}`,
      `create the ProviderConfig ${config}, or correct spec.providerConfigRef`,
    ),
  );
}

function leftAlone(kind: string, resources: readonly KeptResource[]): readonly Finding[] {
  const held = resources.filter(({ isHeld }) => isHeld);
  const leaving = held.filter(({ isDeleting }) => isDeleting);
  if (leaving.length > 0) {
    return [
      problem(
        kind,
        `${few(leaving.map(({ name }) => name))}: deleted, and no operator is seen that would remove the keys outside and let go`,
        `start the operator; the finalizer ${ownName("keys")} goes by itself once the keys are gone`,
      ),
    ];
  }
  if (held.length === 0) return [];
  return [
    hint(
      kind,
      `${counted(held.length, "resource")} with keys outside, and no operator is seen; without one nothing is rotated, and none of them can be deleted`,
      "start the operator",
    ),
  ];
}
