import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kube } from "../../src/kube/port.ts";
import { takeLease } from "./foreign-lease.ts";
import { residentMegabytes } from "./process-memory.ts";

export interface OperatorMeasurement {
  readonly readySeconds: number;
  readonly residentMegabytes: number;
}

const main = join(import.meta.dirname, "..", "..", "dist", "main.js");
const SETTLE_MS = 3000;
const DEADLINE_MS = 60_000;

/**
 * Starts the built operator as it would run in a cluster and measures it once it is ready and has come to rest. It stands
 * by: what it takes to know the world is measured here, and what it takes to work on it elsewhere.
 */
export async function measureOperator(kubeconfig: string, kube: Kube): Promise<OperatorMeasurement> {
  const port = await freePort();
  const standby = await takeLease(kube);
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [main, "operator", "--kubeconfig", kubeconfig, "--metrics-bind", `127.0.0.1:${port}`, ...standby],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  try {
    await untilReady(port);
    const readySeconds = (performance.now() - startedAt) / 1000;
    await sleep(SETTLE_MS);
    return { readySeconds, residentMegabytes: residentMegabytes(child.pid ?? 0) };
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
}

async function untilReady(port: number): Promise<void> {
  const deadlineAt = performance.now() + DEADLINE_MS;
  for (;;) {
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > deadlineAt) throw new Error("the operator did not become ready");
    await sleep(20);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
