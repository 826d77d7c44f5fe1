import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { ManualClock } from "../../base/manual-clock.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { createAppReconcile } from "./app-reconcile.ts";

const KEY = "space/shop";
const { signal } = new AbortController();

/** An application whose services change when the test says so; what is written, and when. */
class ToldApp {
  readonly clock = new ManualClock();
  readonly writtenAt: number[] = [];
  readonly reconcile: Reconcile;
  #isAsKnown = false;

  constructor() {
    const look = async () => {
      const isWritten = !this.#isAsKnown;
      if (isWritten) this.writtenAt.push(this.clock.monotonic());
      this.#isAsKnown = true;
      return { findings: [], isWritten };
    };
    const apps = { look, isAsKnown: () => this.#isAsKnown, isOver: () => false };
    const strangers = { leaveAlone: async () => undefined };
    this.reconcile = createAppReconcile({ clock: this.clock, logger: silentLogger, apps, strangers });
  }

  /** A service changes after so long. */
  async change(afterMs: number): Promise<void> {
    await this.pass(afterMs);
    this.#isAsKnown = false;
    this.#outcome = await this.reconcile(KEY, signal);
  }

  #outcome: Outcome = { kind: "settled" };

  /** Whoever says when to look again is looked at then. */
  async pass(ms: number): Promise<void> {
    const untilAt = this.clock.now() + ms;
    while (this.#outcome.kind === "recheck" && this.#outcome.at <= untilAt) {
      await this.clock.advance(this.#outcome.at - this.clock.now());
      this.#outcome = await this.reconcile(KEY, signal);
    }
    await this.clock.advance(untilAt - this.clock.now());
  }
}

const cases = [
  { what: "one change is written after a moment", changesMs: [0], writtenAt: [200] },
  { what: "those that come in that moment are written with it", changesMs: [0, 50, 149], writtenAt: [200] },
  { what: "one that comes later waits until a second has passed", changesMs: [0, 300], writtenAt: [200, 1200] },
  { what: "and so do all that come until then", changesMs: [0, 300, 400, 300], writtenAt: [200, 1200] },
  { what: "one that comes later still is written after a moment", changesMs: [0, 2000], writtenAt: [200, 2200] },
  { what: "near the end of that second the moment counts", changesMs: [0, 1190], writtenAt: [200, 1390] },
] as const;

for (const { what, changesMs, writtenAt } of cases) {
  test(`services of an application: ${what}`, async () => {
    const app = new ToldApp();
    for (const afterMs of changesMs) await app.change(afterMs);
    await app.pass(5_000);
    assert.deepEqual(app.writtenAt, writtenAt);
  });
}

test("services of an application: a look that brings nothing new does not end the pause", async () => {
  const app = new ToldApp();
  await app.change(0);
  await app.pass(300);
  assert.deepEqual(await app.reconcile(KEY, signal), { kind: "settled" });
  await app.change(0);
  await app.pass(5_000);
  assert.deepEqual(app.writtenAt, [200, 1200]);
});
