import { connect } from "node:net";
import { dirname } from "node:path";
import { type Clock, delay } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { folderFiles } from "./config-files.ts";
import { freeLoopbackAddress, freePort } from "./loopback-address.ts";
import type { Endpoint } from "./named-config.ts";
import { NamedFailure, RESULT } from "./named-failure.ts";
import { serveNamed } from "./serve-named.ts";
import { startTied } from "./tied-process.ts";

/** BIND's own named, or what stands in for it: either is started on a configuration in a folder, as the user we are. */
export interface NamedProgram {
  /** As people are told. */
  readonly name: string;
  /** Where it can listen: to be written into its configuration. Undefined where there is no room. */
  settle(wish: PlaceWish): Promise<Endpoints | undefined>;
  /** Resolves once it listens; throws where it does not come to that. */
  start(configPath: string, endpoints: Endpoints, signal: AbortSignal): Promise<RunningNamed>;
}

interface PlaceWish {
  readonly controlPort: number;
  readonly dnsPort: number;
  /** The address of before, if there was one. */
  readonly preferred: string | undefined;
}

export interface Endpoints {
  readonly control: Endpoint;
  readonly dns: Endpoint;
}

export interface RunningNamed {
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

interface Around {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The address of loopback that every system has. */
const LOOPBACK = "127.0.0.1";
const START_MS = 20_000;
const LOOK_MS = 50;

export const standInProgram = ({ clock, random, logger }: Around): NamedProgram => ({
  name: "a stand-in",
  async settle({ controlPort, dnsPort, preferred }) {
    const address = await freeLoopbackAddress({ ports: [controlPort, dnsPort], random, preferred });
    return address === undefined
      ? undefined
      : { control: { address, port: controlPort }, dns: { address, port: dnsPort } };
  },
  start: (configPath) =>
    serveNamed({
      files: folderFiles(dirname(configPath)),
      configPath,
      clock,
      random,
      log: (line) => logger.debug("the stand-in for named says", { line }),
    }),
});

/** It has its control channel wherever it is told to, but answers DNS only on addresses that interfaces have. */
export const namedProgram = (program: string, { clock, random }: Omit<Around, "logger">): NamedProgram => ({
  name: program,
  async settle({ controlPort, preferred }) {
    const address = await freeLoopbackAddress({ ports: [controlPort], random, preferred });
    const port = await freePort(LOOPBACK);
    return address === undefined || port === undefined
      ? undefined
      : { control: { address, port: controlPort }, dns: { address: LOOPBACK, port } };
  },
  async start(configPath, { control, dns }, signal) {
    const named = startTied(program, ["-g", "-4", "-n", "1", "-c", configPath]);
    const waiting = new AbortController();
    const lastWords = named.ended.finally(() => waiting.abort());
    const isUp = await areOpen([control, dns], clock, AbortSignal.any([signal, waiting.signal]));
    if (isUp) return named;
    await named.stop();
    throw new NamedFailure(RESULT.FAILURE, `it does not listen: ${await lastWords}`);
  },
});

/** The first, until that fails before it ever worked: a system may keep a program from files that we may read. */
export function withSubstitute(first: NamedProgram, second: NamedProgram, logger: Logger): NamedProgram {
  let hasWorked = false;
  let inUse = first;
  return {
    name: first.name,
    settle: (wish) => inUse.settle(wish),
    async start(configPath, endpoints, signal) {
      try {
        const running = await inUse.start(configPath, endpoints, signal);
        hasWorked = true;
        return running;
      } catch (error) {
        if (hasWorked || inUse === second || signal.aborted) throw error;
        const fields = { error: messageOf(error) };
        logger.warn(`${first.name} does not start here: ${second.name} takes its place`, fields);
        inUse = second;
        return second.start(configPath, endpoints, signal);
      }
    },
  };
}

async function areOpen(endpoints: readonly Endpoint[], clock: Clock, signal: AbortSignal): Promise<boolean> {
  const deadlineTick = clock.monotonic() + START_MS;
  while (!signal.aborted && clock.monotonic() < deadlineTick) {
    const open = await Promise.all(endpoints.map(isOpen));
    if (!open.includes(false)) return !signal.aborted;
    await delay(clock, LOOK_MS, signal);
  }
  return false;
}

function isOpen({ address, port }: Endpoint): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
