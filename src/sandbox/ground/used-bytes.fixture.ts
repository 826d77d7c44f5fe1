import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** What is held in memory, without what nobody holds any more. */
export function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
