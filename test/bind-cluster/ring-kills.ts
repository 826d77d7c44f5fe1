import { inlineSecret } from "../../src/bind/bind-objects.fixture.ts";
import { type KillPoint, WriteGate } from "../rotation/write-gate.ts";
import { Gateway, type Passage } from "../support/gateway.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import type { Target } from "../support/target.ts";
import type { BindScene } from "./bind-scene.ts";
import { BindStage } from "./bind-stage.ts";
import type { NamedProgram } from "./named-program.ts";
import { RndcWay } from "./rndc-way.ts";

/**
 * SIGKILL between any two steps of a rotation of a key that two instances share, each with a named of its own. It is told
 * undisturbed to learn its steps, writes and rndc commands alike; then once for each of them, and the operator dies before
 * or after that step. A round only waits for its kill: its end comes beside the next rounds, on other clusters, whose kills
 * it has to survive as well.
 */
export interface RingKillReport {
  readonly strategy: string;
  readonly named: string;
  /** The steps that undisturbed rotations had in common; those that were asked for, where nobody learned them. */
  readonly steps: readonly string[];
  readonly kills: number;
  /** Points that did not come in several rounds: servers need not be asked equally often each time. */
  readonly unreached: readonly string[];
  /** How often somebody with the published key was let in meanwhile. */
  readonly logins: number;
  readonly problems: readonly string[];
}

/** The points that should have come: how often servers are asked again, and the document's kinds told of it, varies. */
export const missedPoints = ({ unreached }: RingKillReport): readonly string[] =>
  unreached.filter((point) => !/RNDC .*\(no\. (?!1\))|\/bind9(instances|clusters)\/.*\/status /.test(point));

export interface RingKillOptions {
  readonly target: Target;
  readonly program: NamedProgram;
  readonly strategy: KillStrategy;
  /** The rounds to be played; those that depend on the steps there are cost two undisturbed ones more. */
  readonly points: readonly KillPoint[] | ((steps: readonly string[]) => readonly KillPoint[]);
  readonly onRound?: (point: KillPoint) => void;
}

export type KillStrategy = "Overlap" | "Restart";

const ATTEMPTS = 3;
const SERVERS = 2;
const LATE_MS = 400;
/** No name is part of another one: the gate tells steps by the names in them. */
const CLUSTERS = ["alder", "birch", "cedar"];

export async function ringKills(options: RingKillOptions): Promise<RingKillReport> {
  const { program, strategy, points: asked, onRound } = options;
  const kills = await RingKills.begin(options);
  try {
    const steps = typeof asked === "function" ? await kills.learnSteps() : asked.map(({ write }) => write);
    const points = typeof asked === "function" ? asked(steps) : asked;
    const unreached: string[] = [];
    for (const point of points) {
      onRound?.(point);
      if (!(await kills.killAt(point))) unreached.push(describe(point));
    }
    const { logins, problems } = await kills.end();
    return {
      strategy,
      named: program.name,
      steps,
      kills: points.length - unreached.length,
      unreached,
      logins,
      problems,
    };
  } finally {
    await kills.strike();
  }
}

/** One of the clusters, and what is still under way on it. */
interface Ground {
  readonly name: string;
  tale: Promise<void>;
}

class RingKills {
  readonly #stage: BindStage;
  readonly #scene: BindScene;
  readonly #gateway: Gateway;
  readonly #gate: WriteGate;
  readonly #grounds: readonly Ground[] = CLUSTERS.map((name) => ({ name, tale: Promise.resolve() }));
  readonly #problems: string[] = [];
  #operator: KeyturnOperator;
  #rounds = 0;

  static async begin({ target, program, strategy }: RingKillOptions): Promise<RingKills> {
    const way = new RndcWay();
    let gateway: Gateway | undefined;
    const stage = await BindStage.set({
      target,
      program,
      way,
      kubeconfigFor: async ({ kubeconfig }) => {
        gateway = await Gateway.start(kubeconfig);
        return gateway.kubeconfig;
      },
    });
    if (!gateway) throw new Error("there is no gateway");
    const kills = new RingKills({ stage, scene: await stage.scene("kills"), gateway, way });
    await kills.#furnish(strategy);
    return kills;
  }

  private constructor(parts: {
    readonly stage: BindStage;
    readonly scene: BindScene;
    readonly gateway: Gateway;
    readonly way: RndcWay;
  }) {
    this.#stage = parts.stage;
    this.#scene = parts.scene;
    this.#gateway = parts.gateway;
    this.#gate = new WriteGate([parts.gateway, parts.way]);
    this.#operator = this.#stage.startOperator();
  }

  /** What two undisturbed rotations had in common. */
  async learnSteps(): Promise<readonly string[]> {
    const [first, second] = [await this.#undisturbed(), await this.#undisturbed()];
    return first.filter((step) => second.includes(step));
  }

  /** Plays a round up to its kill; again, where it took another course and its point did not come. */
  async killAt(point: KillPoint): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const ground = await this.#nextGround();
      const killed = this.#lieInWait(ground, point);
      ground.tale = this.#rotate(ground).catch((error: unknown) => {
        this.#problems.push(`${describe(point)}: ${error instanceof Error ? error.message : error}`);
      });
      await Promise.race([killed, ground.tale]);
      if (!this.#gate.hasStruck) continue;
      await killed;
      return true;
    }
    return false;
  }

  /** Waits for everything that is under way. */
  async end(): Promise<Pick<RingKillReport, "logins" | "problems">> {
    await Promise.all(this.#grounds.map(({ tale }) => tale));
    const { logins, problems } = this.#stage.guard;
    return { logins, problems: [...this.#problems, ...problems] };
  }

  async strike(): Promise<void> {
    try {
      await this.#stage.strike();
    } finally {
      await this.#gateway.close();
    }
  }

  async #furnish(strategy: KillStrategy): Promise<void> {
    for (const { name } of this.#grounds) {
      const rndcKeys = { autoRotate: true, rotateAfter: "1h", strategy, secret: inlineSecret(keyOf(name)) };
      const overlap = strategy === "Overlap" && { overlap: "1s" };
      const spec = { global: { rndcKeys: { ...rndcKeys, ...overlap } }, primary: { replicas: SERVERS } };
      // Until its rollout is over, whoever has the new key is locked out: that is what the strategy is.
      if (strategy === "Restart") this.#stage.guard.excuse(`${this.#scene.namespace}/${keyOf(name)}`);
      await this.#scene.create("Bind9Cluster", name, { spec });
      // One of the two always learns of a key later than the other.
      this.#stage.kubelet.delays.set(`${this.#scene.namespace}/${name}-primary-1`, LATE_MS);
    }
    for (const { name } of this.#grounds) await this.#scene.atRest(keyOf(name), SERVERS);
  }

  async #undisturbed(): Promise<readonly string[]> {
    const ground = await this.#nextGround();
    void this.#lieInWait(ground);
    await this.#rotate(ground);
    return [...this.#gate.writes];
  }

  /** By turns, each once its former round is over. */
  async #nextGround(): Promise<Ground> {
    const ground = this.#grounds[this.#rounds++ % this.#grounds.length];
    if (!ground) throw new Error("there is no cluster");
    await ground.tale;
    return ground;
  }

  /** From one rest to the next: all servers accept the new key and refuse the old one, and the ring holds nothing else. */
  async #rotate({ name }: Ground): Promise<void> {
    await this.#scene.rotate(keyOf(name), SERVERS);
  }

  /** Resolves when the operator was killed at the point, and another one has taken its place. */
  #lieInWait({ name }: Ground, point?: KillPoint): Promise<void> {
    return new Promise((resolve) => {
      this.#gate.lieInWait({
        names: [name, this.#scene.namespace],
        isOurs: ({ path, body }: Passage) => path.includes(name) || body.includes(name),
        ...(point && { point }),
        strike: async () => {
          if (this.#operator.hasEnded) this.#problems.push(`an operator had ended by itself:\n${this.#operator.text}`);
          await this.#operator.stop("SIGKILL");
          this.#operator = this.#stage.startOperator();
          resolve();
        },
      });
    });
  }
}

const keyOf = (cluster: string): string => `${cluster}-key`;

const describe = ({ write, when }: KillPoint): string => `${when} ${write}`;
