import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { folderFiles } from "../../src/sandbox/named/config-files.ts";
import { serveNamed } from "../../src/sandbox/named/serve-named.ts";
import { findProgram } from "../rndc/stages.ts";
import type { ServerName } from "../support/target.ts";

export interface RunningNamed {
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
  /** As when it crashes. */
  kill(): void;
}

/** BIND's own named, or what stands in for it. */
export interface NamedProgram {
  readonly name: string;
  start(configPath: string): Promise<RunningNamed>;
}

const GRACE_MS = 5_000;
const children = new Set<ChildProcess>();

const standInProgram: NamedProgram = {
  name: "the stand-in",
  async start(configPath) {
    const files = folderFiles(dirname(configPath));
    const served = await serveNamed({ files, configPath, clock: systemClock, random: systemRandom });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const stop = async (): Promise<void> => {
      await served.stop();
      resolve();
    };
    return { ended, stop, kill: () => void stop() };
  },
};

/** As the user who runs the tests; none outlives this process. */
const namedAt = (program: string): NamedProgram => ({
  name: "named",
  async start(configPath) {
    if (children.size === 0) process.once("exit", killAll);
    const child = spawn(program, ["-g", "-4", "-n", "1", "-c", configPath], { stdio: "ignore" });
    children.add(child);
    const ended = once(child, "exit").then(() => {
      children.delete(child);
    });
    return {
      ended,
      kill: () => void child.kill("SIGKILL"),
      async stop() {
        child.kill("SIGTERM");
        const impatience = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
        await ended;
        clearTimeout(impatience);
      },
    };
  },
});

function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** BIND's own on a real server, or where KEYTURN_TEST_NAMED says `bind`; else what stands in for it, which starts sooner. */
export const namedFor = async (server: ServerName): Promise<NamedProgram> =>
  server === "real" || process.env.KEYTURN_TEST_NAMED === "bind" ? findNamed() : standInProgram;

/** BIND's own where it is installed. */
export async function findNamed(): Promise<NamedProgram> {
  const program = await findProgram("named");
  return program === undefined ? standInProgram : namedAt(program);
}
