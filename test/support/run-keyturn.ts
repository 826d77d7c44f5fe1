import { spawn } from "node:child_process";
import { SOURCE_MAIN } from "./keyturn-process.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a `keyturn` command to its end, in an environment without a cluster of the machine's own. */
export function runKeyturn(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  output: "pipe" | number = "pipe",
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ...environment };
    const child = spawn(process.execPath, [SOURCE_MAIN, ...words], {
      stdio: ["ignore", output, "pipe"],
      env,
      timeout: 30_000,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
