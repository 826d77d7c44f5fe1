import { UsageError } from "../../base/errors.ts";
import type { Flags, OptionSpec, World } from "../command.ts";

export const yesOption: OptionSpec = { name: "yes", short: "y", description: "Do not ask." };

/** Asks before much is changed at once. Where nobody can be asked, `--yes` must have been given. */
export async function isConfirmed(question: string, flags: Flags, { stdin, stderr }: World): Promise<boolean> {
  if (flags.isOn("yes")) return true;
  if (!stdin.isTerminal) throw new UsageError("nobody can be asked here: give --yes");
  stderr.write(`${question} [y/N] `);
  return /^y(es)?$/i.test(((await stdin.readLine()) ?? "").trim());
}
