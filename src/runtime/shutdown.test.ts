import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogFields, Logger } from "../base/logger.ts";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { Shutdown } from "./shutdown.ts";

function newShutdown(totalMs?: number) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const exits: number[] = [];
  const note = (message: string, fields: LogFields = {}): void =>
    void lines.push(`${message} ${fields.step ?? ""}`.trim());
  const logger: Logger = { debug: note, info: note, warn: note, error: note, with: () => logger };
  const exit = (code: number): void => void exits.push(code);
  return {
    clock,
    lines,
    exits,
    shutdown: new Shutdown({ clock, logger, exit, ...(totalMs !== undefined && { totalMs }) }),
  };
}

const hang = (): Promise<void> => new Promise(() => {});

test("steps run in order, one after the other, and then the process ends well", async () => {
  const { clock, exits, shutdown } = newShutdown();
  const order: string[] = [];
  for (const name of ["watches", "workers", "lease"]) {
    shutdown.addStep({
      name,
      boundMs: 1_000,
      run: async () => {
        order.push(`${name} begins`);
        await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
        order.push(`${name} ends`);
      },
    });
  }
  shutdown.handleSignal("SIGTERM");
  await clock.advance(300);
  assert.deepEqual(order, [
    "watches begins",
    "watches ends",
    "workers begins",
    "workers ends",
    "lease begins",
    "lease ends",
  ]);
  assert.deepEqual(exits, [0]);
  assert.equal(clock.timerCount, 0);
});

test("a step that hangs is told, named, and does not keep the next from running; the exit code shows it", async () => {
  const { clock, lines, exits, shutdown } = newShutdown();
  let isTold = false;
  let isNextRun = false;
  shutdown.addStep({
    name: "stubborn",
    boundMs: 500,
    run: (signal) => {
      signal.addEventListener("abort", () => {
        isTold = true;
      });
      return hang();
    },
  });
  shutdown.addStep({ name: "failing", boundMs: 500, run: () => Promise.reject(new Error("no")) });
  shutdown.addStep({ name: "throwing", boundMs: 500, run: () => { throw new Error("no"); } }); // biome-ignore format: one line each
  shutdown.addStep({ name: "next", boundMs: 500, run: () => { isNextRun = true; } }); // biome-ignore format: one line each
  shutdown.handleSignal("SIGINT");
  await clock.advance(499);
  assert.equal(isTold, false);
  await clock.advance(1);
  assert.ok(isTold && isNextRun);
  assert.ok(lines.includes("a shutdown step hangs; going on without it stubborn"));
  assert.ok(lines.includes("a shutdown step failed failing"));
  assert.ok(lines.includes("a shutdown step failed throwing"));
  assert.deepEqual(exits, [1]);
});

test("a step is left out when one that it needs did not end well", async () => {
  const { clock, lines, shutdown } = newShutdown();
  const ran: string[] = [];
  shutdown.addStep({ name: "workers", boundMs: 100, run: hang });
  shutdown.addStep({ name: "lease", boundMs: 100, needs: ["workers"], run: () => void ran.push("lease") });
  shutdown.addStep({ name: "endpoints", boundMs: 100, run: () => void ran.push("endpoints") });
  const result = shutdown.runSteps("test");
  await clock.advance(200);
  assert.deepEqual((await result).hung, ["workers"]);
  assert.deepEqual(ran, ["endpoints"]);
  assert.ok(lines.includes("a shutdown step is left out lease"));
});

test("a second signal ends the process at once, with the code a shell expects", async () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const { exits, shutdown } = newShutdown();
    shutdown.addStep({ name: "hangs", boundMs: 4_000, run: hang });
    shutdown.handleSignal("SIGTERM");
    await settle();
    assert.deepEqual(exits, []);
    shutdown.handleSignal(signal);
    assert.deepEqual(exits, [code]);
  }
});

test("however often it is asked, the steps run once and the process ends once", async () => {
  const { clock, exits, shutdown } = newShutdown();
  let runs = 0;
  shutdown.addStep({ name: "once", boundMs: 100, run: () => void runs++ });
  await Promise.all([shutdown.leave("lost the lease", 3), shutdown.leave("again", 0), shutdown.runSteps("third")]);
  await clock.advance(10);
  assert.equal(runs, 1);
  assert.deepEqual(exits, [3]);
});

test("whatever the steps do, it is over within its total, and every step had its chance", async () => {
  const step = fc.record({ boundMs: fc.nat(10_000), tookMs: fc.option(fc.nat(10_000)) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const { clock, exits, shutdown } = newShutdown(4_500);
      let begun = 0;
      for (const [index, { boundMs, tookMs }] of steps.entries()) {
        const run = (): Promise<void> => {
          begun++;
          return tookMs === null ? hang() : new Promise((resolve) => clock.setTimer(resolve, tookMs));
        };
        shutdown.addStep({ name: `s${index}`, boundMs, run });
      }
      shutdown.handleSignal("SIGTERM");
      await clock.advance(4_500);
      assert.equal(exits.length, 1);
      assert.equal(begun, steps.length);
    }),
    { numRuns: 60 },
  );
});
