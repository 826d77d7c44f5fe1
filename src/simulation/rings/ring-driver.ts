import type { AnyAct, Plan } from "../perturbation.ts";
import { Player } from "../player.ts";
import { DAY_MS, DRIFT_CHECK_MS } from "../scene.ts";
import { backUp, NO_BACKUP, performRingAct, type RingAct, type RingBackup, replaceLost } from "./acts.ts";
import { judgeRing } from "./judge-rest.ts";
import { KEY, PUBLISHED, RING, ringIn } from "./objects.ts";
import type { RingWorld } from "./world.ts";

/** Longer than any mount takes, and than a retired key lives. */
const MOUNTED_MS = 4 * 3_600_000;
const OVERLAP_MS = 2 * DAY_MS + 60_000;

/** Drives operator processes through a story of rings. */
export class RingDriver extends Player<RingWorld> {
  backup: RingBackup;

  constructor(world: RingWorld, plan: Plan, backup: RingBackup = NO_BACKUP) {
    super(world, plan);
    this.backup = backup;
  }

  backUp(): void {
    this.backup = backUp(this.world);
  }

  /** What people do in other worlds is not done in this one. */
  person(name: AnyAct): Promise<void> {
    return performRingAct(this.world, name as RingAct, this.backup);
  }

  /** Faults have stopped: everything must come to rest, stay there, and every named must accept one and the same. */
  async recover(): Promise<void> {
    const { world } = this;
    this.wakeUp();
    await this.person("mend");
    if (this.hasPersonActed) await this.person("unpause");
    // Nobody waits for a mount that comes after hours: time passes, and then it is there.
    await this.work(6);
    world.clock.advance(MOUNTED_MS);
    await this.work(6);
    if (this.hasPersonActed) await this.person("clearAway");
    await this.work(6);
    // With both Secrets the last key that anybody knew is lost: pods come to the next one only if somebody starts them.
    world.isLenient = this.#isAllLost();
    await this.work(6);
    await replaceLost(world);
    await this.settle();
    await world.collectGarbage();
    for (const ms of [DRIFT_CHECK_MS + 1000, OVERLAP_MS]) {
      world.clock.advance(ms);
      await this.settle();
    }
    const finishes = await this.lookOnceMore();
    judgeRing(world, finishes.get(`${KEY.namespace}/${KEY.name}`));
  }

  #isAllLost(): boolean {
    const { world } = this;
    const { active } = world.subject()?.state ?? {};
    const isKnown = (ringIn(world.secret(RING)) ?? []).some(({ id }) => id === active?.id);
    return !world.secret(PUBLISHED) && !isKnown;
  }
}
