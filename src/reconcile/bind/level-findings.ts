import { resolveKey } from "../../bind/precedence.ts";
import type { Problem } from "../../bind/problems.ts";
import type { ConfigLimits } from "../../bind/rndc-key-config.ts";
import type { KubeObject } from "../../kube/objects.ts";

/** What is to be said of the settings that stand in one object. */
export interface LevelFindings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Of the settings of a cluster or a provider, whether or not there is an instance that they count for: as instances of
 * either role, and one of none, would read them.
 */
export function levelFindings(object: KubeObject, limits: ConfigLimits): LevelFindings {
  const found = ["primary", "secondary", undefined].map((role) => {
    const instance: KubeObject = { apiVersion: "", kind: "", metadata: { name: "" }, spec: { role } };
    return resolveKey({ instance, cluster: object }, limits);
  });
  return {
    problems: unique(found.flatMap(({ problems }) => problems)),
    warnings: [...new Set(found.flatMap(({ warnings }) => warnings))],
  };
}

const unique = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.field} ${problem.message}`, problem])).values(),
];
