import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../base/manual-clock.ts";
import type { TransportResponse } from "../../kube/transport.ts";
import { createTestingServer } from "./api-server.fixture.ts";
import { createLocalTransport } from "./local-transport.ts";

async function textOf(response: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

function setUp() {
  const server = createTestingServer();
  const transport = createLocalTransport(server.api);
  const create = (name: string) =>
    transport.send({
      method: "POST",
      path: CONFIG_MAPS,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ metadata: { name }, data: { k: "ü" } }),
    });
  return { server, transport, create };
}

test("local transport: a whole answer, in bytes", async () => {
  const { transport, create } = setUp();
  assert.equal((await create("a")).status, 201);
  const response = await transport.send({ method: "GET", path: `${CONFIG_MAPS}/a?pretty=false`, headers: {} });
  assert.equal(response.headers["content-type"], "application/json");
  assert.equal(JSON.parse(await textOf(response)).data.k, "ü");
});

test("local transport: a watch streams, and breaking off closes it", async () => {
  const { server, transport, create } = setUp();
  const response = await transport.send({ method: "GET", path: `${CONFIG_MAPS}?watch=1`, headers: {} });
  await create("a");
  for await (const chunk of response.body) {
    assert.match(Buffer.from(chunk).toString(), /^\{"type":"ADDED".*"name":"a"/);
    break;
  }
  assert.equal(server.clock.timerCount, 0, "the watch has let go of its timer");
});

test("local transport: a watch that is never read can be left", async () => {
  const { transport } = setUp();
  const response = await transport.send({ method: "GET", path: `${CONFIG_MAPS}?watch=1`, headers: {} });
  const iterator = response.body[Symbol.asyncIterator]();
  await iterator.return?.();
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
});

test("local transport: abort rejects, before, and while a stream is read", async () => {
  const { transport } = setUp();
  const signal = AbortSignal.abort(new Error("before"));
  await assert.rejects(transport.send({ method: "GET", path: "/version", headers: {}, signal }), /before/);
  const abort = new AbortController();
  const response = await transport.send({
    method: "GET",
    path: `${CONFIG_MAPS}?watch=1`,
    headers: {},
    signal: abort.signal,
  });
  const read = textOf(response);
  await settle();
  abort.abort(new Error("while reading"));
  await assert.rejects(read, /while reading/);
});

test("local transport: close breaks off what streams and refuses what comes", async () => {
  const { transport } = setUp();
  const response = await transport.send({ method: "GET", path: `${CONFIG_MAPS}?watch=1`, headers: {} });
  const read = textOf(response);
  await settle();
  await transport.close();
  await assert.rejects(read, /closed/);
  await assert.rejects(transport.send({ method: "GET", path: "/version", headers: {} }), /closed/);
});
