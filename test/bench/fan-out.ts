import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { PATIENCE_MS } from "./bench-flags.ts";
import { type Figure, type Findings, figure, inOneLine } from "./figures.ts";
import { rate } from "./load.ts";
import { createDeployments, createNamespace, deploymentsAtRest, putSecret, SHARED } from "./many-workloads.ts";
import { percentile } from "./punctuality.ts";
import { rawRoll, WIDTH } from "./raw-rolls.ts";
import type { RestartWorld } from "./restart-world.ts";
import { RollWatch } from "./roll-watch.ts";

export interface FanOutSizes {
  /** Deployments that use one Secret. */
  readonly fanOut: number;
  /** Of another one, while something else changes in namespaces of their own, one after the other. */
  readonly crowd: number;
  readonly lone: number;
  /** How often each is measured, after once for nothing; raw and restarts take turns. */
  readonly rounds: number;
  /** How long nothing is done between two measurements, once the server's own controllers are done. */
  readonly restMs: number;
}

/** Nothing is measured before so much of a fan-out is done, and after so much of it: then it is in full swing. */
const [FROM, TO] = [0.05, 0.9];
const SECRET_BYTES = 1024;

/**
 * One Secret that many Deployments use is changed: how long it takes until the last one is restarted, and how long a
 * change in another namespace takes meanwhile. Both beside a plain client that sends the same writes, as many at a time,
 * to as many Deployments that have not opted in, while the same watches are open. A change counts from when its write was
 * answered, until a watch shows the restart.
 */
export async function measureFanOut(world: RestartWorld, sizes: FanOutSizes): Promise<Findings> {
  const { kube, operator } = world;
  await populate(kube, sizes);
  await world.startOperator();
  await operator.untilIdle(PATIENCE_MS);
  const watch = new RollWatch(kube);
  try {
    await watch.synced();
    const rounds = new Rounds(kube, watch, sizes.restMs);
    for (let round = 0; round <= sizes.rounds; round++) await rounds.measure(sizes, round === 0);
    return {
      figures: figuresOf(rounds, sizes),
      details: { raw: rowsOf(rounds.raw), restarts: rowsOf(rounds.restarts) },
    };
  } finally {
    await watch.stop();
  }
}

/** Milliseconds: of whole fan-outs, and of single ones beside a crowd. */
interface Times {
  readonly fanOut: number[];
  readonly beside: number[];
}

const rowsOf = ({ fanOut, beside }: Times) => ({ fanOut: inOneLine(fanOut), beside: inOneLine(beside) });

class Rounds {
  readonly raw: Times = { fanOut: [], beside: [] };
  readonly restarts: Times = { fanOut: [], beside: [] };
  readonly #kube: Kube;
  readonly #watch: RollWatch;
  readonly #restMs: number;
  #changes = 0;

  constructor(kube: Kube, watch: RollWatch, restMs: number) {
    this.#kube = kube;
    this.#watch = watch;
    this.#restMs = restMs;
  }

  async measure({ fanOut, crowd, lone }: FanOutSizes, isWarmUp: boolean): Promise<void> {
    const times = {
      raw: { fanOut: [await this.#rawFanOut()], beside: await this.#rawBeside() },
      restarts: { fanOut: [await this.#fanOut(fanOut)], beside: await this.#beside(crowd, lone) },
    };
    if (isWarmUp) return;
    for (const who of ["raw", "restarts"] as const) {
      this[who].fanOut.push(...times[who].fanOut);
      this[who].beside.push(...times[who].beside);
    }
    console.log(JSON.stringify(times));
  }

  async #rawFanOut(): Promise<number> {
    const deployments = (await this.#rest()).filter(isIn("raw-fan-out"));
    const startedAt = performance.now();
    await this.#rollAll(deployments, () => {});
    return performance.now() - startedAt;
  }

  async #rawBeside(): Promise<number[]> {
    const deployments = await this.#rest();
    const [crowd, lone] = [deployments.filter(isIn("raw-crowd")), deployments.filter(isIn("raw-lone"))];
    const samples = new Samples(crowd.length, lone.length);
    const all = this.#rollAll(crowd, () => samples.noteDone());
    while (await samples.isInFullSwing()) {
      const deployment = lone[samples.ms.length];
      await samples.take(() => (deployment ? rawRoll(this.#kube, deployment) : Promise.resolve()));
    }
    await all;
    return samples.ms;
  }

  async #fanOut(count: number): Promise<number> {
    await this.#rest();
    const all = this.#watch.until("fan-out", this.#watch.count("fan-out") + count);
    await this.#change("fan-out");
    const startedAt = performance.now();
    await all;
    return performance.now() - startedAt;
  }

  async #beside(count: number, lone: number): Promise<number[]> {
    await this.#rest();
    const samples = new Samples(count, lone);
    const before = this.#watch.count("crowd");
    const noteAll = async (): Promise<void> => {
      for (let done = 1; done <= count; done++) {
        await this.#watch.until("crowd", before + done);
        samples.noteDone();
      }
    };
    const all = noteAll();
    await this.#change("crowd");
    while (await samples.isInFullSwing()) {
      const namespace = `lone-${samples.ms.length}`;
      const restarted = this.#watch.until(namespace, this.#watch.count(namespace) + 1);
      await this.#change(namespace);
      await samples.take(() => restarted);
    }
    await all;
    return samples.ms;
  }

  /** What one measurement has set going, events included, is not to slow down the next. */
  async #rest(): Promise<readonly KubeObject[]> {
    await deploymentsAtRest(this.#kube);
    await sleep(this.#restMs);
    return deploymentsAtRest(this.#kube);
  }

  async #rollAll(deployments: readonly KubeObject[], onDone: () => void): Promise<void> {
    await rate(deployments.length, WIDTH, async (index) => {
      const deployment = deployments[index];
      if (deployment) await rawRoll(this.#kube, deployment);
      onDone();
    });
  }

  async #change(namespace: string): Promise<void> {
    const word = `change ${this.#changes++}`;
    await putSecret(this.#kube, { namespace, name: SHARED, word, bytes: SECRET_BYTES });
  }
}

/** What single ones take that begin while a crowd is in full swing; one of them in any case. */
class Samples {
  readonly ms: number[] = [];
  readonly #crowd: number;
  readonly #most: number;
  readonly #begun = Promise.withResolvers<void>();
  #done = 0;

  constructor(crowd: number, most: number) {
    this.#crowd = crowd;
    this.#most = most;
  }

  noteDone(): void {
    this.#done++;
    if (this.#done >= this.#crowd * FROM) this.#begun.resolve();
  }

  async isInFullSwing(): Promise<boolean> {
    await this.#begun.promise;
    return this.ms.length === 0 || (this.ms.length < this.#most && this.#done < this.#crowd * TO);
  }

  async take(one: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    await one();
    this.ms.push(performance.now() - startedAt);
  }
}

const isIn =
  (namespace: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace;

const loneNamespaces = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `lone-${index}`);

/** Each namespace has a Secret of its own, and a twin whose Deployments have not opted in. */
async function populate(kube: Kube, { fanOut, crowd, lone }: FanOutSizes): Promise<void> {
  const namespaces = [
    ...[
      { namespace: "fan-out", count: fanOut },
      { namespace: "raw-fan-out", count: fanOut },
    ],
    ...[
      { namespace: "crowd", count: crowd },
      { namespace: "raw-crowd", count: crowd },
    ],
    ...loneNamespaces(lone).map((namespace) => ({ namespace, count: 1 })),
    { namespace: "raw-lone", count: lone },
  ];
  for (const { namespace, count } of namespaces) {
    await createNamespace(kube, namespace);
    await putSecret(kube, { namespace, name: SHARED, word: "first", bytes: SECRET_BYTES });
    const isOptedIn = !namespace.startsWith("raw-");
    await createDeployments(kube, count, (index) => ({ namespace, name: `app-${index}`, secret: SHARED, isOptedIn }));
  }
}

function figuresOf({ raw, restarts }: Rounds, { fanOut, crowd }: FanOutSizes): readonly Figure[] {
  const [rawAll, all] = [percentile(raw.fanOut, 0.5), percentile(restarts.fanOut, 0.5)];
  const [rawOne, one] = [percentile(raw.beside, 0.5), percentile(restarts.beside, 0.5)];
  return [
    figure(`${fanOut} raw patches: ms, median`, rawAll),
    figure(`1 Secret, ${fanOut} Deployments restarted: ms, median`, all),
    figure(`1 Secret, ${fanOut} Deployments: restarts / raw`, all / rawAll, "<= 2"),
    figure(`a raw patch during ${crowd} raw patches: ms, median`, rawOne),
    figure(`a restart elsewhere during ${crowd} restarts: ms, median`, one),
    figure(`a restart elsewhere during ${crowd}: restart / raw`, one / rawOne, "<= 2"),
  ];
}
