import type { AnyAct } from "../perturbation.ts";
import { Player } from "../player.ts";
import { performRestartAct, type RestartAct } from "./acts.ts";
import type { RestartWorld } from "./world.ts";

/** As long as a rollout that does not go on keeps others waiting. */
const LONGEST_HOLD_MS = 10 * 60_000;

/** Drives operator processes through a story of restarts. */
export class RestartDriver extends Player<RestartWorld> {
  /** What people do in other worlds is not done in this one. */
  person(name: AnyAct): Promise<void> {
    return performRestartAct(this.world, name as RestartAct);
  }

  protected override clockJumped(): void {
    this.world.judge.countLost();
  }

  /** Faults have stopped: everything must come to rest, stay there, and every pod must run on what is there. */
  async recover(): Promise<void> {
    const { world } = this;
    this.wakeUp();
    if (world.isJammed) await this.person("unjam");
    // No pod starts without it.
    if (this.hasPersonActed) await this.person("bringSecretBack");
    await this.settle();
    world.clock.advance(LONGEST_HOLD_MS);
    await this.settle();
    await this.lookOnceMore();
    world.judge.atRest();
  }
}
