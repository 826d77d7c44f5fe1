import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { createInterface } from "node:readline";
import { text as readText } from "node:stream/consumers";
import { isatty } from "node:tty";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import type { Input, Output, World } from "./cli/command.ts";
import { GatheredOutput } from "./cli/gathered-output.ts";
import { run } from "./cli/run.ts";
import type { Heap } from "./runtime/idle-heap.ts";

/**
 * The only place that reads the environment and the process: everything below gets what it needs handed in. Must not:
 * hold logic; a command is a file in `cli/`.
 */
const output = (stream: NodeJS.WriteStream): Output => ({
  write: (text) => void stream.write(text),
  isTerminal: stream.isTTY === true,
  get columns() {
    return stream.isTTY ? stream.columns : undefined;
  },
});

const stderr = new GatheredOutput(output(process.stderr), systemClock);
process.on("exit", () => stderr.flush());

/** Touched only when something is read: to open it is to wait for it. */
const stdin: Input = {
  isTerminal: isatty(0),
  readAll: () => readText(process.stdin),
  readLine: async () => {
    const lines = createInterface({ input: process.stdin });
    try {
      for await (const line of lines) return line;
      return undefined;
    } finally {
      lines.close();
    }
  },
};

const collect = globalThis.gc;
// So many collections in a row would take every function for one that nobody needs any more, and the next hundred restarts
// would begin by compiling.
if (collect) setFlagsFromString("--no-flush-bytecode");
const heap: Heap | undefined = collect && {
  usedBytes: () => getHeapStatistics().used_heap_size,
  // No other flavour returns the emptied pages to the system.
  release: () => collect({ type: "major", execution: "sync", flavor: "last-resort" }),
};

/** A user that the system does not know, as in a container, has none; container runtimes would say the same. */
const home = (): string => {
  try {
    return homedir();
  } catch {
    return "/";
  }
};

const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const world: World = {
  clock: systemClock,
  random: systemRandom,
  environment: process.env,
  workingDirectory: process.cwd(),
  homeDirectory: home(),
  hostName: hostname(),
  processId: process.pid,
  version: (manifest as { version: string }).version,
  nodeVersion: process.versions.node,
  heap,
  stdin,
  stdout: output(process.stdout),
  stderr,
  onStop: (callback) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => callback(signal));
  },
};

// A reader that has gone (`keyturn crds | head`) is no fault of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`keyturn: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});

// Nor is a log that nobody reads any more a reason to leave keys unturned.
process.stderr.on("error", () => {});

const words = process.argv.slice(2);
/** An operator lives for months: of all commands it loads its own. */
const commands =
  words[0] === "operator"
    ? [(await import("./cli/operator-command.ts")).operatorCommand]
    : (await import("./cli/commands.ts")).commands;
const code = await run(commands, words, world);
// What was written is out, or the handler above has said why not.
await new Promise((resolve) => process.stdout.write("", resolve));
// Not exitCode: a socket that somebody forgot must not keep the process.
process.exit(code);
