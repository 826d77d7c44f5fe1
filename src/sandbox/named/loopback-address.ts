import { type AddressInfo, createServer } from "node:net";
import type { Random } from "../../base/random.ts";

const ATTEMPTS = 20;

export interface AddressWish {
  readonly ports: readonly number[];
  readonly random: Random;
  /** Taken where it is free: the address of before. */
  readonly preferred?: string | undefined;
}

/**
 * An address of loopback on which nobody listens on these ports: on most systems all of 127/8 is there for the taking.
 * Undefined where none is found.
 */
export async function freeLoopbackAddress({ ports, random, preferred }: AddressWish): Promise<string | undefined> {
  const isOurs = preferred !== undefined && /^127(?:\.\d{1,3}){3}$/.test(preferred);
  if (isOurs && (await isFree(preferred, ports))) return preferred;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [a = 0, b = 0, c = 0] = random.bytes(3);
    // Not 127.0.x.y, where resolvers and others of the system are.
    const address = `127.${1 + (a % 254)}.${b}.${1 + (c % 254)}`;
    if (await isFree(address, ports)) return address;
  }
  return undefined;
}

/** A port that nobody listened on a moment ago; undefined where the address is not there. */
export function freePort(address: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined));
    server.listen(0, address, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function isFree(address: string, ports: readonly number[]): Promise<boolean> {
  const free = await Promise.all(ports.map((port) => isPortFree(address, port)));
  return !free.includes(false);
}

function isPortFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
