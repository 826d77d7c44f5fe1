import type { Logger } from "../base/logger.ts";
import { Shutdown } from "../runtime/shutdown.ts";
import type { ExitCode, World } from "./command.ts";

/**
 * Starts something that runs until it is told to stop. Signals are heard from the first moment on: as the first process
 * of a container, one without a handler for them would not end at all. What is told to stop while it still starts leaves
 * with the steps it has added by then, and what fails in it from then on is no news.
 */
export async function runUntilStopped(
  world: World,
  logger: Logger,
  start: (shutdown: Shutdown) => Promise<void>,
): Promise<ExitCode> {
  const finished = Promise.withResolvers<ExitCode>();
  const shutdown = new Shutdown({ clock: world.clock, logger, exit: (code) => finished.resolve(code) });
  world.onStop((signal) => shutdown.handleSignal(signal));
  start(shutdown).catch((error: unknown) => {
    if (!shutdown.isUnderWay) finished.reject(error);
  });
  return finished.promise;
}
