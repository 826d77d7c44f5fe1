import type { KubeObject } from "../kube/objects.ts";
import { isDerived, podsOf, suspectsOf } from "./consumers/consumers.ts";
import { judgeChildSecrets, judgeRest, judgeStrays } from "./judge-rest.ts";
import { type ActName, act, type Backup, takeBackup } from "./person.ts";
import type { AnyAct, Plan } from "./perturbation.ts";
import { targetOf } from "./places.ts";
import { Player } from "./player.ts";
import type { Finish } from "./process.ts";
import { DRIFT_CHECK_MS } from "./scene.ts";
import type { World } from "./world.ts";

const LATE_MS = 60_000;
const ROUNDS_TO_PUBLISH = 12;

/**
 * Drives operator processes through a story: undisturbed while a scene is set, by a plan while it is played, undisturbed
 * again until everything is at rest. The judge is asked at the end.
 */
export class Driver extends Player<World> {
  backup: Backup;

  constructor(world: World, plan: Plan, backup: Backup = { resource: undefined, secret: undefined }) {
    super(world, plan);
    this.backup = backup;
  }

  async backUp(): Promise<void> {
    this.backup = await takeBackup(this.world);
  }

  /** What people do in other worlds is not done in this one. */
  person(name: AnyAct): Promise<void> {
    return act(this.world, name as ActName, this.backup);
  }

  protected override clockJumped(): void {
    this.world.tell((judge) => judge.clockJumped());
  }

  /** Once the Secret is what it should be, those who use it move. */
  async #moveOn(): Promise<void> {
    await this.work(ROUNDS_TO_PUBLISH);
    if (isDerived(this.world)) await this.person("derive");
    this.world.clock.advance(LATE_MS + 1000);
    await this.person("movePods");
  }

  /** Faults have stopped: everything must come to rest, stay there, and nothing may be left over. */
  async recover({ isMended = false }: { readonly isMended?: boolean | undefined } = {}): Promise<void> {
    const { world } = this;
    const isCalm = this.wakeUp();
    await world.mendOutside();
    const isInUse = podsOf(world).length > 0;
    const isMoving = isInUse && (this.hasPersonActed || this.hasTimePassed || isMended);
    if (this.hasPersonActed || isMended || isMoving) await this.person("mend");
    if (this.hasPersonActed) await this.person("unpause");
    if (isMoving) await this.#moveOn();
    // A child whose parent is gone may fail for as long as it is there.
    await world.collectGarbage();
    if (!isCalm) await this.settle();
    await world.collectGarbage();
    const rounds = world.hasLate || this.hasPersonActed ? 2 : 1;
    await world.landLate();
    for (let round = 0; round < rounds; round++) {
      // Lists catch up before anybody sweeps.
      world.clock.advance(LATE_MS);
      await world.sweep();
      world.clock.advance(DRIFT_CHECK_MS + 1000);
      await this.settle();
    }
    await world.collectGarbage();
    // What is being deleted outside by then is gone.
    world.clock.advance(LATE_MS);
    const finishes = await this.lookOnceMore();
    const [secrets, now] = [world.storedSecrets(), world.clock.now()];
    const owners = world.levels.flatMap(({ kind }) => world.stored(kind.type));
    judgeStrays(world.judge, secrets, new Set(owners.map(({ metadata }) => metadata.uid ?? "")));
    judgeChildSecrets(world.judge, secrets, (secret) => world.lostChildOf(secret));
    for (const { kind, judge, truth, ...level } of world.levels) {
      const finishOf = (name: string): Finish | undefined => finishes.get(targetOf(kind.type, name));
      const works = (secret: KubeObject): boolean => world.works(secret);
      const suspects = (id: string, replacedAt: number): readonly string[] => [
        ...world.usersOf(id),
        ...suspectsOf(world, replacedAt),
      ];
      judgeRest({ ...level, judge, truth: truth(), secrets, now, works, finishOf, suspectsOf: suspects });
    }
  }
}
