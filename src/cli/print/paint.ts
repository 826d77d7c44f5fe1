import type { World } from "../command.ts";

/** Colours for a terminal; without one, or where `NO_COLOR` asks for it, the text as it is. */
export interface Paint {
  problem(text: string): string;
  notice(text: string): string;
  heading(text: string): string;
  faint(text: string): string;
}

export function createPaint({ stdout, environment }: Pick<World, "stdout" | "environment">): Paint {
  const isPlain = !stdout.isTerminal || Boolean(environment.NO_COLOR) || environment.TERM === "dumb";
  const painted =
    (code: number) =>
    (text: string): string =>
      isPlain || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
  return { problem: painted(31), notice: painted(33), heading: painted(1), faint: painted(2) };
}
