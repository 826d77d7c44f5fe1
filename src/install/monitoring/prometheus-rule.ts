import { OWNER_LABELS } from "../../api/custom-resource.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type Alert, alertGroups } from "./alerts.ts";

/** The groups as Prometheus reads them from a file of rules. */
export const ruleGroups = () => alertGroups.map(({ name, alerts }) => ({ name, rules: alerts.map(ruleOf) }));

const ruleOf = ({ name, expr, for: holdsFor, severity, summary, description }: Alert) => ({
  alert: name,
  expr,
  for: holdsFor,
  labels: { severity },
  annotations: { summary, description },
});

/** All alerts, for the Prometheus operator. */
export const prometheusRule = (namespace: string): KubeObject => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: { name: "keyturn", namespace, labels: { ...OWNER_LABELS, "app.kubernetes.io/name": "keyturn" } },
  spec: { groups: ruleGroups() },
});
