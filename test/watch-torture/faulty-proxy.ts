import { connect, createServer, type Server, type Socket } from "node:net";
import { integerBetween, pick, type Random } from "../../src/base/random.ts";

/** What happens to one connection, once this many bytes have come from the server. */
interface ConnectionFault {
  readonly kind: "reset" | "half-close" | "stall" | "garble" | "refuse" | "drip";
  readonly afterBytes: number;
}

export interface FaultyProxy {
  readonly port: number;
  /** Connections that are open towards the client. */
  readonly connections: number;
  readonly faults: number;
  /** From now on new connections are sound; open ones keep their fate. */
  stopFaults(): void;
  /** Cuts every connection, as a restart does. */
  breakAll(): void;
  close(): Promise<void>;
}

/**
 * A TCP proxy in front of a TLS server that lets connections go wrong by seed: reset, closed on one side, silent for
 * ever, with a flipped bit, refused, or in tiny pieces. It sees encrypted bytes alone, as a real network does.
 */
export async function startFaultyProxy(options: {
  readonly target: number;
  readonly random: Random;
  readonly rate: number;
}): Promise<FaultyProxy> {
  const { random, target } = options;
  const clients = new Set<Socket>();
  let isFaulty = true;
  let faults = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    const fault = isFaulty && random.next() < options.rate ? drawFault(random) : undefined;
    if (fault) faults += 1;
    join(client, target, fault);
  });
  const port = await listen(server);
  return {
    port,
    get connections() {
      return clients.size;
    },
    get faults() {
      return faults;
    },
    stopFaults: () => {
      isFaulty = false;
    },
    breakAll: () => {
      for (const client of clients) client.resetAndDestroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function drawFault(random: Random): ConnectionFault {
  const kind = pick(random, ["reset", "half-close", "stall", "garble", "refuse", "drip"] as const);
  // The first two thousand bytes or so are the handshake; most faults shall hit what comes after.
  return {
    kind,
    afterBytes: random.next() < 0.2 ? integerBetween(random, 0, 1500) : integerBetween(random, 1500, 9000),
  };
}

function join(client: Socket, target: number, fault: ConnectionFault | undefined): void {
  client.on("error", () => client.destroy());
  if (fault?.kind === "refuse") {
    client.resetAndDestroy();
    return;
  }
  const upstream = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
  upstream.on("error", () => client.destroy());
  upstream.on("close", () => client.destroy());
  client.on("close", () => upstream.destroy());
  client.on("data", (chunk) => upstream.write(chunk));
  client.on("end", () => upstream.end());
  upstream.on("end", () => client.end());
  let seen = 0;
  upstream.on("data", (chunk) => {
    if (client.destroyed || client.writableEnded) return;
    const before = seen;
    seen += chunk.length;
    if (!fault || seen <= fault.afterBytes) client.write(chunk);
    else strike(client, chunk, Math.max(0, fault.afterBytes - before), fault);
  });
}

function strike(client: Socket, chunk: Buffer, sound: number, fault: ConnectionFault): void {
  switch (fault.kind) {
    case "reset":
      client.write(chunk.subarray(0, sound));
      client.resetAndDestroy();
      break;
    case "half-close":
      client.end(chunk.subarray(0, sound));
      break;
    case "garble": {
      const copy = Buffer.from(chunk);
      copy.writeUInt8(copy.readUInt8(sound) ^ 0x10, sound);
      client.write(copy);
      break;
    }
    case "drip":
      for (let at = 0; at < chunk.length; at += 7) client.write(chunk.subarray(at, at + 7));
      break;
    default:
      // Silent for ever: nothing more is passed on, and no end either.
      break;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
