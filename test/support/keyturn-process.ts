import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const folder = join(import.meta.dirname, "..", "..");
export const SOURCE_MAIN = join(folder, "src", "main.ts");
export const BUILT_MAIN = join(folder, "dist", "main.js");
const START_DEADLINE_MS = 30_000;

/** A `keyturn` command that runs until it is stopped, seen from outside. */
export interface KeyturnProcess<Ready> {
  /** What its `--ready-file` says. */
  readonly ready: Ready;
  /** What it has printed so far. */
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Sends the signal and waits for the end; resolves to the exit code, or the signal's name. At once if it has ended. */
  stop(signal: NodeJS.Signals): Promise<number | string>;
}

export interface KeyturnProcessOptions {
  readonly words: readonly string[];
  readonly readyFile: string;
  readonly main?: string;
}

/** Starts a command as a user would, and waits until it says that it is ready. */
export async function startKeyturn<Ready>(options: KeyturnProcessOptions): Promise<KeyturnProcess<Ready>> {
  const { words, readyFile, main = SOURCE_MAIN } = options;
  rmSync(readyFile, { force: true });
  const child = spawn(process.execPath, [main, ...words, "--ready-file", readyFile], {
    stdio: ["ignore", "pipe", "pipe"],
  });
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
    ready: JSON.parse(readFileSync(readyFile, "utf8")) as Ready,
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
    if (child.exitCode !== null) throw new Error(`keyturn ended with ${child.exitCode}: ${errors()}`);
    if (Date.now() > deadlineAt) {
      child.kill("SIGKILL");
      throw new Error(`keyturn was not ready after ${START_DEADLINE_MS} ms: ${errors()}`);
    }
    await sleep(20);
  }
}
