import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { messageOf } from "../../base/errors.ts";

/**
 * A program that ends when we do, whatever we die of: a shell beside it waits at a pipe whose other end is ours, and kills
 * it when that closes without a word. Must not: leave a process behind, or end one that is not ours.
 */
export interface TiedProcess {
  readonly processId: number | undefined;
  /** Resolves when it has ended, whoever ended it, to what it said last. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** After `exec` the program has the number of the shell that started it, which the shell beside it knows as `$$`. */
const TIE = '{ read -r word <&3 || kill -9 $$; } >/dev/null 2>&1 & exec "$0" "$@" 3<&-';
const MAX_LAST_WORDS = 300;

/** In a group of its own: Ctrl-C is for us, and we tell it when its time has come. */
export function startTied(program: string, words: readonly string[]): TiedProcess {
  const child = spawn("/bin/sh", ["-c", TIE, program, ...words], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  const tie = child.stdio[3] as Writable;
  let said = "";
  child.stderr?.on("data", (piece: Buffer) => {
    said = `${said}${piece}`.slice(-4 * MAX_LAST_WORDS);
  });
  tie.on("error", () => {});
  // The word: there is nobody left to kill.
  child.once("exit", () => tie.end("over\n"));
  const ended = once(child, "close").then(() => lastLineOf(said), messageOf);
  return {
    processId: child.pid,
    ended,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const lastLineOf = (said: string): string => (said.trim().split("\n").at(-1) ?? "").slice(-MAX_LAST_WORDS);
