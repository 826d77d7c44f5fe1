import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { ClusterError } from "./cluster-error.ts";
import type { Answer, Order } from "./supervisor.ts";

type Unsent<T> = T extends { readonly id: number } ? Omit<T, "id"> : never;

/**
 * On a machine of two cores the collector of the API server alone takes a quarter of what it works; memory is not what is
 * short there.
 */
const COLLECT_LATER = { GOGC: "800", GOMEMLIMIT: "6GiB" };

/**
 * Named processes that die with this one, however it dies: a supervisor in a session of its own is their parent and
 * watches a pipe from here. Should the supervisor itself vanish, the processes it reported are killed by pid.
 */
export class ProcessGroup {
  readonly #supervisor: ChildProcessByStdio<Writable, Readable, null>;
  readonly #pids = new Map<string, number>();
  readonly #pending = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  readonly #ended: Promise<void>;
  #nextId = 1;
  #hasEnded = false;

  /** `directory` is removed with the last of the processes, unless `end` is told to keep it. */
  constructor(directory: string, graceMs = 5000) {
    const script = path.join(import.meta.dirname, "supervisor.ts");
    this.#supervisor = spawn(process.execPath, [script, directory, String(graceMs)], {
      detached: true,
      env: { ...process.env, ...COLLECT_LATER },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#supervisor.stdin.on("error", () => {});
    createInterface({ input: this.#supervisor.stdout }).on("line", (line) => this.#receive(JSON.parse(line) as Answer));
    this.#ended = once(this.#supervisor, "exit").then(() => this.#supervisorGone());
  }

  async start(name: string, command: string, args: readonly string[], logFile: string): Promise<void> {
    const answer = await this.#ask({ kind: "start", name, command, args, logFile });
    if (answer.kind !== "started") throw new ClusterError(`${name} could not be started (${command})`);
    this.#pids.set(name, answer.pid);
  }

  async stop(name: string): Promise<void> {
    await this.#ask({ kind: "stop", name });
  }

  isRunning(name: string): boolean {
    return this.#pids.has(name);
  }

  /** Stops everything in the supervisor's order; resolves when all of it is gone. */
  async end(options: { readonly keepDirectory: boolean }): Promise<void> {
    // A supervisor that is gone already can keep nothing and remove nothing.
    if (options.keepDirectory) await this.#ask({ kind: "keep" }).catch(() => {});
    this.#supervisor.stdin.end();
    await this.#ended;
  }

  #ask(order: Unsent<Order>): Promise<Answer> {
    if (this.#hasEnded) return Promise.reject(new ClusterError("The cluster's supervisor has ended."));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#supervisor.stdin.write(`${JSON.stringify({ ...order, id })}\n`);
    });
  }

  #receive(answer: Answer): void {
    if (answer.kind === "exited") {
      this.#pids.delete(answer.name);
      return;
    }
    const waiting = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (answer.kind === "failed") waiting?.reject(new ClusterError(answer.message));
    else waiting?.resolve(answer);
  }

  #supervisorGone(): void {
    this.#hasEnded = true;
    for (const pid of this.#pids.values()) killQuietly(pid);
    this.#pids.clear();
    for (const waiting of this.#pending.values())
      waiting.reject(new ClusterError("The cluster's supervisor has ended."));
    this.#pending.clear();
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already, which is what was wanted.
  }
}
