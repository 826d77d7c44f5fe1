import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AuditMetrics } from "../../audit/audit-metrics.ts";
import { ManualClock } from "../../base/manual-clock.ts";
import { RestartMetrics } from "../../report/restart-metrics.ts";
import { RndcKeyMetrics } from "../../report/rndc-key-metrics.ts";
import { RotationMetrics } from "../../report/rotation-metrics.ts";
import { defaultBackOff } from "../../runtime/back-off.ts";
import { Metrics } from "../../runtime/metrics.ts";
import { alertGroups } from "./alerts.ts";
import { dashboard } from "./dashboard.ts";

const alerts = alertGroups.flatMap((group) => group.alerts);
const docs = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "monitoring.md"), "utf8");

/** Every metric that an operator can have. */
function metricNames(): ReadonlySet<string> {
  const { registry } = new Metrics({ processMetrics: false });
  const clock = new ManualClock(0);
  new RotationMetrics({ registry, clock, perObject: true });
  new RestartMetrics(registry).addProbe({ stopped: () => 0, waiting: () => 0, rolloutsUnderWay: () => 0 }, []);
  new RndcKeyMetrics({ registry, clock }).addProbe(() => []);
  new AuditMetrics(registry).addProbe({ state: { waiting: 0, unanchored: 0 } });
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  return new Set(names.flatMap((name) => [name, `${name}_bucket`]));
}

const metricsIn = (expression: string): readonly string[] => expression.match(/\b(?:keyturn|bindy)_\w+/g) ?? [];

const queries = (dashboard().panels as readonly { readonly targets?: readonly { readonly expr: string }[] }[]).flatMap(
  ({ targets = [] }) => targets.map(({ expr }) => expr),
);

test("alerts and dashboard name only metrics that there are", () => {
  const known = metricNames();
  const named = [...alerts.map(({ expr }) => expr), ...queries].map((text) => ({ text, metrics: metricsIn(text) }));
  assert.ok(named.length > 30 && known.size > 40);
  for (const { text, metrics } of named) {
    assert.ok(metrics.length > 0, text);
    for (const name of metrics) assert.ok(known.has(name), `${name} in ${text}`);
  }
});

test("the document's alerts are there by their names", () => {
  const names = alerts.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const name of ["RndcKeyRotationFailing", "RndcKeyTooOld"]) assert.ok(names.includes(name), name);
});

test("windows are wide enough for the pauses between attempts, and alerts wait longer than a window", () => {
  const longestMs = defaultBackOff.capMs;
  for (const { name, expr, for: holdsFor } of alerts) {
    for (const [, minutes = ""] of expr.matchAll(/increase\(\w+\[(\d+)m\]\)/g)) {
      assert.ok(Number(minutes) * 60_000 > 2 * longestMs, `${name}: two attempts are within ${minutes}m`);
      assert.ok(Number.parseInt(holdsFor, 10) > Number(minutes), `${name}: one bad moment is over after ${holdsFor}`);
    }
  }
});

test("panels do not lie over each other, and have ids of their own", () => {
  type Place = { readonly id: number; readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>> };
  const panels = dashboard().panels as readonly Place[];
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
});

test("docs/monitoring.md has a section for each alert, and every metric", () => {
  for (const { name } of alerts) assert.match(docs, new RegExp(`^### ${name}$`, "m"), name);
  const named = [...metricNames()].filter((name) => !name.endsWith("_bucket"));
  assert.deepEqual(
    named.filter((name) => !docs.includes(`\`${name}`)),
    [],
  );
});
