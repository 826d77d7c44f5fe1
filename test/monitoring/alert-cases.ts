/** What an operator's metrics may come to, in promtool's words (`start+step x count`), and what is to be made of it. */
export interface AlertCase {
  readonly alert: string;
  readonly reason: string;
  readonly interval?: string;
  readonly series: Readonly<Record<string, string>>;
  readonly checks: readonly {
    readonly at: string;
    /** The labels of those that fire, beside the severity. */
    readonly fires: readonly Readonly<Record<string, string>>[];
  }[];
}

const rndc = { namespace: "dns", secret: "ns1-rndc" };
const NS1 = 'namespace="dns",secret="ns1-rndc"';
const ERRORS = `bindy_rndc_key_rotation_errors_total{${NS1},error="RndcTimeout"}`;
const ROTATIONS = `bindy_rndc_key_rotation_total{${NS1}}`;
const KIND = { kind: "ServiceBinding" };

/** One attempt every five minutes, the slowest that there is: a count that goes up by one every fifth minute. */
const everyFiveMinutes = (minutes: number): string =>
  Array.from({ length: minutes }, (_, minute) => 12 + Math.floor(minute / 5)).join(" ");

/** What a bad moment costs: a dozen attempts within two minutes, and then nothing. */
const oneBadMoment = "0 8 12 12x60";

const held = (
  name: string,
  labels: Readonly<Record<string, string>>,
  value: string,
): Readonly<Record<string, string>> => ({
  [`${name}{${Object.entries(labels)
    .map(([key, text]) => `${key}="${text}"`)
    .join(",")}}`]: value,
});

/** A gauge that is to be zero. */
const gauge = (
  alert: string,
  metric: string,
  labels: Readonly<Record<string, string>>,
  times: { readonly interval: string; readonly before: string; readonly after: string },
): AlertCase => ({
  alert,
  reason: "a number that should be zero, for long enough",
  interval: times.interval,
  series: held(metric, labels, "0 1x60"),
  checks: [
    { at: times.before, fires: [] },
    { at: times.after, fires: [labels] },
  ],
});

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: "RndcKeyRotationFailing",
    reason: "nothing but failures, at the slowest pace that there is",
    series: { [ERRORS]: everyFiveMinutes(60), [ROTATIONS]: "3x60" },
    checks: [
      { at: "10m", fires: [] },
      { at: "30m", fires: [rndc] },
      { at: "59m", fires: [rndc] },
    ],
  },
  {
    alert: "RndcKeyRotationFailing",
    reason: "one bad moment, which is over",
    series: { [ERRORS]: oneBadMoment, [ROTATIONS]: "3x60" },
    checks: [
      { at: "12m", fires: [] },
      { at: "20m", fires: [] },
      { at: "59m", fires: [] },
    ],
  },
  {
    alert: "RndcKeyRotationFailing",
    reason: "failures, and a rotation now and then",
    series: { [ERRORS]: everyFiveMinutes(60), [ROTATIONS]: everyFiveMinutes(60) },
    checks: [{ at: "45m", fires: [] }],
  },
  {
    alert: "RndcKeyRotationFailing",
    reason: "a mistake that is not tried again",
    series: { [`keyturn_rndc_key_healthy{${NS1}}`]: "1 0x60" },
    checks: [
      { at: "10m", fires: [] },
      { at: "20m", fires: [rndc] },
    ],
  },
  {
    alert: "RndcKeyTooOld",
    reason: "due at two hours, and a day of grace",
    interval: "10m",
    series: { [`keyturn_rndc_key_rotation_due_timestamp_seconds{${NS1}}`]: "7200x200" },
    checks: [
      { at: "25h", fires: [] },
      { at: "26h20m", fires: [rndc] },
    ],
  },
  {
    alert: "RndcKeyTooOld",
    reason: "rotated every twelve hours, and seen by two replicas of which one lags behind",
    interval: "1h",
    series: {
      [`keyturn_rndc_key_rotation_due_timestamp_seconds{${NS1},pod="a"}`]: "43200+3600x60",
      [`keyturn_rndc_key_rotation_due_timestamp_seconds{${NS1},pod="b"}`]: "39600+3600x60",
    },
    checks: [{ at: "48h", fires: [] }],
  },
  {
    alert: "KeyturnRotationFailing",
    reason: "nothing but failures, at the slowest pace that there is",
    series: { 'keyturn_rotation_failures_total{kind="ServiceBinding",reason="QuotaExceeded"}': everyFiveMinutes(90) },
    checks: [
      { at: "20m", fires: [] },
      { at: "50m", fires: [KIND] },
    ],
  },
  {
    alert: "KeyturnRotationFailing",
    reason: "one bad moment, which is over",
    series: { 'keyturn_rotation_failures_total{kind="ServiceBinding",reason="QuotaExceeded"}': oneBadMoment },
    checks: [
      { at: "15m", fires: [] },
      { at: "45m", fires: [] },
    ],
  },
  {
    alert: "KeyturnRotationOverdue",
    reason: "an hour late, and five minutes more",
    series: { 'keyturn_rotation_overdue_max_seconds{kind="ServiceBinding"}': "0+60x120" },
    checks: [
      { at: "60m", fires: [] },
      { at: "68m", fires: [KIND] },
    ],
  },
  gauge("KeyturnCredentialUnhealthy", "keyturn_credentials_unhealthy", KIND, {
    interval: "1m",
    before: "29m",
    after: "35m",
  }),
  gauge("KeyturnRotationHeldBack", "keyturn_rotations_held_back", KIND, {
    interval: "12h",
    before: "312h",
    after: "360h",
  }),
  gauge("KeyturnKeyHeld", "keyturn_held_keys", KIND, { interval: "1h", before: "20h", after: "26h" }),
  gauge(
    "KeyturnReconcileStuck",
    "keyturn_reconciles_stuck",
    { controller: "btp" },
    {
      interval: "1m",
      before: "14m",
      after: "20m",
    },
  ),
  {
    alert: "KeyturnNobodyLeads",
    reason: "there is nobody to ask",
    series: {},
    checks: [
      { at: "5m", fires: [] },
      { at: "12m", fires: [{}] },
    ],
  },
  {
    alert: "KeyturnNobodyLeads",
    reason: "two replicas, and neither of them leads after ten minutes",
    series: { 'keyturn_leader{pod="a"}': "1x10 0x30", 'keyturn_leader{pod="b"}': "0x40" },
    checks: [
      { at: "10m", fires: [] },
      { at: "25m", fires: [{}] },
    ],
  },
  {
    alert: "KeyturnNobodyLeads",
    reason: "leadership that goes from one to the other",
    series: { 'keyturn_leader{pod="a"}': "1x10 0x30", 'keyturn_leader{pod="b"}': "0x12 1x30" },
    checks: [{ at: "35m", fires: [] }],
  },
  {
    alert: "KeyturnWatchNotReady",
    reason: "a watch that was refused",
    series: { 'keyturn_watch_ready{controllers="btp",kind="Secret",selector=""}': "1 0x60" },
    checks: [
      { at: "10m", fires: [] },
      { at: "20m", fires: [{ controllers: "btp", kind: "Secret" }] },
    ],
  },
  {
    alert: "KeyturnRestartsStopped",
    reason: "a fight over a Secret",
    series: { keyturn_restart_stopped: "0 2x60" },
    checks: [
      { at: "10m", fires: [] },
      { at: "20m", fires: [{}] },
    ],
  },
  {
    alert: "KeyturnAuditLogFailing",
    reason: "more than there was room for, in a short time",
    series: { keyturn_audit_waiting_lines: "0x90", keyturn_audit_lost_total: "0x10 4x80" },
    checks: [
      { at: "20m", fires: [] },
      { at: "30m", fires: [{}] },
      { at: "85m", fires: [] },
    ],
  },
  {
    alert: "KeyturnAuditLogFailing",
    reason: "a disk that is full",
    series: { keyturn_audit_waiting_lines: "0 0 7+1x60", keyturn_audit_lost_total: "0x60" },
    checks: [
      { at: "1m", fires: [] },
      { at: "20m", fires: [{}] },
    ],
  },
];
