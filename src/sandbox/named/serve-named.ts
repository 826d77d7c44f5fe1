import { Buffer } from "node:buffer";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Server, type Socket } from "node:net";
import { RndcProtocolViolation } from "../../rndc/errors.ts";
import { FrameReader, framed } from "../../rndc/frames.ts";
import type { Endpoint } from "./named-config.ts";
import { SandboxNamed, type SandboxNamedOptions } from "./sandbox-named.ts";

/**
 * Puts the stand-in on the addresses that its configuration names: the control channel over TCP, DNS over UDP and TCP.
 * Must not: listen anywhere but on loopback.
 */
interface ServedNamed {
  /** Resolves when it no longer listens, whoever has told it to stop. */
  readonly ended: Promise<void>;
  /** Breaks off what is under way. */
  stop(): Promise<void>;
}

/** As much as named itself takes of a command. */
const LARGEST_COMMAND = 32_768;

export async function serveNamed(options: Omit<SandboxNamedOptions, "onStop">): Promise<ServedNamed> {
  const sockets = new Set<Socket>();
  const closers: (() => Promise<void>)[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let closing: Promise<unknown> | undefined;
  const close = (): Promise<unknown> => {
    closing ??= Promise.all(closers.map((closer) => closer())).then(() => end());
    return closing;
  };
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await close();
  };
  // The command `stop` closes the doors alone: its own answer is yet to go out.
  const named = new SandboxNamed({ ...options, onStop: () => void close() });
  const serve = async (endpoint: Endpoint, serveSocket: (socket: Socket) => void): Promise<void> => {
    const server = createServer((socket) => {
      sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
      serveSocket(socket);
    });
    await listen(server, endpoint);
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
  };
  const { controls, listenOn } = named.config;
  try {
    if (controls) await serve(controls, (socket) => serveControl(named, socket, () => closing !== undefined));
    if (listenOn) {
      await serve(listenOn, (socket) => serveDnsStream(named, socket));
      closers.push(await serveDnsPackets(named, listenOn));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { ended, stop };
}

function serveControl(named: SandboxNamed, socket: Socket, isStopping: () => boolean): void {
  const session = named.controlSession(addressOf(socket));
  if (!session) {
    socket.destroy();
    return;
  }
  const frames = new FrameReader(LARGEST_COMMAND);
  socket.on("data", (piece) => {
    try {
      for (const message of frames.push(piece)) {
        const answer = session.receive(message);
        if (answer) socket.write(framed(answer));
        if (!answer || isStopping()) {
          socket.end();
          return;
        }
      }
    } catch (error) {
      if (!(error instanceof RndcProtocolViolation)) throw error;
      socket.destroy();
    }
  });
}

/** Over TCP a message has its length in front, in two bytes. */
function serveDnsStream(named: SandboxNamed, socket: Socket): void {
  let pending = Buffer.alloc(0);
  socket.on("data", (piece) => {
    pending = Buffer.concat([pending, piece]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE()) {
      const end = 2 + pending.readUInt16BE();
      const answer = named.answerDns(pending.subarray(2, end), { address: addressOf(socket), isUdp: false });
      pending = pending.subarray(end);
      if (!answer) {
        socket.destroy();
        return;
      }
      socket.write(Buffer.concat([Buffer.of(answer.length >> 8, answer.length & 0xff), answer]));
    }
  });
}

async function serveDnsPackets(named: SandboxNamed, { address, port }: Endpoint): Promise<() => Promise<void>> {
  const socket: UdpSocket = createSocket("udp4");
  socket.on("message", (bytes, client) => {
    const answer = named.answerDns(bytes, { address: client.address, isUdp: true });
    if (answer) socket.send(answer, client.port, client.address, () => {});
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners("error").on("error", () => {});
      resolve();
    });
  });
  return () => new Promise((resolve) => socket.close(() => resolve()));
}

function listen(server: Server, { address, port }: Endpoint): Promise<void> {
  if (!/^127\.\d+\.\d+\.\d+$/.test(address))
    throw new RangeError(`the stand-in listens on loopback alone, not on ${address}`);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

const addressOf = (socket: Socket): string => socket.remoteAddress ?? "";
