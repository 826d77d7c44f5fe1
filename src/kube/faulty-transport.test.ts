import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { createFaultyTransport, type Fault, type FaultyTransport, seededFaults } from "./faulty-transport.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const request: TransportRequest = { method: "GET", path: "/", headers: {} };

interface World {
  readonly transport: FaultyTransport;
  readonly clock: ManualClock;
  readonly reached: () => number;
  readonly left: () => number;
}

function withFault(fault: Fault | undefined, chunks: readonly string[] = ["0123456789", "abcdefghij"]): World {
  let reached = 0;
  let left = 0;
  const clock = new ManualClock();
  const inner = {
    async send(): Promise<TransportResponse> {
      reached += 1;
      const rest = [...chunks];
      const iterator: AsyncIterator<Uint8Array> = {
        async next() {
          const chunk = rest.shift();
          return chunk === undefined ? { done: true, value: undefined } : { done: false, value: Buffer.from(chunk) };
        },
        async return() {
          left += 1;
          return { done: true, value: undefined };
        },
      };
      return { status: 200, headers: {}, body: { [Symbol.asyncIterator]: () => iterator } };
    },
    close: async () => {},
  };
  const transport = createFaultyTransport({ inner, plan: () => fault, clock });
  return { transport, clock, reached: () => reached, left: () => left };
}

/** What came until the body ended, broke or fell silent. */
async function read(transport: FaultyTransport): Promise<{ readonly text: string; readonly end: string }> {
  const { body } = await transport.send(request);
  let text = "";
  let end = "silent";
  const reading = (async () => {
    try {
      for await (const chunk of body) text += Buffer.from(chunk).toString("latin1");
      end = "ended";
    } catch {
      end = "broken";
    }
  })();
  await Promise.race([reading, settle()]);
  return { text, end };
}

const bodies: readonly { readonly fault: Fault | undefined; readonly text: string; readonly end: string }[] = [
  { fault: undefined, text: "0123456789abcdefghij", end: "ended" },
  { fault: { kind: "slice", size: 3 }, text: "0123456789abcdefghij", end: "ended" },
  { fault: { kind: "reset", afterBytes: 12 }, text: "0123456789ab", end: "broken" },
  { fault: { kind: "reset", afterBytes: 0 }, text: "", end: "broken" },
  { fault: { kind: "truncate", afterBytes: 12 }, text: "0123456789ab", end: "ended" },
  { fault: { kind: "stall", afterBytes: 12 }, text: "0123456789ab", end: "silent" },
  { fault: { kind: "garble", afterBytes: 12 }, text: "0123456789ab\0cdefghij", end: "ended" },
  { fault: { kind: "truncate", afterBytes: 99 }, text: "0123456789abcdefghij", end: "ended" },
  { fault: { kind: "answer", status: 500, headers: {}, body: "no" }, text: "no", end: "ended" },
];

for (const { fault, text, end } of bodies) {
  test(`a body with ${JSON.stringify(fault ?? "no fault")}`, async () => {
    const { transport } = withFault(fault);
    assert.deepEqual(await read(transport), { text, end });
    assert.equal(transport.openBodies, end === "silent" ? 1 : 0);
  });
}

test("refused requests do not reach the server, lost answers do", async () => {
  const refused = withFault({ kind: "refuse" });
  await assert.rejects(refused.transport.send(request));
  assert.equal(refused.reached(), 0);
  const lost = withFault({ kind: "lose" });
  await assert.rejects(lost.transport.send(request));
  assert.equal(lost.reached(), 1);
  assert.equal(lost.left(), 1, "the server's body is let go");
});

test("a delayed request waits for the clock", async () => {
  const { transport, clock, reached } = withFault({ kind: "delay", delayMs: 500 });
  const sending = transport.send(request);
  await clock.advance(499);
  assert.equal(reached(), 0);
  await clock.advance(1);
  await sending;
  assert.equal(reached(), 1);
});

test("breaking everything ends pending reads and frees what is behind them", async () => {
  const { transport, left } = withFault({ kind: "stall", afterBytes: 0 });
  const { body } = await transport.send(request);
  const outcome = assert.rejects(async () => {
    for await (const _ of body);
  });
  await settle();
  transport.breakAll();
  await outcome;
  assert.equal(transport.openBodies, 0);
  assert.equal(left(), 1);
});

test("a seed is a plan, and a stopped plan is harmless", () => {
  const draw = (): (Fault | undefined)[] => {
    const { plan } = seededFaults({ random: seededRandom(7), rate: 0.5 });
    return Array.from({ length: 50 }, () => plan(request));
  };
  assert.deepEqual(draw(), draw());
  assert.ok(new Set(draw().map((fault) => fault?.kind)).size > 6, "of every kind");
  const faults = seededFaults({ random: seededRandom(7), rate: 1 });
  faults.stop();
  assert.equal(faults.plan(request), undefined);
});
