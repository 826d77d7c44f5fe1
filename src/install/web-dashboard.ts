import type { KubeObject } from "../kube/objects.ts";
import type { PolicyRule } from "./permissions.ts";

/** What it takes that an operator serves the dashboard: off unless somebody asks for it, and then only to be looked at. */
export interface WebDashboard {
  /** It may also change what its viewer may patch. */
  readonly mayChange: boolean;
}

export const DASHBOARD_PORT = 8443;

export const dashboardArguments = ({ mayChange }: WebDashboard): readonly string[] => [
  `--dashboard-bind=:${DASHBOARD_PORT}`,
  ...(mayChange ? ["--dashboard-changes"] : []),
];

/** To ask whose a token is, and what they may list. All else is done with the viewer's own rights. */
export const dashboardRules: readonly PolicyRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

/** Apart from that of the metrics: who scrapes those has no business here. */
export const dashboardService = (
  metadata: KubeObject["metadata"],
  selector: Readonly<Record<string, string>>,
): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...metadata, name: `${metadata.name}-dashboard` },
  spec: { selector, ports: [{ name: "dashboard", port: DASHBOARD_PORT, targetPort: "dashboard" }] },
});
