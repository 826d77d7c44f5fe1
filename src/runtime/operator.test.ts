import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FaultPlan } from "../kube/faulty-transport.ts";
import { gadgets, leases, namespaces, type Running, startCluster, startOperator, widgets } from "./operator.fixture.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const statusBody = (code: number, reason: string): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code, message: reason });

const refuse =
  (path: RegExp, code: number, reason: string): FaultPlan =>
  (request) =>
    path.test(request.path)
      ? {
          kind: "answer",
          status: code,
          headers: { "content-type": "application/json" },
          body: statusBody(code, reason),
        }
      : undefined;

const isReady = ({ operator }: Running): boolean => operator.readiness.report().ready;
const reasons = ({ operator }: Running): string =>
  operator.readiness
    .report()
    .checks.map(({ name, reason }) => `${name}: ${reason}`)
    .join("\n");
const lines = ({ log }: Running, message: RegExp, level = "warn"): readonly unknown[] =>
  log.filter((line) => line.level === level && message.test(line.message));

describe("kinds that come and go", () => {
  test("a CRD that is not installed is no error, and is picked up within a second of appearing", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster);
    await running.operator.synced();
    assert.equal(isReady(running), true, reasons(running));
    await cluster.clock.advance(HOUR);
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(1_000);
    assert.deepEqual(running.reconciled, ["one"]);
    await running.stop();
  });

  test("one that goes takes its objects with it, and one that comes back brings the new ones", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster);
    await cluster.uninstall(widgets);
    await cluster.clock.advance(5 * MINUTE);
    assert.deepEqual(running.reconciled, ["one", "-one"]);
    assert.equal(isReady(running), true, "a kind that is gone is as good as one that never was");
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    await cluster.put(widgets, "two");
    await cluster.clock.advance(1_000);
    assert.deepEqual(running.reconciled.slice(2).sort(), ["one", "two"]);
    await running.stop();
  });

  test("one that goes and is back before anybody looked is followed on", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster);
    await cluster.uninstall(widgets);
    await cluster.install(widgets);
    await cluster.put(widgets, "two");
    await cluster.clock.advance(20_000);
    assert.deepEqual(running.reconciled.slice(0, 3), ["one", "-one", "two"]);
    await running.stop();
  });

  test("what is looked at for the sake of others is not asked for before there are any, and then before any work", async () => {
    const cluster = startCluster();
    for (const type of [widgets, gadgets]) await cluster.install(type);
    await cluster.put(gadgets, "bolt");
    const running = await startOperator(cluster, { areGadgetsForWidgets: true });
    await running.operator.synced();
    await cluster.clock.advance(HOUR);
    assert.equal(isReady(running), true, reasons(running));
    assert.match(reasons(running), /Gadget.*: nobody needs it yet/);
    const asked = (): number => running.faults.requests.filter((line) => line.includes("/gadgets")).length;
    assert.equal(asked(), 0);
    running.faults.plan = refuse(/gadgets/, 503, "ServiceUnavailable");
    await cluster.put(widgets, "one");
    await cluster.clock.advance(5_000);
    assert.deepEqual(running.reconciled, [], "nothing is decided on what is incomplete");
    assert.equal(isReady(running), false);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(MINUTE);
    assert.deepEqual(running.reconciled, ["one"]);
    assert.match(reasons(running), /Gadget.*: 1 objects/);
    await running.stop();
  });

  test("without the right to see CRDs it takes longer, and nothing waits for it", async () => {
    const cluster = startCluster();
    const plan = refuse(/customresourcedefinitions/, 403, "Forbidden");
    const running = await startOperator(cluster, { plan });
    let isSynced = false;
    void running.operator.synced().then(() => {
      isSynced = true;
    });
    await cluster.clock.advance(1_000);
    assert.equal(isSynced, true);
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(2 * MINUTE);
    assert.deepEqual(running.reconciled, ["one"]);
    await running.stop();
  });
});

describe("what work waits for", () => {
  test("every watch of the controller: nothing is reconciled on half a picture, and nothing is lost", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.install(gadgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster, { plan: refuse(/gadgets/, 503, "ServiceUnavailable") });
    await cluster.put(widgets, "two");
    await cluster.clock.advance(MINUTE);
    assert.deepEqual(running.reconciled, []);
    assert.equal(isReady(running), false);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(MINUTE);
    assert.deepEqual(running.reconciled.sort(), ["one", "two"]);
    await running.stop();
  });

  test("not one that only saves time: where it may not be watched, work goes on", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.install(gadgets);
    await cluster.put(widgets, "one");
    const plan = refuse(/gadgets/, 403, "Forbidden");
    const running = await startOperator(cluster, { plan, areGadgetsHints: true });
    await cluster.clock.advance(1_000);
    assert.deepEqual(running.reconciled, ["one"]);
    assert.equal(isReady(running), false, "but somebody is told of it");
    await running.stop();
  });

  test("a kind that appears while others are worked on is read whole first", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster);
    running.faults.plan = refuse(/gadgets/, 503, "ServiceUnavailable");
    await cluster.install(gadgets);
    await cluster.put(gadgets, "g1");
    await cluster.put(gadgets, "g2");
    running.faults.plan = ({ path }) => (/gadgets\?/.test(path) ? { kind: "stall", afterBytes: 300 } : undefined);
    await cluster.clock.advance(30_000);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(30_000);
    assert.deepEqual(running.reconciled, [], "gadgets are known to exist, and not known");
    running.faults.plan = () => undefined;
    running.faults.transport.breakAll();
    await cluster.clock.advance(MINUTE);
    assert.deepEqual(running.reconciled, ["one"]);
    await running.stop();
  });
});

describe("leadership", () => {
  test("a standby watches, works on nothing and gathers nothing; when it takes over, it knows the world", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const leader = await startOperator(cluster, { isElected: true, name: "first" });
    const standby = await startOperator(cluster, { isElected: true, name: "standby" });
    for (let index = 0; index < 20; index++) {
      await cluster.put(widgets, `brief-${index}`);
      await cluster.kube.delete(widgets, { name: `brief-${index}` });
    }
    await cluster.put(widgets, "kept");
    await cluster.clock.advance(MINUTE);
    assert.ok(leader.reconciled.includes("kept"));
    assert.deepEqual(standby.reconciled, []);
    assert.equal(isReady(standby), true, reasons(standby));
    assert.equal(
      await standby.metric(
        'keyturn_watch_cached_objects{controllers="test",kind="Widget.test.keyturn.dev",selector=""}',
      ),
      "1",
    );
    const depth = [
      await standby.metric('keyturn_queue_depth{controller="test",state="person"}'),
      await standby.metric('keyturn_queue_depth{controller="test",state="drift"}'),
    ];
    assert.deepEqual(depth, ["0", "0"], "a standby's queue would grow for weeks");
    assert.deepEqual([await leader.metric("keyturn_leader"), await standby.metric("keyturn_leader")], ["1", "0"]);
    await leader.stop();
    assert.deepEqual(leader.exits, [0]);
    assert.deepEqual(standby.reconciled, ["kept"]);
    assert.deepEqual([await leader.metric("keyturn_leader"), await standby.metric("keyturn_leader")], ["0", "1"]);
    await standby.stop();
  });

  test("one that stands alone leads", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster);
    assert.equal(await running.metric("keyturn_leader"), "1");
    await running.stop();
    assert.equal(await running.metric("keyturn_leader"), "0");
  });

  test("a Lease that somebody else took ends all work at once", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster, { isElected: true });
    await cluster.kube.patch(
      leases,
      { namespace: "default", name: "keyturn" },
      { type: "merge", body: { spec: { holderIdentity: "somebody" } } },
    );
    await cluster.clock.advance(3_000);
    assert.deepEqual(running.lost, ["the Lease was taken by somebody"]);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(MINUTE);
    assert.deepEqual(running.reconciled, []);
    await running.stop();
  });

  test("a Lease that somebody deletes is made again, and work goes on", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster, { isElected: true });
    await cluster.kube.delete(leases, { namespace: "default", name: "keyturn" });
    await cluster.clock.advance(3_000);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(1_000);
    assert.deepEqual([running.lost, running.reconciled], [[], ["one"]]);
    await cluster.kube.get(leases, { namespace: "default", name: "keyturn" });
    await running.stop();
  });

  test("a machine that slept asks for its Lease before it works, and pauses count as no failure", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster, { isElected: true });
    await cluster.clock.advance(2_500);
    cluster.clock.jump(HOUR);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(100);
    assert.deepEqual(running.reconciled, [], "the term may be over");
    await cluster.clock.advance(3_000);
    assert.deepEqual([running.lost, running.reconciled], [[], ["one"]]);
    assert.equal(await running.metric('keyturn_queue_retries_total{controller="test"}'), "0");
    await running.stop();
  });

  test("a Lease that may not be read is said once and fails readiness, until it may", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster, { isElected: true, plan: refuse(/leases/, 403, "Forbidden") });
    await cluster.clock.advance(2 * MINUTE);
    assert.equal(isReady(running), false, "it would never work on anything");
    assert.match(reasons(running), /leader election: .*Forbidden/);
    assert.equal(lines(running, /cannot reach the Lease/).length, 1);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(10_000);
    assert.equal(isReady(running), true, reasons(running));
    await running.stop();
  });

  test("a namespace that does not exist is said once and fails readiness, until it does", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster, { isElected: true, leaseNamespace: "later" });
    await cluster.clock.advance(2 * MINUTE);
    assert.equal(isReady(running), false, "it would never work on anything");
    assert.match(reasons(running), /leader election: .*NotFound/);
    assert.equal(lines(running, /cannot reach the Lease/).length, 1);
    await cluster.kube.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } });
    await cluster.clock.advance(10_000);
    assert.equal(await running.metric("keyturn_leader"), "1");
    assert.equal(isReady(running), true, reasons(running));
    await running.stop();
  });
});

describe("stopping", () => {
  test("a reconcile under way is told, waited for, and only then the Lease is given back", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const seen: string[] = [];
    const finish = Promise.withResolvers<void>();
    const running = await startOperator(cluster, {
      isElected: true,
      work: async (_key, signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        seen.push("told");
        await finish.promise;
        seen.push("done");
        return { kind: "settled" };
      },
    });
    const holder = async (): Promise<unknown> => {
      const lease = await cluster.kube.get(leases, { namespace: "default", name: "keyturn" });
      return Reflect.get(Object(lease.spec), "holderIdentity");
    };
    await cluster.clock.advance(1_000);
    const left = running.shutdown.leave("test", 0);
    await cluster.clock.advance(1_000);
    assert.deepEqual(seen, ["told"]);
    assert.match(String(await holder()), /^a_/, "not before the work is over");
    finish.resolve();
    await cluster.clock.advance(1_000);
    await left;
    assert.deepEqual([seen, running.exits], [["told", "done"], [0]]);
    assert.equal((await holder()) ?? "", "");
  });

  test("a reconcile that is deaf holds nobody up for 5 seconds, and the Lease is then kept", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster, { isElected: true, work: () => new Promise(() => {}) });
    await cluster.clock.advance(1_000);
    void running.shutdown.leave("test", 0);
    await cluster.clock.advance(4_900);
    assert.deepEqual(running.exits, [1]);
  });

  test("nothing is left behind: no timer, no connection, no work", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    await cluster.clock.advance(1_000);
    const timersBefore = cluster.clock.timerCount;
    const running = await startOperator(cluster, {
      isElected: true,
      work: async () => ({ kind: "recheck", at: cluster.clock.now() + 1_000 }),
    });
    await cluster.clock.advance(10_500);
    assert.ok(running.reconciled.length > 5);
    await running.stop();
    const done = running.reconciled.length;
    await cluster.put(widgets, "two");
    await cluster.clock.advance(10_000);
    assert.equal(running.reconciled.length, done);
    assert.equal(running.faults.transport.openBodies, 0);
    assert.equal(cluster.clock.timerCount, timersBefore);
  });

  test("leaving before anything was read is as quick", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster, { isElected: true, plan: () => ({ kind: "hang" }) });
    const left = running.shutdown.leave("test", 0);
    await cluster.clock.advance(4_900);
    await left;
    assert.equal(running.exits.length, 1);
  });
});

describe("an API server that is away", () => {
  test("readiness fails once the picture is stale, and recovers; what changed meanwhile is seen", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster);
    assert.equal(isReady(running), true);
    running.faults.plan = () => ({ kind: "refuse" });
    running.faults.transport.breakAll();
    await cluster.put(widgets, "two");
    await cluster.clock.advance(MINUTE);
    assert.equal(isReady(running), true, "a short outage is no reason to be taken out");
    await cluster.clock.advance(MINUTE);
    assert.equal(isReady(running), false);
    assert.match(reasons(running), /no sign of life from the server/);
    assert.equal(
      await running.metric('keyturn_watch_ready{controllers="test",kind="Widget.test.keyturn.dev",selector=""}'),
      "0",
    );
    assert.equal(lines(running, /cannot watch/).length, 3, "one line for each watch, that of CRDs included");
    running.faults.plan = () => undefined;
    await cluster.clock.advance(MINUTE);
    assert.equal(isReady(running), true, reasons(running));
    assert.equal(
      await running.metric('keyturn_watch_ready{controllers="test",kind="Widget.test.keyturn.dev",selector=""}'),
      "1",
    );
    assert.deepEqual(running.reconciled, ["one", "two"]);
    assert.ok(lines(running, /in contact again/, "info").length > 0);
    await running.stop();
  });

  test("an outage that lasts is one error, however many watches there are, and its end is told", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster);
    running.faults.plan = () => ({ kind: "refuse" });
    running.faults.transport.breakAll();
    await cluster.clock.advance(4 * MINUTE);
    assert.equal(lines(running, /./, "error").length, 0, "it may be over soon");
    await cluster.clock.advance(10 * MINUTE);
    assert.equal(lines(running, /the API server is unavailable/, "error").length, 1);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(3 * MINUTE);
    assert.equal(lines(running, /the API server answers again/, "info").length, 1);
    running.faults.plan = () => ({ kind: "refuse" });
    running.faults.transport.breakAll();
    await cluster.clock.advance(6 * MINUTE);
    assert.equal(lines(running, /the API server is unavailable/, "error").length, 2, "the next one is another one");
    await running.stop();
  });

  test("readiness also fails where no kind is installed", async () => {
    const cluster = startCluster();
    const running = await startOperator(cluster);
    assert.equal(isReady(running), true);
    running.faults.plan = () => ({ kind: "refuse" });
    running.faults.transport.breakAll();
    await cluster.clock.advance(10 * MINUTE);
    assert.equal(isReady(running), false);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(3 * MINUTE);
    assert.equal(isReady(running), true, reasons(running));
    await running.stop();
  });

  test("a server that hangs is given up, asked again, and found when it is back", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    const running = await startOperator(cluster, { plan: () => ({ kind: "hang" }) });
    await cluster.clock.advance(10 * MINUTE);
    assert.equal(isReady(running), false);
    running.faults.plan = () => undefined;
    await cluster.put(widgets, "one");
    await cluster.clock.advance(2 * MINUTE);
    assert.deepEqual(running.reconciled, ["one"]);
    await running.stop();
  });

  test("watches that are refused for hours are asked for seldom, said once, and begin when they are allowed", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    for (const [code, reason] of [
      [403, "Forbidden"],
      [401, "Unauthorized"],
    ] as const) {
      const running = await startOperator(cluster, { plan: refuse(/test\.keyturn\.dev\/v1/, code, reason) });
      await cluster.clock.advance(3 * HOUR);
      assert.equal(isReady(running), false);
      assert.match(reasons(running), new RegExp(`the first list is not complete \\(${reason}\\)`));
      assert.equal(lines(running, /cannot watch/).length, 2, "once for each kind");
      const asked = running.faults.requests.filter((request) => request.includes("test.keyturn.dev/v1")).length;
      assert.ok(asked < 2 * 3 * 240, `asked ${asked} times`);
      running.faults.plan = () => undefined;
      await cluster.clock.advance(MINUTE);
      assert.deepEqual(running.reconciled, ["one"]);
      assert.equal(isReady(running), true, reasons(running));
      await running.stop();
    }
  });

  test("something else that answers 200 with a page is not believed", async () => {
    const cluster = startCluster();
    await cluster.install(widgets);
    await cluster.put(widgets, "one");
    const running = await startOperator(cluster);
    const page = { "content-type": "text/html" };
    running.faults.plan = () => ({ kind: "answer", status: 200, headers: page, body: "<html>log in</html>" });
    running.faults.transport.breakAll();
    await cluster.clock.advance(10 * MINUTE);
    assert.deepEqual(running.reconciled, ["one"], "nothing was taken for deleted");
    assert.equal(isReady(running), false);
    running.faults.plan = () => undefined;
    await cluster.clock.advance(MINUTE);
    assert.equal(isReady(running), true, reasons(running));
    await running.stop();
  });
});
