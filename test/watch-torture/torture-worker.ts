import { parentPort, Worker, workerData } from "node:worker_threads";
import { EmbeddedTortureServer } from "./embedded-torture-server.ts";
import { type TortureReport, tortureListWatch } from "./list-watch-torture.ts";

/**
 * Runs the torture in a thread of its own: the test runner follows every promise of its tests, and with millions of them
 * that costs more than the torture itself.
 */
export function tortureInWorker(options: {
  readonly seed: number;
  readonly schedules: number;
  readonly keepsSome?: boolean;
}): Promise<TortureReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { torture: options } });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the torture ended without a report (exit code ${code})`)));
  });
}

const orders: unknown = workerData;

if (parentPort && typeof orders === "object" && orders !== null && "torture" in orders) {
  const torture = orders.torture as Parameters<typeof tortureInWorker>[0];
  parentPort.postMessage(
    await tortureListWatch({ ...torture, server: (options) => new EmbeddedTortureServer(options) }),
  );
}
