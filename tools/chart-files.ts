import { stringify } from "yaml";
import { operatorCommand } from "../src/cli/operator-command.ts";
import { controllerGroups } from "../src/install/controller-groups.ts";
import { operatorDeployment } from "../src/install/deployment.ts";
import { adviceFor, definitionsFor } from "../src/install/manifests.ts";
import { dashboard } from "../src/install/monitoring/dashboard.ts";
import { ruleGroups } from "../src/install/monitoring/prometheus-rule.ts";
import { egress } from "../src/install/network-policy.ts";
import { controllerNeeds, ownRules, type PolicyRule, sharedRules } from "../src/install/permissions.ts";
import { splitByScope } from "../src/install/rights.ts";
import { secretProtection } from "../src/install/secret-protection.ts";
import { uninstallRights } from "../src/install/uninstall-rights.ts";
import { dashboardRules } from "../src/install/web-dashboard.ts";
import type { KubeObject } from "../src/kube/objects.ts";

/**
 * What the templates of the chart read: all that is data in `src/install`, so that the chart and `keyturn manifests` cannot
 * differ in it. Texts by their path under `chart/files`.
 */
export function chartFiles(): ReadonlyMap<string, string> {
  const names = [...controllerNeeds.keys()];
  const policies = [...adviceFor(names), ...secretProtection({ namespace: "NAMESPACE", name: "NAME" })];
  return new Map([
    ["controllers.yaml", yamlOf(controllersFile(names))],
    ...definitionsFor(names).map(specFile("crds")),
    ...policies.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(specFile("policies")),
    ["alerts.yaml", yamlOf({ spec: { groups: ruleGroups() } })],
    ["dashboard.json", `${JSON.stringify(dashboard(), null, 2)}\n`],
  ]);
}

/** Of an object that the template begins: what it is called is up to Helm. As text, which Helm prints as it is. */
const specFile =
  (folder: string) =>
  ({ metadata, spec }: KubeObject): readonly [string, string] => [`${folder}/${metadata.name}.yaml`, yamlOf({ spec })];

/** Flags that the templates set: another value beside them would not go with the rights and names of the release. */
const FLAGS_OF_VALUES = [
  "controllers",
  "dashboard-bind",
  "dashboard-changes",
  "dashboard-host",
  "lease-duration",
  "lease-name",
  "lease-namespace",
  "leader-elect",
  "metrics-bind",
  "namespaces",
];

function controllersFile(order: readonly string[]): object {
  return {
    order,
    groups: Object.fromEntries(controllerGroups),
    controllers: Object.fromEntries(order.map((name) => [name, controllerEntry(name)])),
    shared: rulesEntry(sharedRules),
    dashboard: rulesEntry(dashboardRules),
    // What a release calls its Lease is up to the release.
    own: ownRules("NAME"),
    uninstall: uninstallRights,
    egress: Object.entries(egress).map(([name, one]) => ({
      name,
      ...("controllers" in one && { controllers: one.controllers }),
    })),
    pod: podEntry(),
    flags: { all: operatorCommand.options.map(({ name }) => name).sort(), ofValues: FLAGS_OF_VALUES },
  };
}

const controllerEntry = (name: string): object => ({
  kinds: definitionsFor([name]).map(({ metadata }) => metadata.name),
  advice: adviceFor([name])
    .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
    .map(({ metadata }) => metadata.name),
  rules: rulesEntry(controllerNeeds.get(name)?.rules ?? []),
  atHome: controllerNeeds.get(name)?.atHome ?? [],
});

const rulesEntry = (rules: readonly PolicyRule[]): object => ({ all: rules, ...splitByScope(rules) });

interface PodTemplate {
  readonly template: {
    readonly spec: {
      readonly securityContext: object;
      readonly containers: readonly [
        {
          readonly env: object;
          readonly livenessProbe: object;
          readonly readinessProbe: object;
          readonly securityContext: object;
        },
      ];
    };
  };
}

/** What of the pods is not to be chosen. */
function podEntry(): object {
  const { spec } = operatorDeployment({
    name: "keyturn",
    namespace: "",
    labels: {},
    image: "",
    controllers: [],
    scopedNamespaces: [],
    lease: "keyturn",
  });
  const { securityContext, containers } = (spec as PodTemplate).template.spec;
  const [{ env, livenessProbe, readinessProbe, securityContext: containerSecurityContext }] = containers;
  return { securityContext, containerSecurityContext, env, livenessProbe, readinessProbe };
}

const yamlOf = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
