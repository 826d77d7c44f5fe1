import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { claimPort, type PortRange, quietPorts } from "./claimed-port.ts";

const ranges: readonly (readonly [reason: string, range: PortRange, quiet: PortRange])[] = [
  ["Linux as it comes: below", [32_768, 60_999], [10_000, 32_767]],
  ["no room below: above", [1_024, 60_999], [61_000, 65_535]],
  ["just enough room", [12_000, 65_535], [10_000, 11_999]],
  ["every port is given out: then all are as good", [1_024, 65_535], [10_000, 65_535]],
];
for (const [reason, range, quiet] of ranges) {
  test(`ports that no connection gets: ${reason}`, () => assert.deepEqual(quietPorts(range), quiet));
}

test("a port that is claimed is nobody else's until it is let go", async () => {
  const [first, second] = [await claimPort(), await claimPort()];
  await second.release();
  const next = await claimPort([first.port, second.port]);
  assert.equal(next.port, second.port);
  await assert.rejects(claimPort([first.port, second.port]), /no port is free/);
  await first.release();
  const again = await claimPort([first.port]);
  assert.equal(again.port, first.port);
  await Promise.all([again.release(), next.release()]);
});

test("a port that somebody listens on is passed over, whichever the protocol", async () => {
  const [tcp, udp, free] = [await claimPort(), await claimPort(), await claimPort()];
  const ports = [tcp.port, udp.port, free.port];
  await Promise.all([tcp, udp, free].map((claim) => claim.release()));
  const server = createServer().listen(tcp.port, "127.0.0.1");
  const socket = createSocket("udp4");
  socket.bind(udp.port, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(socket, "listening")]);
  const claimed = await claimPort(ports);
  assert.equal(claimed.port, free.port);
  await claimed.release();
  server.close();
  socket.close();
});
