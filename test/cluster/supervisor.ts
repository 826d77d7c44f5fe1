import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * The parent of the cluster's processes. It lives in a session of its own and takes orders as JSON lines on its standard
 * input; when that pipe closes, for whatever reason the other end died (`kill -9` included), it stops everything in the
 * order of `stopOrder`, removes the directory it was given as its argument, and leaves. Must not: know what the
 * processes are, or outlive the last of them.
 */
export type Order =
  | {
      readonly kind: "start";
      readonly id: number;
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly logFile: string;
    }
  | { readonly kind: "stop"; readonly id: number; readonly name: string }
  /** The directory stays, for its logs. */
  | { readonly kind: "keep"; readonly id: number };

export type Answer =
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  | { readonly kind: "stopped"; readonly id: number }
  | { readonly kind: "kept"; readonly id: number }
  | { readonly kind: "failed"; readonly id: number; readonly message: string }
  | { readonly kind: "exited"; readonly name: string; readonly code: number | null; readonly signal: string | null };

/**
 * Clients first, then the API server, then its etcd: an API server whose etcd has gone never ends on SIGTERM. A name
 * not listed here stops with the clients.
 */
const stopOrder: readonly string[] = ["kube-apiserver", "etcd"];
/** How long a process may take to end by itself. */
const graceMs = Number(process.argv[3]);

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

const running = new Map<string, Running>();

function answer(message: Answer): void {
  // The reader may be gone already; then nobody needs the answer.
  process.stdout.write(`${JSON.stringify(message)}\n`, () => {});
}

function start(order: Extract<Order, { kind: "start" }>): void {
  const log = openSync(order.logFile, "a");
  const child = spawn(order.command, order.args, { stdio: ["ignore", log, log] });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      running.delete(order.name);
      answer({ kind: "failed", id: order.id, message: error.message });
      resolve();
    });
    child.on("exit", (code, signal) => {
      running.delete(order.name);
      answer({ kind: "exited", name: order.name, code, signal });
      resolve();
    });
  });
  if (child.pid === undefined) return;
  running.set(order.name, { child, ended });
  answer({ kind: "started", id: order.id, pid: child.pid });
}

async function stop(name: string): Promise<void> {
  const process = running.get(name);
  if (process === undefined) return;
  process.child.kill("SIGTERM");
  const kill = setTimeout(() => process.child.kill("SIGKILL"), graceMs);
  await process.ended;
  clearTimeout(kill);
}

let isStopping = false;
let directory = process.argv[2];

async function stopEverything(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const clients = [...running.keys()].filter((name) => !stopOrder.includes(name));
  await Promise.all(clients.map(stop));
  for (const name of stopOrder) await stop(name);
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  process.exit(0);
}

async function obey(line: string): Promise<void> {
  const order = JSON.parse(line) as Order;
  if (isStopping) return;
  if (order.kind === "start") return start(order);
  if (order.kind === "keep") {
    directory = undefined;
    return answer({ kind: "kept", id: order.id });
  }
  await stop(order.name);
  answer({ kind: "stopped", id: order.id });
}

process.stdout.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stopEverything());
process.on("uncaughtException", () => void stopEverything());
process.on("unhandledRejection", () => void stopEverything());
createInterface({ input: process.stdin })
  .on("line", (line) => void obey(line))
  .on("close", () => void stopEverything());
