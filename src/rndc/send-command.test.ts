import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { systemClock } from "../base/clock.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { systemRandom } from "../base/random.ts";
import { RndcProtocolViolation, RndcRefused, RndcTimeout, RndcUnreachable } from "./errors.ts";
import { FrameReader, framed } from "./frames.ts";
import { answerTo, CANARY, peerKey } from "./peer.fixture.ts";
import { type CommandOptions, sendCommand } from "./send-command.ts";

/** What the server of this test does with the messages of a connection, counted from 0. */
type Behaviour = (message: Buffer, turn: number, socket: Socket) => void;

const honest: Behaviour = (message, _, socket) => socket.write(framed(answerTo(message, Date.now())));

let server: Server;
let behave: Behaviour = honest;
let onConnection: (socket: Socket) => void = () => {};
const sockets = new Set<Socket>();

before(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    const frames = new FrameReader(65_536);
    let turn = 0;
    socket.on("data", (piece) => {
      for (const message of frames.push(piece)) behave(message, turn++, socket);
    });
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});

after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const send = (options: Partial<CommandOptions> = {}) =>
  sendCommand({
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    key: peerKey,
    command: "status",
    timeoutMs: 5000,
    clock: systemClock,
    random: systemRandom,
    ...options,
  });

/** A failure of the given kind, of which the secret cannot be learnt. */
const failure =
  (kind: new (message: string) => { readonly mayHaveRun: boolean }, mayHaveRun: boolean, says = /./) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof kind, inspect(error));
    assert.equal(error.mayHaveRun, mayHaveRun);
    const shown = inspect(error, { depth: 9, showHidden: true });
    assert.match(shown, says);
    for (const form of [CANARY, Buffer.from(CANARY).toString("base64"), Buffer.from(CANARY).toString("hex")]) {
      assert.ok(!shown.includes(form));
    }
    return true;
  };

test("a command and its answer, in whatever pieces", async () => {
  behave = (message, _, socket) => {
    for (const byte of framed(answerTo(message, Date.now()))) socket.write(Buffer.of(byte));
  };
  assert.deepEqual(await send(), { text: "" });
});

test("nobody listens", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, "close");
  await assert.rejects(send({ port }), failure(RndcUnreachable, false, /ECONNREFUSED/));
});

test("a first message that is hung up on is a refusal that names what it may be", async () => {
  behave = (_message, _turn, socket) => socket.end();
  await assert.rejects(send(), failure(RndcRefused, false, /the key op-1.*hmac-sha256.*allow list.*clocks/));
  behave = (_message, _turn, socket) => socket.resetAndDestroy();
  await assert.rejects(send(), failure(RndcRefused, false));
});

test("a connection that is closed as soon as it is made is a refusal too", async () => {
  onConnection = (socket) => socket.destroy();
  await assert.rejects(send(), failure(RndcRefused, false));
  onConnection = () => {};
});

test("a command that is hung up on may have run", async () => {
  behave = (message, turn, socket) => (turn === 0 ? honest(message, turn, socket) : socket.end());
  await assert.rejects(send(), failure(RndcUnreachable, true, /may have run/));
});

for (const [turn, mayHaveRun] of [
  [0, false],
  [1, true],
] as const) {
  test(`answer ${turn + 1} cut off at any byte, or longer than any can be`, async () => {
    const size = framed(answerTo(await firstRequest(), Date.now())).length;
    const attempts = Array.from({ length: size - 1 }, (_, index) => index + 1);
    for (const end of attempts) {
      behave = (message, at, socket) => {
        const frame = framed(answerTo(message, Date.now()));
        if (at === turn) socket.end(frame.subarray(0, Math.min(end, frame.length - 1)));
        else socket.write(frame);
      };
      await assert.rejects(send(), failure(RndcProtocolViolation, mayHaveRun, /cut off/), `at ${end}`);
    }
    behave = (message, at, socket) => {
      if (at === turn) socket.write(Buffer.from("ffffffff", "hex"));
      else honest(message, at, socket);
    };
    await assert.rejects(send(), failure(RndcProtocolViolation, mayHaveRun, /4294967295 bytes/));
  });

  test(`answer ${turn + 1} that never comes ends with patience`, async () => {
    const clock = new ManualClock(Date.now());
    const reached = new Promise<void>((resolve) => {
      behave = (message, at, socket) => (at === turn ? resolve() : honest(message, at, socket));
    });
    const sent = assert.rejects(send({ clock }), failure(RndcTimeout, mayHaveRun, /no answer in 5000 ms/));
    await reached;
    await clock.advance(5000);
    await sent;
    assert.equal(clock.timerCount, 0);
  });

  test(`whoever waits for answer ${turn + 1} may give up`, async () => {
    const giveUp = new AbortController();
    behave = (message, at, socket) => (at === turn ? giveUp.abort() : honest(message, at, socket));
    await assert.rejects(send({ signal: giveUp.signal }), failure(RndcUnreachable, mayHaveRun, /given up/));
  });
}

test("whoever gave up before does not even ask", async () => {
  behave = () => assert.fail("asked");
  await assert.rejects(send({ signal: AbortSignal.abort() }), failure(RndcUnreachable, false, /given up/));
});

test("bytes that are no answer at all", async () => {
  behave = (_message, _turn, socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  await assert.rejects(send(), failure(RndcProtocolViolation, false));
});

/** As a client sends it; any will do to see how long an answer is. */
async function firstRequest(): Promise<Buffer> {
  const request = new Promise<Buffer>((resolve) => {
    behave = (message, _, socket) => {
      resolve(message);
      socket.end();
    };
  });
  await assert.rejects(send());
  return request;
}
