import { systemClock } from "../base/clock.ts";
import { seededRandom } from "../base/random.ts";
import type { Output, World } from "./command.ts";

export interface ScriptedWorld {
  readonly world: World;
  /** What was written so far. */
  readonly said: { stdout: string; stderr: string };
  /** As the system does when somebody wants it to stop. */
  signal(name: string): void;
}

/** A world for a command in the test's own process; an answer is what a person at a terminal types. */
export function scriptedWorld(
  options: Partial<Pick<World, "clock" | "random" | "environment">> & { readonly answer?: string | undefined } = {},
): ScriptedWorld {
  const { clock = systemClock, random = seededRandom(11), environment = {}, answer } = options;
  const said = { stdout: "", stderr: "" };
  const listeners: ((signal: string) => void)[] = [];
  const outputTo = (stream: "stdout" | "stderr"): Output => ({
    isTerminal: false,
    write: (text) => {
      said[stream] += text;
    },
  });
  const world: World = {
    clock,
    random,
    environment,
    workingDirectory: "/",
    homeDirectory: "/nonexistent",
    hostName: "host",
    processId: 1,
    version: "0",
    nodeVersion: "24.0.0",
    stdin: { isTerminal: answer !== undefined, readLine: async () => answer, readAll: async () => answer ?? "" },
    stdout: outputTo("stdout"),
    stderr: outputTo("stderr"),
    onStop: (callback) => void listeners.push(callback),
  };
  return {
    world,
    said,
    signal: (name) => {
      for (const listener of listeners) listener(name);
    },
  };
}
