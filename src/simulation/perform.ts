import type { Ground, Player } from "./player.ts";
import type { ScheduleResult } from "./repertoire.ts";

/** How a schedule ends. */
interface Ending {
  recover(): Promise<void>;
  /** What its story says must come of it, and has not. */
  unmet(): string | undefined;
}

/** A schedule from where its scene was set to the end, and what the judge says of it. */
export async function perform(player: Player<Ground>, { recover, unmet }: Ending): Promise<ScheduleResult> {
  const { world } = player;
  world.trace("      --- from here on anything may happen");
  await player.play();
  world.trace("      --- from here on nothing goes wrong any more");
  await recover();
  const missing = unmet();
  if (missing !== undefined) player.accuse(`L1 ${missing}`);
  const { calls, disturbances, reconciles } = player;
  return { violations: world.violations, calls, disturbances, reconciles };
}
