import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { seededRandom, systemRandom } from "../../base/random.ts";
import { RndcUnreachable } from "../../rndc/errors.ts";
import { generateRndcKey } from "../../rndc/key.ts";
import { printRndcKey } from "../../rndc/key-file.ts";
import { sendCommand } from "../../rndc/send-command.ts";
import { encodeDns } from "./dns/dns-message.ts";
import { CLASS, RCODE, rcodeOf, TYPE } from "./dns/numbers.ts";
import { openDns } from "./dns/tsig.ts";
import { memoryFiles } from "./memory-files.fixture.ts";
import { serveNamed } from "./serve-named.ts";

const HOST = "127.0.0.1";
const key = generateRndcKey("op-1", "hmac-sha256", seededRandom(1));

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const serve = (controlPort: number, dnsPort: number, address = HOST) => {
  const conf = `include "key";
controls { inet ${address} port ${controlPort} allow { localhost; } keys { op-1; }; };
options { listen-on port ${dnsPort} { ${HOST}; }; };
zone example.test { type primary; file "zone"; };`;
  const files = new Map([
    ["named.conf", conf],
    ["key", printRndcKey(key).reveal()],
    ["zone", "@ 60 SOA ns hostmaster 1 3600 600 86400 60"],
  ]);
  return serveNamed({ files: memoryFiles(files), configPath: "named.conf", clock: systemClock, random: systemRandom });
};

const command = (port: number, text: string) =>
  sendCommand({ host: HOST, port, key, command: text, timeoutMs: 10_000, clock: systemClock, random: systemRandom });

test("stop is answered, and nobody is served afterwards", async () => {
  const [controlPort, dnsPort] = [await freePort(), await freePort()];
  const served = await serve(controlPort, dnsPort);
  assert.deepEqual(await command(controlPort, "stop"), { text: "" });
  await assert.rejects(command(controlPort, "status"), RndcUnreachable);
  await served.ended;
  await served.stop();
});

test("a question over TCP is answered however it is cut into pieces", async () => {
  const [controlPort, dnsPort] = [await freePort(), await freePort()];
  const served = await serve(controlPort, dnsPort);
  const questions = [{ name: "example.test", type: TYPE.SOA, class: CLASS.IN }];
  const query = encodeDns({ id: 9, flags: 0, questions, answers: [], authorities: [], additionals: [] });
  const socket = connect(dnsPort, HOST);
  for (const byte of Buffer.concat([Buffer.of(0, query.length), query])) socket.write(Buffer.of(byte));
  const [reply] = (await once(socket, "data")) as [Buffer];
  const { message } = openDns(reply.subarray(2));
  assert.deepEqual([message.id, rcodeOf(message.flags), message.answers.length], [9, RCODE.NOERROR, 1]);
  socket.destroy();
  await served.stop();
});

test("where it cannot listen it leaves nothing behind", async () => {
  const taken = createServer().listen(0, HOST);
  await once(taken, "listening");
  const controlPort = await freePort();
  await assert.rejects(serve(controlPort, (taken.address() as AddressInfo).port), /EADDRINUSE/);
  await assert.rejects(command(controlPort, "status"), RndcUnreachable);
  taken.close();
});

test("listens on loopback alone", async () => {
  await assert.rejects(serve(await freePort(), await freePort(), "0.0.0.0"), /loopback alone/);
});
