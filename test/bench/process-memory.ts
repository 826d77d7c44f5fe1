import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Resident memory of a process in MB, as the kernel counts it. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** An idle operator gives memory back at most every fifteen seconds. */
const GIVEN_BACK_MS = 20_000;

/** Of an operator that has only just become idle, once it has given back what its work took. */
export async function restingMegabytes(pid: number): Promise<number> {
  await sleep(GIVEN_BACK_MS);
  return residentMegabytes(pid);
}
