import type { PolicyRule } from "../../install/permissions.ts";
import { type RightsOptions, rights } from "../../install/rights.ts";

/** One thing that may or may not be done, as the API server is asked about it. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  /** All namespaces, or none, when absent. */
  readonly namespace?: string;
}

/** A right, and who needs it: a controller, the dashboard, or the operator itself. */
export interface NeededRight extends Right {
  readonly neededBy: string;
}

export type RightsWishes = Pick<
  RightsOptions,
  "controllers" | "namespace" | "scopedNamespaces" | "lease" | "hasDashboard"
>;

/** Whatever is switched on. */
export const OPERATOR = "operator";
/** Where the operator serves it. */
export const DASHBOARD = "dashboard";

/** Every single right that an installation gives the operator: what its roles say, taken apart. */
export function neededRights(wishes: RightsWishes): readonly NeededRight[] {
  const roles = rights({ ...wishes, name: OPERATOR, labels: {} }).filter(({ kind }) => !kind.endsWith("Binding"));
  return roles.flatMap(({ metadata, rules }) => {
    const whose = {
      neededBy: [...wishes.controllers, DASHBOARD].find((part) => isRoleOf(metadata.name, part)) ?? OPERATOR,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    };
    return (rules as readonly PolicyRule[]).flatMap((rule) => rightsIn(rule, whose));
  });
}

const isRoleOf = (role: string, part: string): boolean =>
  ["", "-scoped", "-at-home"].some((end) => role === `${OPERATOR}-${part}${end}`);

function rightsIn(rule: PolicyRule, whose: Pick<NeededRight, "neededBy" | "namespace">): readonly NeededRight[] {
  const names: readonly (string | undefined)[] = rule.resourceNames ?? [undefined];
  return rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((path) => {
      const [resource = "", subresource] = path.split("/");
      return names.flatMap((name) =>
        rule.verbs.map((verb) => ({
          ...whose,
          verb,
          group,
          resource,
          ...(subresource !== undefined && { subresource }),
          ...(name !== undefined && { name }),
        })),
      );
    }),
  );
}

/** The same for the same right, whoever needs it. */
export const rightKey = ({ verb, group, resource, subresource, name, namespace }: Right): string =>
  [verb, group, resource, subresource, name, namespace].join(" ");
