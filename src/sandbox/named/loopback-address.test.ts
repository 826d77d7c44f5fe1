import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { freeLoopbackAddress } from "./loopback-address.ts";

const HOST = "127.0.0.1";

test("the address of before is kept while nobody listens there", async (context) => {
  const taken = createServer().listen(0, HOST);
  context.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const elsewhere = await freeLoopbackAddress({ ports: [port], random: seededRandom(1), preferred: HOST });
  assert.match(elsewhere ?? "", /^127\.[1-9]\d*\.\d+\.[1-9]\d*$/);
  const again = await freeLoopbackAddress({ ports: [port], random: seededRandom(2), preferred: elsewhere });
  assert.equal(again, elsewhere);
});

test("an address that is not of loopback is not taken again", async () => {
  const address = await freeLoopbackAddress({ ports: [0], random: seededRandom(1), preferred: "10.244.0.7" });
  assert.match(address ?? "", /^127\./);
});

test("where the ports are taken everywhere there is none", async (context) => {
  const taken = createServer().listen(0, "0.0.0.0");
  context.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  assert.equal(await freeLoopbackAddress({ ports: [port], random: seededRandom(1) }), undefined);
});
