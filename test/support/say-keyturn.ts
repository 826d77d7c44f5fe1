import { commands } from "../../src/cli/commands.ts";
import { run } from "../../src/cli/run.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import type { Finished } from "./run-keyturn.ts";

/**
 * A `keyturn` command in the test's own process, without a cluster of the machine's own: says and ends as a process of its
 * own does, a second sooner.
 */
export async function sayKeyturn(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const { world, said } = scriptedWorld({ environment });
  const code = await run(commands, words, world);
  return { code, ...said };
}
