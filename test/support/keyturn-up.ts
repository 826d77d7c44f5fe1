import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const folder = join(import.meta.dirname, "..", "..");
export const SOURCE_MAIN = join(folder, "src", "main.ts");
export const BUILT_MAIN = join(folder, "dist", "main.js");
const START_DEADLINE_MS = 30_000;

/** What `--ready-file` says. */
export interface ReadyFile {
  readonly kubeconfig: string;
  readonly api: string;
  readonly metrics?: string;
  readonly processId: number;
}

export interface KeyturnUp {
  readonly ready: ReadyFile;
  /** What it has printed so far. */
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Sends the signal and waits for the end; resolves to the exit code, or the signal's name. At once if it has ended. */
  stop(signal: NodeJS.Signals): Promise<number | string>;
}

export interface KeyturnUpOptions {
  readonly dataDirectory: string;
  readonly main?: string;
  readonly flags?: readonly string[];
}

/** Starts `keyturn up` as a user would, on state that is kept in a folder, and waits until it says that it is ready. */
export async function startKeyturnUp(options: KeyturnUpOptions): Promise<KeyturnUp> {
  const { dataDirectory, main = SOURCE_MAIN, flags = ["--no-examples", "--quiet", "--metrics-bind", "0"] } = options;
  const readyFile = join(dataDirectory, "ready.json");
  rmSync(readyFile, { force: true });
  const words = [main, "up", "--data-dir", dataDirectory, "--ready-file", readyFile, ...flags];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close") as Promise<[number | null, string | null]>;
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.stderr += chunk;
  });
  await waitForFile(readyFile, child, () => output.stderr);
  return {
    ready: JSON.parse(readFileSync(readyFile, "utf8")) as ReadyFile,
    output: () => output,
    stop: async (signal) => {
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by ?? "unknown";
    },
  };
}

async function waitForFile(path: string, child: ChildProcess, errors: () => string): Promise<void> {
  const deadlineAt = Date.now() + START_DEADLINE_MS;
  while (!existsSync(path)) {
    if (child.exitCode !== null) throw new Error(`keyturn up ended with ${child.exitCode}: ${errors()}`);
    if (Date.now() > deadlineAt) {
      child.kill("SIGKILL");
      throw new Error(`keyturn up was not ready after ${START_DEADLINE_MS} ms: ${errors()}`);
    }
    await sleep(20);
  }
}
