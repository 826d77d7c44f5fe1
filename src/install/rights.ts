import { InvalidValue } from "../base/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import {
  type ControllerNeeds,
  controllerNeeds,
  isOfCluster,
  ownRules,
  type PolicyRule,
  sharedRules,
} from "./permissions.ts";
import { dashboardRules } from "./web-dashboard.ts";

/**
 * The operator's rights as RBAC objects: a role for each controller that is switched on, one for what all of them share,
 * and one in the operator's own namespace. An operator that is told of namespaces has its rights in those alone, as far as
 * what it asks for is in a namespace at all. Must not: know what a controller does.
 */
export interface RightsOptions {
  /** Name of the ServiceAccount, and of the roles, which go on with the name of the controller. */
  readonly name: string;
  /** Where the operator runs. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly controllers: readonly string[];
  /** None: all there are. */
  readonly scopedNamespaces: readonly string[];
  readonly lease: string;
  /** The operator serves the dashboard. */
  readonly hasDashboard?: boolean;
}

const RBAC = "rbac.authorization.k8s.io";
/** Where events are that are about something in no namespace. */
const EVENTS_OF_CLUSTER = "default";

export function rights(options: RightsOptions): readonly KubeObject[] {
  const { name, controllers, lease, namespace } = options;
  return [
    ...grants(options, name, sharedRules),
    ...controllers.flatMap((controller) => [
      ...grants(options, `${name}-${controller}`, needsOf(controller).rules),
      ...grantsAtHome(options, controller),
    ]),
    ...(options.hasDashboard ? grants(options, `${name}-dashboard`, dashboardRules) : []),
    ...grant(options, { kind: "Role", name, namespace, rules: ownRules(lease) }),
  ];
}

/** What a controller needs; refuses names that there are not. */
export function needsOf(controller: string): ControllerNeeds {
  const needs = controllerNeeds.get(controller);
  if (!needs) throw new InvalidValue(`there is no controller "${controller}"`);
  return needs;
}

/** The same rules in the cluster, or as far as they can be in the namespaces that are named. */
function grants(options: RightsOptions, name: string, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const { scopedNamespaces } = options;
  if (scopedNamespaces.length === 0) return grant(options, { kind: "ClusterRole", name, rules });
  const { ofCluster, ofNamespaces } = splitByScope(rules);
  return [
    ...grant(options, { kind: "ClusterRole", name, rules: ofCluster.map((rule) => within(rule, scopedNamespaces)) }),
    ...namespacesFor(ofNamespaces, scopedNamespaces).flatMap((namespace) =>
      grant(options, { kind: "Role", name: `${name}-scoped`, namespace, rules: ofNamespaces }),
    ),
  ];
}

/** Whoever may look everywhere, or at that namespace among others, has them already. */
function grantsAtHome(options: RightsOptions, controller: string): readonly KubeObject[] {
  const { name, namespace, scopedNamespaces } = options;
  if (scopedNamespaces.length === 0 || scopedNamespaces.includes(namespace)) return [];
  return grant(options, {
    kind: "Role",
    name: `${name}-${controller}-at-home`,
    namespace,
    rules: needsOf(controller).atHome ?? [],
  });
}

export function splitByScope(rules: readonly PolicyRule[]): {
  readonly ofCluster: readonly PolicyRule[];
  readonly ofNamespaces: readonly PolicyRule[];
} {
  return { ofCluster: rules.filter(isOfCluster), ofNamespaces: rules.filter((rule) => !isOfCluster(rule)) };
}

/** Of Namespaces themselves only those are looked at. */
const within = (rule: PolicyRule, namespaces: readonly string[]): PolicyRule =>
  rule.resources.includes("namespaces") && rule.resourceNames === undefined
    ? { ...rule, resourceNames: namespaces }
    : rule;

const namespacesFor = (rules: readonly PolicyRule[], namespaces: readonly string[]): readonly string[] =>
  rules.some(({ resources }) => resources.includes("events"))
    ? [...new Set([...namespaces, EVENTS_OF_CLUSTER])]
    : namespaces;

interface Grant {
  readonly kind: "Role" | "ClusterRole";
  readonly name: string;
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

/** A role, and its binding to the operator's ServiceAccount. */
function grant(options: RightsOptions, { kind, name, namespace, rules }: Grant): readonly KubeObject[] {
  if (rules.length === 0) return [];
  const apiVersion = `${RBAC}/v1`;
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels: options.labels };
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ kind: "ServiceAccount", name: options.name, namespace: options.namespace }],
    },
  ];
}
