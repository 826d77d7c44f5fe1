import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { ManualClock } from "../base/manual-clock.ts";
import { OTHERS, RndcKeyMetrics, type RndcKeyView } from "./rndc-key-metrics.ts";

const NOW = Date.UTC(2026, 0, 1);
const view = (changes: Partial<RndcKeyView> = {}): RndcKeyView => ({
  namespace: "dns",
  secret: "ns1-rndc",
  activeSince: NOW - 3_600_000,
  dueAt: NOW + 60_000,
  isHealthy: true,
  ...changes,
});

function start(views: readonly RndcKeyView[] = [], maxSeries?: number) {
  const registry = new Registry();
  const clock = new ManualClock(NOW);
  const metrics = new RndcKeyMetrics({ registry, clock, ...(maxSeries !== undefined && { maxSeries }) });
  const shown = [...views];
  metrics.addProbe(() => shown);
  const series = async (name: string): Promise<readonly string[]> =>
    (await registry.metrics())
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length))
      .sort();
  return { metrics, clock, shown, series };
}

test("the names and labels are those of the document", async () => {
  const { metrics, series } = start([view()]);
  metrics.rotated("dns", "ns1-rndc");
  metrics.failed("dns", "ns1-rndc", "RndcRefused");
  const labels = 'namespace="dns",secret="ns1-rndc"';
  assert.deepEqual(await series("bindy_rndc_key_rotation_total"), [`{${labels}} 1`]);
  assert.deepEqual(await series("bindy_rndc_key_rotation_errors_total"), [`{${labels},error="RndcRefused"} 1`]);
  assert.deepEqual(await series("bindy_rndc_key_age_seconds"), [`{${labels}} 3600`]);
});

test("ages and states are those of the moment in which somebody looks", async () => {
  const { clock, shown, series } = start([view(), view({ secret: "static", dueAt: Infinity, isHealthy: false })]);
  await clock.advance(1000);
  assert.deepEqual(await series("bindy_rndc_key_age_seconds"), [
    '{namespace="dns",secret="ns1-rndc"} 3601',
    '{namespace="dns",secret="static"} 3601',
  ]);
  assert.deepEqual(await series("keyturn_rndc_key_rotation_due_timestamp_seconds"), [
    `{namespace="dns",secret="ns1-rndc"} ${(NOW + 60_000) / 1000}`,
  ]);
  assert.deepEqual(await series("keyturn_rndc_key_healthy"), [
    '{namespace="dns",secret="ns1-rndc"} 1',
    '{namespace="dns",secret="static"} 0',
  ]);
  shown.length = 0;
  shown.push(view({ activeSince: undefined }));
  assert.deepEqual(await series("bindy_rndc_key_age_seconds"), [], "no active key has no age");
});

test("keys beyond the limit share a series, which shows the worst of them; one that goes makes room", async () => {
  const views = [1, 2, 3, 4].map((index) =>
    view({ secret: `s${index}`, activeSince: NOW - index * 1000, dueAt: NOW + index * 1000, isHealthy: index !== 4 }),
  );
  const { metrics, shown, series } = start(views, 2);
  for (const { namespace, secret } of views) metrics.failed(namespace, secret, "RndcTimeout");
  const others = `{namespace="${OTHERS}",secret="${OTHERS}"`;
  const errors = await series("bindy_rndc_key_rotation_errors_total");
  assert.deepEqual([errors.length, errors[0]], [3, `${others},error="RndcTimeout"} 2`]);
  assert.equal((await series("bindy_rndc_key_age_seconds"))[0], `${others}} 4`);
  assert.equal((await series("keyturn_rndc_key_rotation_due_timestamp_seconds"))[0], `${others}} ${NOW / 1000 + 3}`);
  assert.equal((await series("keyturn_rndc_key_healthy"))[0], `${others}} 0`);
  shown.splice(0, 4, ...views.slice(1, 3));
  assert.equal((await series("bindy_rndc_key_rotation_errors_total")).length, 2, "nobody asks for what is gone");
  metrics.rotated("dns", "s3");
  assert.deepEqual(
    (await series("bindy_rndc_key_rotation_total")).slice(1),
    ['{namespace="dns",secret="s2"} 0', '{namespace="dns",secret="s3"} 1'],
    "the series of the first is gone, and the third has one of its own",
  );
});
