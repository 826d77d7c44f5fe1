/**
 * When somebody is to be called, as data. What is tried again in vain is tried every five minutes at the latest
 * (`defaultBackOff`), so a rate per second says nothing: attempts count as going on while there was one within the window,
 * and the alert waits longer than one window, so that a single bad moment calls nobody. Must not: name a metric that there
 * is not; a test checks that.
 */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long it must hold first. */
  readonly for: string;
  readonly severity: "info" | "warning" | "critical";
  readonly summary: string;
  readonly description: string;
}

/** Twice the longest pause between two attempts, and a scrape: while something fails, there is an attempt within. */
const WINDOW = "11m";
/** Longer than the window. */
const FAILING_FOR = "15m";
/** The document's grace for an RNDC key. */
const RNDC_GRACE_SECONDS = 86_400;
const GRACE_SECONDS = 3600;

const RNDC_LABELS = "namespace, secret";

/** The document's own, by their names. */
const rndcAlerts: readonly Alert[] = [
  {
    name: "RndcKeyRotationFailing",
    expr: [
      `(sum by (${RNDC_LABELS}) (increase(bindy_rndc_key_rotation_errors_total[${WINDOW}])) > 0`,
      `  unless sum by (${RNDC_LABELS}) (increase(bindy_rndc_key_rotation_total[${WINDOW}])) > 0)`,
      `or min by (${RNDC_LABELS}) (keyturn_rndc_key_healthy) == 0`,
    ].join("\n"),
    for: FAILING_FOR,
    severity: "warning",
    summary: "RNDC key rotation failing for {{ $labels.namespace }}/{{ $labels.secret }}",
    description:
      "Every attempt has failed for 15 minutes, or the key needs somebody. The old key is in use as before; kubectl describe rndckey says what is wrong.",
  },
  {
    name: "RndcKeyTooOld",
    expr: `time() - min by (${RNDC_LABELS}) (keyturn_rndc_key_rotation_due_timestamp_seconds) > ${RNDC_GRACE_SECONDS}`,
    for: "5m",
    severity: "warning",
    summary: "RNDC key {{ $labels.namespace }}/{{ $labels.secret }} has not been rotated",
    description:
      "Its rotation was due more than a day ago, and no window and nobody holds it back. It is {{ $value | humanizeDuration }} late.",
  },
];

const rotationAlerts: readonly Alert[] = [
  {
    name: "KeyturnRotationFailing",
    expr: `sum by (kind) (increase(keyturn_rotation_failures_total[${WINDOW}])) > 0`,
    for: "30m",
    severity: "warning",
    summary: "Work on credentials of kind {{ $labels.kind }} keeps failing",
    description: "For half an hour there were failed attempts. keyturn status -A has those first that have a problem.",
  },
  {
    name: "KeyturnRotationOverdue",
    expr: `max by (kind) (keyturn_rotation_overdue_max_seconds) > ${GRACE_SECONDS}`,
    for: "5m",
    severity: "warning",
    summary: "A rotation of kind {{ $labels.kind }} is overdue",
    description:
      "One that no window and nobody holds back is {{ $value | humanizeDuration }} late. keyturn status -A says which.",
  },
  {
    name: "KeyturnCredentialUnhealthy",
    expr: "max by (kind) (keyturn_credentials_unhealthy) > 0",
    for: "30m",
    severity: "warning",
    summary: "{{ $value }} credentials of kind {{ $labels.kind }} are not Ready or not Synced",
    description:
      "This covers mistakes in a spec, too, which are not tried again. keyturn status -A says what is wrong with each.",
  },
  {
    name: "KeyturnRotationHeldBack",
    expr: "max by (kind) (keyturn_rotations_held_back) > 0",
    for: "14d",
    severity: "info",
    summary: "Rotations of kind {{ $labels.kind }} have been held back for two weeks",
    description: "By a freeze, a pause, managementPolicies or windows. keyturn compliance report lists them.",
  },
  {
    name: "KeyturnKeyHeld",
    expr: "max by (kind) (keyturn_held_keys) > 0",
    for: "24h",
    severity: "info",
    summary: "Retired keys of kind {{ $labels.kind }} are kept for consumers that have not moved on",
    description: "They live on until those do, or maxHold is over. keyturn status -A names the consumers.",
  },
];

const operatorAlerts: readonly Alert[] = [
  {
    name: "KeyturnNobodyLeads",
    expr: "absent(keyturn_leader) or max(keyturn_leader) < 1",
    for: "10m",
    severity: "critical",
    summary: "No Keyturn operator is at work",
    description: "Nothing is rotated, deleted or restarted. See the pods and the Lease of the operator.",
  },
  {
    name: "KeyturnWatchNotReady",
    expr: "max by (controllers, kind) (keyturn_watch_ready) < 1",
    for: "15m",
    severity: "warning",
    summary: "The operator does not see {{ $labels.kind }}",
    description: "The watch is not complete, or has no contact: a right is missing, or the API server does not answer.",
  },
  {
    name: "KeyturnReconcileStuck",
    expr: "max by (controller) (keyturn_reconciles_stuck) > 0",
    for: FAILING_FOR,
    severity: "warning",
    summary: "The controller {{ $labels.controller }} has work that does not end",
    description: "An external system holds a connection open without an answer; the log names the resource.",
  },
  {
    name: "KeyturnRestartsStopped",
    expr: "max(keyturn_restart_stopped) > 0",
    for: FAILING_FOR,
    severity: "warning",
    summary: "Restarts of {{ $value }} workloads are stopped",
    description: "They change what they use again and again, or somebody has stopped them: the annotation says which.",
  },
  {
    name: "KeyturnAuditLogFailing",
    // What is lost is lost, however short it took.
    expr: "max(keyturn_audit_waiting_lines) > 0 or sum(increase(keyturn_audit_lost_total[1h])) > 0",
    for: FAILING_FOR,
    severity: "critical",
    summary: "The audit log cannot be written",
    description: "{{ $value }} lines wait in memory, or were lost. Rotations go on; the operator's log says why.",
  },
];

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

export const alertGroups: readonly AlertGroup[] = [
  { name: "keyturn-rndc-keys", alerts: rndcAlerts },
  { name: "keyturn-rotation", alerts: rotationAlerts },
  { name: "keyturn-operator", alerts: operatorAlerts },
];
