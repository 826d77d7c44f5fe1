import { OWNER_LABELS } from "../../api/custom-resource.ts";
import type { KubeObject } from "../../kube/objects.ts";

/** What is to be seen at a glance, as data: rows of panels, a query or several in each. */
interface PanelSpec {
  readonly title: string;
  readonly kind: "stat" | "timeseries" | "table";
  readonly unit: "short" | "s" | "percentunit" | "dateTimeFromNow";
  readonly queries: readonly { readonly expr: string; readonly legend: string }[];
  /** From this value on it is shown in red. */
  readonly alarmFrom?: number;
}

interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
}

const one = (expr: string, legend: string): PanelSpec["queries"] => [{ expr, legend }];

const rows: readonly RowSpec[] = [
  {
    title: "Credentials",
    panels: [
      {
        title: "Looked after",
        kind: "stat",
        unit: "short",
        queries: one("max by (kind) (keyturn_credentials)", "{{kind}}"),
      },
      {
        title: "With a problem",
        kind: "stat",
        unit: "short",
        queries: one("max by (kind) (keyturn_credentials_unhealthy)", "{{kind}}"),
        alarmFrom: 1,
      },
      {
        title: "Overdue at most",
        kind: "stat",
        unit: "s",
        queries: one("max by (kind) (keyturn_rotation_overdue_max_seconds)", "{{kind}}"),
        alarmFrom: 3600,
      },
      {
        title: "Due and held back",
        kind: "stat",
        unit: "short",
        queries: one("max by (kind) (keyturn_rotations_held_back)", "{{kind}}"),
      },
      {
        title: "Age of the oldest key",
        kind: "timeseries",
        unit: "s",
        queries: one("max by (kind) (keyturn_active_key_age_max_seconds)", "{{kind}}"),
      },
      {
        title: "Until the next rotation",
        kind: "timeseries",
        unit: "s",
        queries: one("min by (kind) (keyturn_next_rotation_min_seconds)", "{{kind}}"),
      },
    ],
  },
  {
    title: "Rotations",
    panels: [
      {
        title: "Keys that became active, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (kind, cause) (increase(keyturn_rotations_total[1h]))", "{{kind}} {{cause}}"),
      },
      {
        title: "Keys deleted, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (kind, cause) (increase(keyturn_keys_deleted_total[1h]))", "{{kind}} {{cause}}"),
      },
      {
        title: "Failed attempts, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (kind, reason) (increase(keyturn_rotation_failures_total[1h]))", "{{kind}} {{reason}}"),
      },
      {
        title: "Begun late by, 99 of 100",
        kind: "timeseries",
        unit: "s",
        queries: one(
          "histogram_quantile(0.99, sum by (kind, le) (rate(keyturn_rotation_lateness_seconds_bucket[1h])))",
          "{{kind}}",
        ),
      },
      {
        title: "Retired keys that live",
        kind: "timeseries",
        unit: "short",
        queries: [
          { expr: "max by (kind) (keyturn_retired_keys)", legend: "{{kind}}" },
          { expr: "max by (kind) (keyturn_held_keys)", legend: "{{kind}}, kept for consumers" },
        ],
      },
      {
        title: "Secrets put right, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (kind) (increase(keyturn_secrets_restored_total[1h]))", "{{kind}}"),
      },
    ],
  },
  {
    title: "RNDC keys",
    panels: [
      {
        title: "Age",
        kind: "timeseries",
        unit: "s",
        queries: one("max by (namespace, secret) (bindy_rndc_key_age_seconds)", "{{namespace}}/{{secret}}"),
      },
      {
        title: "Next rotation",
        kind: "table",
        unit: "dateTimeFromNow",
        queries: one(
          "min by (namespace, secret) (keyturn_rndc_key_rotation_due_timestamp_seconds) * 1000",
          "{{namespace}}/{{secret}}",
        ),
      },
      {
        title: "Rotations and errors, per day",
        kind: "timeseries",
        unit: "short",
        queries: [
          {
            expr: "sum by (namespace, secret) (increase(bindy_rndc_key_rotation_total[1d]))",
            legend: "{{namespace}}/{{secret}}",
          },
          {
            expr: "sum by (namespace, secret, error) (increase(bindy_rndc_key_rotation_errors_total[1d]))",
            legend: "{{namespace}}/{{secret}} {{error}}",
          },
        ],
      },
      {
        title: "Not Ready or not Synced",
        kind: "stat",
        unit: "short",
        queries: one("count(min by (namespace, secret) (keyturn_rndc_key_healthy) == 0) or vector(0)", "keys"),
        alarmFrom: 1,
      },
    ],
  },
  {
    title: "Restarts",
    panels: [
      {
        title: "Restarts, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (kind) (increase(keyturn_restarts_total[1h]))", "{{kind}}"),
      },
      {
        title: "Waiting, and under way",
        kind: "timeseries",
        unit: "short",
        queries: [
          { expr: "max by (reason) (keyturn_restart_waiting)", legend: "{{reason}}" },
          { expr: "max(keyturn_restart_rollouts_under_way)", legend: "under way" },
        ],
      },
      {
        title: "Stopped",
        kind: "stat",
        unit: "short",
        queries: one("max(keyturn_restart_stopped)", "workloads"),
        alarmFrom: 1,
      },
    ],
  },
  {
    title: "Operator",
    panels: [
      { title: "At work", kind: "stat", unit: "short", queries: one("sum(keyturn_leader)", "operators") },
      {
        title: "Reconciles, per second",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (controller, result) (rate(keyturn_reconciles_total[5m]))", "{{controller}} {{result}}"),
      },
      {
        title: "Waiting for a worker",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (controller, state) (keyturn_queue_depth)", "{{controller}} {{state}}"),
      },
      {
        title: "Requests to external systems, 99 of 100",
        kind: "timeseries",
        unit: "s",
        queries: one(
          "histogram_quantile(0.99, sum by (provider, le) (rate(keyturn_external_request_duration_seconds_bucket[5m])))",
          "{{provider}}",
        ),
      },
      {
        title: "Told to slow down, per hour",
        kind: "timeseries",
        unit: "short",
        queries: one("sum by (provider) (increase(keyturn_external_throttled_total[1h]))", "{{provider}}"),
      },
      {
        title: "Audit log",
        kind: "timeseries",
        unit: "short",
        queries: [
          { expr: "max(keyturn_audit_waiting_lines)", legend: "waiting" },
          { expr: "max(keyturn_audit_unanchored_lines)", legend: "not anchored" },
          { expr: "sum by (what) (increase(keyturn_audit_failures_total[1h]))", legend: "failed: {{what}}, per hour" },
        ],
      },
    ],
  },
];

/** Of 24 that a row is wide. */
const PANEL_WIDTH = 8;
const PANEL_HEIGHT = 7;
const ROW_WIDTH = 24;

/** Chosen on the dashboard itself, as a variable of Grafana's. */
const DATASOURCE = "datasource";
const datasource = { type: "prometheus", uid: `$${DATASOURCE}` };

/** The dashboard as Grafana takes it. */
export function dashboard() {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: specs } of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: ROW_WIDTH, h: 1 },
    });
    y++;
    const perRow = ROW_WIDTH / PANEL_WIDTH;
    for (const [index, spec] of specs.entries()) {
      const place = { x: (index % perRow) * PANEL_WIDTH, y: y + Math.floor(index / perRow) * PANEL_HEIGHT };
      panels.push(panelOf(panels.length + 1, spec, place));
    }
    y += Math.ceil(specs.length / perRow) * PANEL_HEIGHT;
  }
  return {
    uid: "keyturn",
    title: "Keyturn",
    tags: ["keyturn"],
    schemaVersion: 39,
    editable: true,
    refresh: "1m",
    time: { from: "now-24h", to: "now" },
    templating: { list: [{ name: DATASOURCE, type: "datasource", query: "prometheus", label: "Data source" }] },
    panels,
  };
}

function panelOf(id: number, spec: PanelSpec, place: { readonly x: number; readonly y: number }): object {
  const { title, kind, unit, queries, alarmFrom } = spec;
  const steps = [
    { color: "green", value: null },
    ...(alarmFrom === undefined ? [] : [{ color: "red", value: alarmFrom }]),
  ];
  return {
    id,
    type: kind,
    title,
    datasource,
    gridPos: { ...place, w: PANEL_WIDTH, h: PANEL_HEIGHT },
    fieldConfig: { defaults: { unit, thresholds: { mode: "absolute", steps } }, overrides: [] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(kind === "table" && { format: "table", instant: true }),
    })),
  };
}

/** As a ConfigMap that the sidecar of Grafana picks up by its label. */
export const dashboardConfigMap = (namespace: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "keyturn-dashboard", namespace, labels: { ...OWNER_LABELS, grafana_dashboard: "1" } },
  data: { "keyturn.json": `${JSON.stringify(dashboard(), null, 2)}\n` },
});
