import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { Gone, Unreachable } from "./errors.ts";
import { createKubeClient } from "./kube-client.ts";
import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube, WatchEvent } from "./port.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const secret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n", uid: "u" } };
const JSON_HEADERS = { "content-type": "application/json" };

interface Setup {
  readonly kube: Kube;
  readonly clock: ManualClock;
  readonly requests: TransportRequest[];
}

function setUp(answer: () => Promise<TransportResponse> | TransportResponse): Setup {
  const clock = new ManualClock();
  const requests: TransportRequest[] = [];
  const transport = {
    async send(request: TransportRequest): Promise<TransportResponse> {
      requests.push(request);
      return answer();
    },
    close: async () => {},
  };
  return {
    kube: createKubeClient({ transport, clock, userAgent: "keyturn/1", defaultTimeoutMs: 5000 }),
    clock,
    requests,
  };
}

const streaming = (body: AsyncIterable<Uint8Array>, status = 200): TransportResponse => ({
  status,
  headers: JSON_HEADERS,
  body,
});

async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function collect(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const all: WatchEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const added = `{"type":"ADDED","object":${JSON.stringify({ ...secret, metadata: { ...secret.metadata, resourceVersion: "5" } })}}\n`;

test("watch: asks for bookmarks, streams events, ends when the server does", async () => {
  const { kube, clock, requests } = setUp(() => streaming(chunks(added.slice(0, 20), added.slice(20))));
  const events = await collect(kube.watch(secrets, { resourceVersion: "4", timeoutSeconds: 300, idleTimeoutMs: 1000 }));
  assert.equal(events.length, 1);
  assert.equal(
    requests[0]?.path,
    "/api/v1/secrets?watch=true&allowWatchBookmarks=true&resourceVersion=4&timeoutSeconds=300",
  );
  assert.equal(clock.timerCount, 0);
});

test("watch: WatchList asks as the server wants it", async () => {
  const { kube, requests } = setUp(() => streaming(chunks()));
  await collect(kube.watch(secrets, { namespace: "n", sendInitialEvents: true }));
  assert.match(requests[0]?.path ?? "", /&sendInitialEvents=true&resourceVersionMatch=NotOlderThan$/);
});

test("watch: silence beyond the limit breaks it off, signs of life do not", async () => {
  let feed: (text: string) => void = () => {};
  async function* live(): AsyncGenerator<Uint8Array> {
    while (true) yield Buffer.from(await new Promise<string>((resolve) => (feed = resolve)));
  }
  const { kube, clock } = setUp(() => streaming(live()));
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of kube.watch(secrets, { resourceVersion: "1", idleTimeoutMs: 1000 })) seen.push(event.type);
  })();
  const outcome = assert.rejects(watching, Unreachable);
  for (let i = 0; i < 3; i++) {
    await clock.advance(900);
    feed(added);
  }
  await clock.advance(999);
  assert.equal(seen.length, 3);
  await clock.advance(1);
  await outcome;
});

test("watch: headers that never come are noticed", async () => {
  const { kube, clock } = setUp(() => new Promise(() => {}));
  const outcome = assert.rejects(
    collect(kube.watch(secrets, { resourceVersion: "1", idleTimeoutMs: 60_000 })),
    Unreachable,
  );
  await clock.advance(5000);
  await outcome;
});

test("watch: a 410 at the start and one in the stream are both Gone", async () => {
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old" };
  const atStart = setUp(() => streaming(chunks(JSON.stringify(status)), 410));
  await assert.rejects(collect(atStart.kube.watch(secrets, { resourceVersion: "1" })), Gone);
  const inStream = setUp(() => streaming(chunks(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`)));
  await assert.rejects(collect(inStream.kube.watch(secrets, { resourceVersion: "1" })), Gone);
});

test("watch: leaving the loop lets go of the connection", async () => {
  let closed = false;
  async function* live(): AsyncGenerator<Uint8Array> {
    try {
      while (true) yield Buffer.from(added);
    } finally {
      closed = true;
    }
  }
  const { kube, clock, requests } = setUp(() => streaming(live()));
  for await (const event of kube.watch(secrets, { resourceVersion: "1", idleTimeoutMs: 1000 })) {
    assert.equal(event.type, "ADDED");
    break;
  }
  await settle();
  assert.equal(closed, true);
  assert.equal(requests[0]?.signal?.aborted, true);
  assert.equal(clock.timerCount, 0);
});
