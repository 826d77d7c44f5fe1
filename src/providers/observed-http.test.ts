import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { Redacted } from "../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "./http-port.ts";
import { observedHttp } from "./observed-http.ts";

const request: HttpRequest = {
  method: "POST",
  url: "https://sm.example/v1/x?y=z",
  headers: { authorization: "canary" },
};
const { signal } = new AbortController();
type Seen = readonly [method: string, status: number | undefined, tookMs: number];

/** A port that takes its time and then does this. */
function observed(clock: ManualClock, end: () => HttpResponse) {
  const seen: Seen[] = [];
  const asked: { request: HttpRequest; signal: AbortSignal }[] = [];
  const http: HttpPort = {
    send: async (given, until) => {
      asked.push({ request: given, signal: until });
      await clock.advance(250);
      return end();
    },
  };
  return { seen, asked, port: observedHttp(http, clock, { requested: (...what) => void seen.push(what) }) };
}

test("every answer is told by method, status and time, and passes on untouched", async () => {
  for (const status of [200, 404, 429, 503]) {
    const answer: HttpResponse = { status, headers: { a: "b" }, body: new Redacted("canary") };
    const { port, seen, asked } = observed(new ManualClock(), () => answer);
    assert.equal(await port.send(request, signal), answer);
    assert.deepEqual(seen, [["POST", status, 250]]);
    assert.deepEqual(asked, [{ request, signal }]);
  }
});

test("a request without an answer is told too, and fails as it would have", async () => {
  const failure = new Error("connection reset");
  const { port, seen } = observed(new ManualClock(), () => {
    throw failure;
  });
  await assert.rejects(port.send(request, signal), failure);
  assert.deepEqual(seen, [["POST", undefined, 250]]);
});

test("a wall clock that jumps does not lengthen a request", async () => {
  const clock = new ManualClock();
  const { port, seen } = observed(clock, () => {
    clock.jump(3_600_000);
    return { status: 200, headers: {}, body: new Redacted("") };
  });
  await port.send(request, signal);
  assert.equal(seen[0]?.[2], 250);
});
