import assert from "node:assert/strict";
import type { Finished, KubectlOptions, World } from "./world.ts";

/** Runs kubectl and expects it to succeed; gives what it printed. */
export async function succeed(world: World, args: readonly string[], options: KubectlOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await world.kubectl(args, options);
  assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

export async function fail(world: World, args: readonly string[], options: KubectlOptions = {}): Promise<Finished> {
  const finished = await world.kubectl(args, options);
  assert.notEqual(finished.code, 0, `kubectl ${args.join(" ")} succeeded: ${finished.stdout}`);
  return finished;
}

/** A manifest on standard input. */
export const input = (manifest: object): KubectlOptions => ({ input: JSON.stringify(manifest) });
export const fromInput = ["-f", "-"];
