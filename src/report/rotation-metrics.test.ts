import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { ManualClock } from "../base/manual-clock.ts";
import { type CredentialView, RotationMetrics } from "./rotation-metrics.ts";

const NOW = Date.UTC(2026, 0, 1);
const view = (changes: Partial<CredentialView> = {}): CredentialView => ({
  key: "orders",
  activeSince: NOW - 3_600_000,
  rotationAt: NOW + 60_000,
  retired: 1,
  isHealthy: true,
  ...changes,
});

function start(views: readonly CredentialView[] = [], perObject = false) {
  const registry = new Registry();
  const clock = new ManualClock(NOW);
  const metrics = new RotationMetrics({ registry, clock, perObject });
  const shown = [...views];
  metrics.addProbe({ kind: "ServiceBinding", credentials: () => shown });
  /** The series of these names, as they are written. */
  const series = async (...names: readonly string[]): Promise<Readonly<Record<string, string>>> => {
    const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const pairs = lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]);
    const wanted = pairs.filter(([key = ""]) => names.some((name) => key.split("{")[0] === name));
    return Object.fromEntries(
      wanted.map(([key = "", value = ""]) => [key.replace('kind="ServiceBinding"', "K"), value]),
    );
  };
  return { metrics, clock, shown, series };
}

test("how many keys are kept for somebody", async () => {
  const { series } = start([view(), view({ retired: 3, held: 2 }), view({ held: 1 })]);
  assert.deepEqual(await series("keyturn_held_keys"), { "keyturn_held_keys{K}": "3" });
});

test("gauges tell of all credentials as they are when somebody looks", async () => {
  const table: readonly (readonly [
    views: readonly CredentialView[],
    expected: readonly [
      total: string,
      unhealthy: string,
      retired: string,
      ageS: string,
      nextS: string,
      overdueS: string,
    ],
    reason: string,
  ])[] = [
    [[], ["0", "0", "0", "0", "+Inf", "0"], "nobody"],
    [[view()], ["1", "0", "1", "3600", "60", "0"], "one that is well"],
    [[view({ rotationAt: NOW - 5_000 })], ["1", "0", "1", "3600", "0", "5"], "one that is late"],
    [[view({ rotationAt: Infinity })], ["1", "0", "1", "3600", "+Inf", "0"], "one that never rotates"],
    [[view({ activeSince: undefined, rotationAt: Infinity })], ["1", "0", "1", "0", "+Inf", "0"], "one without a key"],
    [
      [view(), view({ activeSince: NOW - 7_200_000, retired: 2, isHealthy: false, rotationAt: NOW + 10_000 })],
      ["2", "1", "3", "7200", "10", "0"],
      "the oldest, the next and the sum of two",
    ],
  ];
  const names = [
    "keyturn_credentials",
    "keyturn_credentials_unhealthy",
    "keyturn_retired_keys",
    "keyturn_active_key_age_max_seconds",
    "keyturn_next_rotation_min_seconds",
    "keyturn_rotation_overdue_max_seconds",
  ];
  for (const [views, expected, reason] of table) {
    const { series } = start(views);
    const found = await series(...names);
    assert.deepEqual(
      names.map((name) => found[`${name}{K}`]),
      expected,
      reason,
    );
  }
});

test("a rotation that is held back is not overdue, and is counted where it is due", async () => {
  const late = { rotationAt: NOW - 90_000 };
  const { series } = start([
    view({ ...late, dueAt: NOW - 30_000 }),
    view({ ...late, dueAt: Infinity }),
    view({ ...late, dueAt: NOW + 60_000 }),
    view({ dueAt: Infinity }),
  ]);
  assert.deepEqual(await series("keyturn_rotation_overdue_max_seconds", "keyturn_rotations_held_back"), {
    "keyturn_rotation_overdue_max_seconds{K}": "30",
    "keyturn_rotations_held_back{K}": "2",
  });
});

test("what has not happened yet is a zero; what happened is counted by its cause", async () => {
  const { metrics, series } = start();
  const observer = metrics.observerOf("ServiceBinding");
  const counters = [
    "keyturn_rotations_total",
    "keyturn_keys_deleted_total",
    "keyturn_secrets_restored_total",
    "keyturn_rotation_failures_total",
    "keyturn_rotation_lateness_seconds_count",
    "keyturn_rotation_lateness_seconds_sum",
  ];
  const before = {
    'keyturn_rotations_total{K,cause="first"}': "0",
    'keyturn_rotations_total{K,cause="rotated"}': "0",
    'keyturn_rotations_total{K,cause="forced"}': "0",
    'keyturn_keys_deleted_total{K,cause="rotated"}': "0",
    "keyturn_secrets_restored_total{K}": "0",
  };
  assert.deepEqual(await series(...counters), before);
  observer.activated("first", undefined);
  observer.activated("rotated", 1500);
  observer.activated("compromised", undefined);
  observer.deleted("rotated");
  observer.deleted("departed");
  observer.secretRestored();
  observer.failed("QuotaExceeded");
  assert.deepEqual(await series(...counters), {
    ...before,
    'keyturn_rotations_total{K,cause="first"}': "1",
    'keyturn_rotations_total{K,cause="rotated"}': "1",
    'keyturn_rotations_total{K,cause="compromised"}': "1",
    'keyturn_keys_deleted_total{K,cause="rotated"}': "1",
    'keyturn_keys_deleted_total{K,cause="departed"}': "1",
    "keyturn_secrets_restored_total{K}": "1",
    'keyturn_rotation_failures_total{K,reason="QuotaExceeded"}': "1",
    "keyturn_rotation_lateness_seconds_count{K}": "1",
    "keyturn_rotation_lateness_seconds_sum{K}": "1.5",
  });
});

test("requests outside are counted by method and status, refusals for their rate apart", async () => {
  const { metrics, series } = start();
  const observer = metrics.httpObserverOf("service-manager");
  observer.requested("POST", 201, 250);
  observer.requested("GET", 429, 10);
  observer.requested("GET", undefined, 30_000);
  const provider = 'provider="service-manager"';
  const name = "keyturn_external_request_duration_seconds";
  assert.deepEqual(await series(`${name}_sum`, "keyturn_external_throttled_total"), {
    [`${name}_sum{${provider},method="POST",status="201"}`]: "0.25",
    [`${name}_sum{${provider},method="GET",status="429"}`]: "0.01",
    [`${name}_sum{${provider},method="GET",status="none"}`]: "30",
    [`keyturn_external_throttled_total{${provider}}`]: "1",
  });
});

test("series by name are there only where they were asked for, and go with their object", async () => {
  const names = [
    "keyturn_active_key_created_timestamp_seconds",
    "keyturn_next_rotation_timestamp_seconds",
    "keyturn_credential_retired_keys",
  ];
  assert.deepEqual(await start([view()]).series(...names), {});
  const named = start([view(), view({ key: "static", activeSince: undefined, rotationAt: Infinity })], true);
  assert.deepEqual(await named.series(...names), {
    [`${names[0]}{K,name="orders"}`]: String(NOW / 1000 - 3600),
    [`${names[1]}{K,name="orders"}`]: String(NOW / 1000 + 60),
    [`${names[2]}{K,name="orders"}`]: "1",
    [`${names[2]}{K,name="static"}`]: "1",
  });
  named.shown.length = 0;
  assert.deepEqual(await named.series(...names), {});
});

test("very many credentials are no problem", async () => {
  const many = Array.from({ length: 200_000 }, (_, index) =>
    view({ key: `k${index}`, rotationAt: NOW + index * 1000 }),
  );
  const { series } = start(many);
  assert.deepEqual(await series("keyturn_next_rotation_min_seconds"), { "keyturn_next_rotation_min_seconds{K}": "0" });
});
