import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { ManualClock } from "../../base/manual-clock.ts";
import { RndcKeyMetrics } from "../../report/rndc-key-metrics.ts";
import { rndcKeyObserver, rndcKeyViews } from "./rndc-key-observer.ts";

const secretOf = (key: string): string | undefined => (key === "dns/ns1" ? "ns1-rndc" : undefined);

test("rotations and failures are counted by their Secret, and with those of all kinds", async () => {
  const registry = new Registry();
  const general: string[] = [];
  const observer = rndcKeyObserver({
    metrics: new RndcKeyMetrics({ registry, clock: new ManualClock(0) }),
    general: {
      activated: (cause) => void general.push(cause),
      deleted: (cause) => void general.push(`deleted ${cause}`),
      secretRestored: () => void general.push("restored"),
      failed: (code) => void general.push(code),
    },
    secretOf,
  });
  const resource = { namespace: "dns", name: "ns1" };
  for (const cause of ["first", "adopted", "rotated", "compromised"] as const) {
    observer.activated(cause, undefined, resource);
  }
  observer.deleted("rotated");
  observer.secretRestored();
  observer.failed("RndcTimeout", { namespace: "dns", name: "new" });
  assert.deepEqual(general, [
    "first",
    "adopted",
    "rotated",
    "compromised",
    "deleted rotated",
    "restored",
    "RndcTimeout",
  ]);
  const text = await registry.metrics();
  assert.match(
    text,
    /^bindy_rndc_key_rotation_total\{namespace="dns",secret="ns1-rndc"\} 2$/m,
    "a first key replaces none",
  );
  assert.match(text, /^bindy_rndc_key_rotation_errors_total\{namespace="dns",secret="new",error="RndcTimeout"\} 1$/m);
});

test("what the watch knows is seen under the Secret of each key", () => {
  const record = { activeSince: 1, dueAt: 2, isHealthy: true };
  assert.deepEqual(
    [
      ...rndcKeyViews(
        ["dns/ns1", "dns/ns2"].map((key) => ({ key, ...record })),
        secretOf,
      ),
    ],
    [
      { namespace: "dns", secret: "ns1-rndc", ...record },
      { namespace: "dns", secret: "ns2", ...record },
    ],
  );
});
