import { KeyturnError, messageOf, UsageError } from "../base/errors.ts";
import { type Command, EXIT_CODES, type ExitCode, type World } from "./command.ts";
import { overview, page } from "./help.ts";
import { closest, parseFlags } from "./parse-flags.ts";

/**
 * From words to a command and its exit code. What a person can mend is one line on stderr; a stack is only ever shown for
 * a fault of ours. Must not: do the work of a command.
 */
export async function run(commands: readonly Command[], words: readonly string[], world: World): Promise<ExitCode> {
  const [name, ...rest] = words;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    const topic = commands.find(({ name: own, aliases = [] }) => [own, ...aliases].includes(rest[0] ?? ""));
    world.stdout.write(topic ? page(topic) : overview(commands, world.version));
    return 0;
  }
  try {
    const command = findCommand(commands, name);
    const flags = parseFlags(command, rest);
    if (flags.isOn("help")) {
      world.stdout.write(page(command));
      return 0;
    }
    return await command.run(flags, world);
  } catch (error) {
    world.stderr.write(`keyturn: ${explain(error)}\n`);
    return error instanceof UsageError ? EXIT_CODES.wrong : EXIT_CODES.failed;
  }
}

function findCommand(commands: readonly Command[], name: string): Command {
  if (name === "--version") return findCommand(commands, "version");
  const command = commands.find((candidate) => candidate.name === name || candidate.aliases?.includes(name));
  if (command) return command;
  const names = commands.map((candidate) => candidate.name);
  const near = closest(name, names);
  const what = name.startsWith("-") ? `flag ${name} before a command` : `unknown command "${name}"`;
  throw new UsageError(`${what}${near ? `, did you mean "${near}"?` : ""} (keyturn --help lists the commands)`);
}

function explain(error: unknown): string {
  if (error instanceof KeyturnError) return error.message;
  const stack = error instanceof Error ? `\n${error.stack}` : "";
  return `this should not have happened: ${messageOf(error)}${stack}`;
}
