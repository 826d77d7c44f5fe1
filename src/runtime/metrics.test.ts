import assert from "node:assert/strict";
import { test } from "node:test";
import { register } from "prom-client";
import { Metrics } from "./metrics.ts";

test("observers feed the metrics, by controller and kind", async () => {
  const metrics = new Metrics({ processMetrics: false });
  const queue = metrics.queueObservers()("btp");
  metrics.queueObservers()("korifi").retried(5);
  queue.depthChanged({ person: 1, drift: 2, delayed: 3, running: 4 });
  queue.taken("person", 20);
  queue.finished(1_500);
  queue.retried(100);
  const workers = metrics.workerObservers()("btp");
  workers.reconciled("settled", undefined, 10);
  workers.reconciled("failed", "Conflict", 10);
  workers.busyChanged(3);
  workers.stuckChanged(1);
  const leader = metrics.leaderObserver();
  leader.leadingChanged(true);
  leader.holderChanged("me");
  leader.renewed(12);
  leader.renewFailed("Unavailable");
  let state = { ready: false, objects: 9 };
  const watch = metrics.watchObservers()({
    labels: () => ({ controllers: "btp,cloudfoundry", kind: "Secret", selector: "a=b" }),
    state: () => state,
  });
  watch.event("added");
  watch.restarted("expired");
  await metrics.render();
  state = { ready: true, objects: 7 };
  const text = await metrics.render();
  const expected = [
    'keyturn_queue_depth{controller="btp",state="person"} 1',
    'keyturn_queue_depth{controller="btp",state="delayed"} 3',
    'keyturn_queue_wait_seconds_bucket{le="0.01",controller="btp",priority="person"} 0',
    'keyturn_queue_wait_seconds_bucket{le="0.1",controller="btp",priority="person"} 1',
    'keyturn_queue_work_seconds_sum{controller="btp"} 1.5',
    'keyturn_queue_retries_total{controller="korifi"} 1',
    'keyturn_reconciles_total{controller="btp",result="failed",code="Conflict"} 1',
    'keyturn_reconciles_stuck{controller="btp"} 1',
    'keyturn_workers_busy{controller="btp"} 3',
    "keyturn_leader 1",
    "keyturn_leader_changes_total 1",
    'keyturn_leader_renew_failures_total{code="Unavailable"} 1',
    'keyturn_watch_events_total{controllers="btp,cloudfoundry",kind="Secret",selector="a=b",type="added"} 1',
    'keyturn_watch_restarts_total{controllers="btp,cloudfoundry",kind="Secret",selector="a=b",reason="expired"} 1',
    'keyturn_watch_cached_objects{controllers="btp,cloudfoundry",kind="Secret",selector="a=b"} 7',
    'keyturn_watch_ready{controllers="btp,cloudfoundry",kind="Secret",selector="a=b"} 1',
  ];
  const lines = text.split("\n");
  for (const line of expected) assert.ok(lines.includes(line), `${line}\nin\n${text}`);
  const names = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2]);
  assert.deepEqual(
    names.filter((name) => !name?.startsWith("keyturn_")),
    [],
  );
});

test("two in one process stay apart, and the global registry stays empty", async () => {
  const [one, other] = [new Metrics({ processMetrics: false }), new Metrics({ processMetrics: false })];
  one.leaderObserver().leadingChanged(true);
  assert.match(await one.render(), /^keyturn_leader 1$/m);
  assert.match(await other.render(), /^keyturn_leader 0$/m);
  assert.deepEqual(register.getMetricsAsArray(), []);
});

test("metrics of the process are on by default", async () => {
  const text = await new Metrics().render();
  assert.match(text, /^process_resident_memory_bytes \d+/m);
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
});
