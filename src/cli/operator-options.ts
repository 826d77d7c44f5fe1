import type { Logger } from "../base/logger.ts";
import { controllers } from "../reconcile/controllers.ts";
import type { Controller } from "../runtime/controller.ts";
import { createLogWriter } from "../runtime/log-writer.ts";
import type { Flags, OptionSpec, World } from "./command.ts";
import { readChoice, readList } from "./flag-values.ts";

/** The flags that `operator` and `up` share, and how they are read. */
export const operatorOptions: readonly OptionSpec[] = [
  {
    name: "controllers",
    value: "NAMES",
    description: `Controllers to switch on, separated by commas: ${controllers.map(({ name }) => name).join(", ")}.`,
    default: "*",
  },
  { name: "workers", value: "N", description: "How many objects a controller works on at a time.", default: "32" },
  { name: "log-level", value: "LEVEL", description: "debug, info, warn or error.", default: "info" },
];

export function readControllers(flags: Flags): readonly Controller[] {
  const known = controllers.map(({ name }) => name);
  const wanted = readList(flags, "controllers", known);
  return controllers.filter(({ name }) => wanted.includes(name));
}

export function readLogger(flags: Flags, world: World, format: "json" | "text"): Logger {
  return createLogWriter({
    clock: world.clock,
    level: readChoice(flags, "log-level", ["debug", "info", "warn", "error"]),
    format,
    write: (line) => world.stderr.write(line),
  });
}
