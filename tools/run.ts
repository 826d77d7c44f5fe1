import { spawn } from "node:child_process";

export interface Finished {
  readonly code: number;
  readonly output: string;
  readonly seconds: number;
}

/** Runs a command in the project's folder; its output is shown as it comes, or kept when `isQuiet`. */
export function runCommand(command: string, words: readonly string[], isQuiet = false): Promise<Finished> {
  const startedAt = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk;
      if (!isQuiet) process.stdout.write(chunk);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output, seconds: (Date.now() - startedAt) / 1000 }));
  });
}

/** What a command has printed; rejects with it where the command has failed. */
export async function demand(finished: Promise<Finished>): Promise<string> {
  const { code, output } = await finished;
  if (code !== 0) throw new Error(output);
  return output;
}

/** The project's folder. */
export const root = new URL("..", import.meta.url).pathname;
