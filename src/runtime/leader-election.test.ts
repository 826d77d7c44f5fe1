import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { silentLogger } from "../base/logger.ts";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { AlreadyExists, Conflict, NotFound, Unavailable } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { type ElectionEnd, LeaderElector, type LeaderElectorOptions } from "./leader-election.ts";
import type { SchedulesOptions, SchedulesResult } from "./leader-election-schedules.ts";
import type { Lease, LeaseSpec } from "./lease-record.ts";

/** One Lease with compare-and-swap, and a switch for what goes wrong. */
class FakeLeases implements Pick<Kube, "get" | "create" | "replace"> {
  lease: Lease | undefined;
  trouble: "none" | "down" | "silent" = "none";
  calls = 0;
  #version = 0;

  write(spec: LeaseSpec): void {
    const metadata = { name: "operator", namespace: "keyturn", resourceVersion: String(++this.#version) };
    this.lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
  }

  get spec(): LeaseSpec {
    return this.lease?.spec ?? {};
  }

  // The caller's type parameter is always Lease here.
  get<T>(): Promise<T> {
    return this.#answer(() => {
      if (!this.lease) throw new NotFound("no such Lease");
    }) as Promise<T>;
  }

  create<T>(_type: unknown, object: object): Promise<T> {
    return this.#answer(() => {
      if (this.lease) throw new AlreadyExists("exists");
      this.write(Reflect.get(object, "spec"));
    }) as Promise<T>;
  }

  replace<T>(_type: unknown, object: object): Promise<T> {
    const { metadata, spec }: Lease = { apiVersion: "", kind: "", metadata: { name: "" }, ...object };
    return this.#answer(() => {
      if (!this.lease) throw new NotFound("no such Lease");
      if (metadata.resourceVersion !== this.lease.metadata.resourceVersion) throw new Conflict("written before");
      this.write(spec ?? {});
    }) as Promise<T>;
  }

  async #answer(act: () => void): Promise<Lease | undefined> {
    this.calls++;
    if (this.trouble === "silent") return new Promise(() => {});
    if (this.trouble === "down") throw new Unavailable("down");
    act();
    return this.lease;
  }
}

interface Candidate {
  readonly elector: LeaderElector;
  readonly events: string[];
  readonly abort: AbortController;
  readonly end: Promise<ElectionEnd>;
}

function stand(
  name: string,
  clock: ManualClock,
  kube: FakeLeases,
  more: Partial<LeaderElectorOptions> = {},
): Candidate {
  const events: string[] = [];
  const elector = new LeaderElector({
    kube,
    lease: { namespace: "keyturn", name: "operator" },
    identity: name,
    clock,
    random: seededRandom(name.length),
    logger: silentLogger,
    onStarted: () => events.push("started"),
    onLost: (reason) => events.push(`lost: ${reason}`),
    ...more,
  });
  const abort = new AbortController();
  return { elector, events, abort, end: elector.run(abort.signal) };
}

const otherHolds = (renewTime: string): LeaseSpec => ({
  holderIdentity: "other",
  leaseDurationSeconds: 15,
  acquireTime: "2026-01-01T00:00:00.000000Z",
  renewTime,
  leaseTransitions: 3,
});

describe("taking the Lease", () => {
  test("one that does not exist is made and led at once", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { elector, events, abort, end } = stand("a", clock, kube);
    await settle();
    assert.equal(elector.isLeader(), true);
    assert.match(elector.identity, /^a_[0-9a-f-]{36}$/);
    assert.deepEqual(kube.spec, {
      holderIdentity: elector.identity,
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
    assert.deepEqual(events, ["started"]);
    abort.abort();
    assert.equal(await end, "stopped");
  });

  test("one that another holds is waited out from when it was last seen to change, whatever its times say", async () => {
    for (const renewTime of ["1990-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"]) {
      const clock = new ManualClock();
      const kube = new FakeLeases();
      kube.write(otherHolds(renewTime));
      const { elector, abort } = stand("a", clock, kube);
      await clock.advance(10_000);
      kube.write({ ...otherHolds(renewTime), renewTime: "2026-01-01T00:00:10.000000Z" });
      await clock.advance(14_900);
      assert.equal(elector.isLeader(), false, `${renewTime}: not 15 s after the last change`);
      assert.equal(elector.holder, "other");
      await clock.advance(10_000);
      assert.equal(elector.isLeader(), true, renewTime);
      assert.equal(kube.spec.leaseTransitions, 4);
      abort.abort();
    }
  });

  test("the holder's own duration counts, and a released Lease is free at once", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    kube.write({ ...otherHolds("2026-01-01T00:00:00.000000Z"), leaseDurationSeconds: 60 });
    const { elector, abort } = stand("a", clock, kube);
    await clock.advance(59_000);
    assert.equal(elector.isLeader(), false);
    kube.write({ ...otherHolds("2026-01-01T00:00:59.000000Z"), holderIdentity: "" });
    await clock.advance(4_500);
    assert.equal(elector.isLeader(), true);
    abort.abort();
  });

  test("a Lease that vanishes under its holder is still waited out by who saw it", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    kube.write(otherHolds("2026-01-01T00:00:00.000000Z"));
    const { elector, abort } = stand("a", clock, kube);
    await clock.advance(5_000);
    kube.lease = undefined;
    await clock.advance(9_900);
    assert.equal(elector.isLeader(), false);
    await clock.advance(5_000);
    assert.equal(elector.isLeader(), true);
    abort.abort();
  });
});

describe("leading", () => {
  test("renews every two seconds with a new renewTime, acquireTime and transitions kept", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { abort } = stand("a", clock, kube);
    await clock.advance(21_000);
    assert.equal(kube.spec.renewTime, "2026-01-01T00:00:20.000000Z");
    assert.equal(kube.spec.acquireTime, "2026-01-01T00:00:00.000000Z");
    assert.equal(kube.spec.leaseTransitions, 0);
    assert.equal(kube.calls, 12, "one read, one create, ten renewals without a read");
    abort.abort();
  });

  for (const trouble of ["down", "silent"] as const) {
    test(`stops ten seconds after the last renewal was sent when the server is ${trouble}, and says so once`, async () => {
      const clock = new ManualClock();
      const kube = new FakeLeases();
      const { elector, events, end } = stand("a", clock, kube);
      await clock.advance(4_000);
      kube.trouble = trouble;
      await clock.advance(9_999);
      assert.equal(elector.isLeader(), true);
      await clock.advance(1);
      assert.equal(elector.isLeader(), false);
      assert.deepEqual(events, ["started", "lost: the Lease could not be renewed in time"]);
      assert.equal(await end, "lost");
      assert.equal(clock.timerCount, 0);
      await clock.advance(60_000);
      assert.equal(events.length, 2);
    });
  }

  test("a short outage is survived", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { elector, events, abort } = stand("a", clock, kube);
    await clock.advance(4_000);
    kube.trouble = "down";
    await clock.advance(7_000);
    kube.trouble = "none";
    await clock.advance(30_000);
    assert.equal(elector.isLeader(), true);
    assert.deepEqual(events, ["started"]);
    abort.abort();
  });

  test("a leader whose Lease somebody else took stops when it sees it", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { elector, events, end } = stand("a", clock, kube);
    await clock.advance(1_000);
    kube.write(otherHolds("2026-01-01T00:00:01.000000Z"));
    await clock.advance(1_000);
    assert.equal(elector.isLeader(), false);
    assert.deepEqual(events, ["started", "lost: the Lease was taken by other"]);
    assert.equal(await end, "lost");
    assert.equal(kube.spec.holderIdentity, "other", "and leaves it alone");
  });

  test("an edit of the Lease by somebody else, or its deletion, does not end the term", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { elector, events, abort } = stand("a", clock, kube);
    await clock.advance(1_000);
    kube.write({ ...kube.spec, note: "edited" });
    await clock.advance(4_000);
    assert.equal(kube.spec.note, "edited");
    kube.lease = undefined;
    await clock.advance(20_000);
    assert.equal(elector.isLeader(), true);
    assert.equal(kube.spec.holderIdentity, elector.identity);
    assert.deepEqual(events, ["started"]);
    abort.abort();
  });
});

describe("time that passes unnoticed", () => {
  /** A clock whose hands move without its timers firing, as those of a stopped process do. */
  class Stopped extends ManualClock {
    #stoppedMs = 0;
    override monotonic(): number {
      return super.monotonic() + this.#stoppedMs;
    }
    stopFor(lengthMs: number): void {
      this.#stoppedMs += lengthMs;
    }
  }

  test("a process that was stopped knows on waking, before any timer, that it no longer leads", async () => {
    const clock = new Stopped();
    const { elector, abort } = stand("a", clock, new FakeLeases());
    await settle();
    clock.stopFor(9_999);
    assert.equal(elector.isLeader(), true);
    clock.stopFor(1);
    assert.equal(elector.isLeader(), false);
    abort.abort();
  });

  test("a machine that was suspended: no until the next renewal has gone through", async () => {
    const clock = new ManualClock();
    const { elector, events, abort } = stand("a", clock, new FakeLeases());
    await clock.advance(1_000);
    clock.jump(3_600_000);
    assert.equal(elector.isLeader(), false);
    await clock.advance(1_000);
    assert.equal(elector.isLeader(), true);
    clock.jump(-7_200_000);
    assert.equal(elector.isLeader(), true, "a clock set back proves nothing");
    assert.deepEqual(events, ["started"]);
    abort.abort();
  });
});

describe("leaving", () => {
  test("gives the Lease back, and the next one leads within a retry period", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const first = stand("a", clock, kube);
    await clock.advance(1_000);
    const second = stand("bb", clock, kube);
    await clock.advance(10_000);
    assert.equal(second.elector.isLeader(), false);
    first.abort.abort();
    assert.equal(first.elector.isLeader(), false, "before the Lease is given back, not after");
    assert.equal(await first.end, "stopped");
    assert.equal(kube.spec.holderIdentity, "");
    assert.equal(kube.spec.leaseDurationSeconds, 1);
    await clock.advance(4_400);
    assert.equal(second.elector.isLeader(), true);
    assert.equal(kube.spec.leaseTransitions, 1);
    assert.deepEqual(first.events, ["started"], "leaving is not losing");
    second.abort.abort();
  });

  test("a candidate leaves the other's Lease alone", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    kube.write(otherHolds("2026-01-01T00:00:00.000000Z"));
    const { abort, end } = stand("a", clock, kube);
    await clock.advance(5_000);
    abort.abort();
    assert.equal(await end, "stopped");
    assert.equal(kube.spec.holderIdentity, "other");
  });

  test("does not wait longer than two seconds for a server that does not answer", async () => {
    const clock = new ManualClock();
    const kube = new FakeLeases();
    const { abort, end } = stand("a", clock, kube);
    await clock.advance(1_000);
    kube.trouble = "silent";
    abort.abort();
    await clock.advance(2_000);
    assert.equal(await end, "stopped");
    assert.equal(clock.timerCount, 0);
  });
});

test("times that could not keep the promise are refused", () => {
  const clock = new ManualClock();
  for (const timing of [{ renewDeadlineMs: 15_000 }, { retryPeriodMs: 9_000 }, { retryPeriodMs: 0 }]) {
    assert.throws(() => stand("a", clock, new FakeLeases(), { timing }), RangeError, JSON.stringify(timing));
  }
});

test("a callback that throws does not stop the election", async () => {
  const clock = new ManualClock();
  const onStarted = (): void => {
    throw new Error("broken");
  };
  const { elector, abort } = stand("a", clock, new FakeLeases(), { onStarted });
  await clock.advance(30_000);
  assert.equal(elector.isLeader(), true);
  abort.abort();
});

/** In a thread of its own: the test runner follows every promise, which makes some millions of them slow. */
function runInThread(options: SchedulesOptions): Promise<SchedulesResult> {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.url)
      .then((module) => module.runLeaderElectionSchedules(workerData.options))
      .then((result) => parentPort.postMessage(result));
  `;
  const url = new URL("./leader-election-schedules.ts", import.meta.url).href;
  return new Promise((resolve, reject) => {
    const thread = new Worker(code, { eval: true, workerData: { url, options } });
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", (exitCode) => reject(new Error(`the thread ended with ${exitCode} and no result`)));
  });
}

describe("seeded schedules", () => {
  test("two or three electors under skew, drift, pauses, crashes and faults: never two leaders, one in the end", async () => {
    const result = await runInThread({ schedules: 3_000 });
    assert.deepEqual(result.failures, []);
    assert.ok(result.terms > result.schedules * 2, `leadership changes hands: ${result.terms} terms`);
  });

  test("the schedules do find two leaders once clocks differ by more than the rules allow", async () => {
    const result = await runInThread({ schedules: 300, maxRateRatio: 3 });
    assert.ok(result.failures.length > 0);
  });
});
