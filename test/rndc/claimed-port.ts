import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";

const HOST = "127.0.0.1";
/** Nobody has any business there: whoever listens on a port of it has claimed the port of that number on the usual one. */
const REGISTER = "127.255.255.1";
const RANGE_FILE = "/proc/sys/net/ipv4/ip_local_port_range";
/** Linux's own, where it does not say. */
const USUAL_RANGE: PortRange = [32_768, 60_999];
const [LOWEST, HIGHEST] = [10_000, 65_535];
/** So many are enough to find a free one. */
const ROOM = 2_000;
const ATTEMPTS = 200;

/** The first and the last of them. */
export type PortRange = readonly [first: number, last: number];

/** A port of the usual address on which nobody listened, and which nobody else who claims ports gets meanwhile. */
export interface ClaimedPort {
  readonly port: number;
  release(): Promise<void>;
}

/**
 * The ports that no connection gets for its own end: below the range of those, or above it where there is no room. One
 * that is free there stays so, unless somebody takes that very number.
 */
export function quietPorts([first, last]: PortRange): PortRange {
  if (first - LOWEST >= ROOM) return [LOWEST, first - 1];
  return HIGHEST - last >= ROOM ? [last + 1, HIGHEST] : [LOWEST, HIGHEST];
}

/** Claims one of the candidates; a process that ends lets go of its claims. */
export async function claimPort(candidates: Iterable<number> = anyQuietPorts()): Promise<ClaimedPort> {
  for (const port of candidates) {
    const claim = await listening(port, REGISTER);
    if (claim === "taken") continue;
    const release = async (): Promise<void> => {
      if (claim !== "nowhere") await closed(claim);
    };
    if (await isFree(port)) return { port, release };
    await release();
  }
  throw new Error("no port is free");
}

function* anyQuietPorts(): Iterable<number> {
  const [first, last] = quietPorts(ownRange());
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) yield first + Math.floor(Math.random() * (last - first + 1));
}

function ownRange(): PortRange {
  try {
    const [first, last] = readFileSync(RANGE_FILE, "utf8").trim().split(/\s+/).map(Number);
    return first && last ? [first, last] : USUAL_RANGE;
  } catch {
    return USUAL_RANGE;
  }
}

/** For both protocols of DNS. */
async function isFree(port: number): Promise<boolean> {
  const server = await listening(port, HOST);
  if (typeof server === "string") return false;
  await closed(server);
  const socket = createSocket("udp4");
  try {
    socket.bind(port, HOST);
    await once(socket, "listening");
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

/** `nowhere`: there is no such address on this machine, so that nobody can claim anything there. */
function listening(port: number, address: string): Promise<Server | "taken" | "nowhere"> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "EADDRNOTAVAIL" ? "nowhere" : "taken"),
    );
    server.listen(port, address, () => resolve(server.unref()));
  });
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
