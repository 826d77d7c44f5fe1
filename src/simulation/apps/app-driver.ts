import type { AnyAct } from "../perturbation.ts";
import { Player } from "../player.ts";
import { DRIFT_CHECK_MS } from "../scene.ts";
import { type AppAct, performAppAct } from "./acts.ts";
import { judgeApps } from "./judge-rest.ts";
import type { AppWorld } from "./world.ts";

/** Drives operator processes through a story of applications. */
export class AppDriver extends Player<AppWorld> {
  /** What people do in other worlds is not done in this one. */
  person(name: AnyAct): Promise<void> {
    return performAppAct(this.world, name as AppAct);
  }

  /** Faults have stopped: everything must come to rest, stay there, and be of the latest version. */
  async recover(): Promise<void> {
    const { world } = this;
    this.wakeUp();
    // Whoever runs on a former Secret is looked for as long as there is one.
    if (world.hasPods) {
      await this.work(4);
      await this.person("stopPod");
    }
    await this.settle();
    await world.collectGarbage();
    await this.settle();
    world.clock.advance(DRIFT_CHECK_MS + 1000);
    await this.settle();
    await this.lookOnceMore();
    judgeApps(world);
  }
}
