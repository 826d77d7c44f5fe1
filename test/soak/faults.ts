import { setTimeout as sleep } from "node:timers/promises";
import { integerBetween, pick, type Random } from "../../src/base/random.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { direct } from "../families/families.ts";
import type { StandInName } from "../families/stand-in.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import type { CutProxy } from "./cut-proxy.ts";
import type { Fault } from "./judge.ts";
import { API_TAG, INSTANCES, instanceId, instanceTag, type Member, resourceTag, SOAK, systemTag } from "./resources.ts";
import { type SoakSandbox, SYSTEMS } from "./soak-sandbox.ts";
import type { SoakWatch } from "./soak-watch.ts";

export interface FaultParts {
  readonly random: Random;
  readonly kube: Kube;
  readonly sandbox: SoakSandbox;
  readonly proxy: CutProxy;
  readonly watch: SoakWatch;
  /** Those whose Secrets and keys are harmed. */
  readonly members: readonly Member[];
  /** Between two of them, in seconds. */
  readonly pauseSeconds: readonly [number, number];
}

/** So many of a thousand Secrets or keys are harmed at a time. */
const HARMED_SHARE = 2 / 1000;
/** What a throttled client is asked to wait for. */
const RETRY_AFTER_MS = 1_000;
const LATENCY_MS = 1_500;
const LOST_ANSWERS = 20;
const BROKER_FAILURES = 4;

type Strike = () => Promise<void>;

/** Lets things go wrong, one after the other, each of them again and again; and writes down when, and for whom. */
export class Faults {
  readonly all: Fault[] = [];
  /** Whose active keys were removed outside, and which. */
  readonly removed = new Map<string, string>();
  readonly #parts: FaultParts;
  readonly #strikes: readonly Strike[];

  constructor(parts: FaultParts) {
    this.#parts = parts;
    this.#strikes = [
      () => this.#switchFor("unavailable", { outage: "unavailable" }, [2, 6]),
      () => this.#switchFor("throttled", { outage: "throttled", retryAfterMs: RETRY_AFTER_MS }, [2, 6], RETRY_AFTER_MS),
      () => this.#switchFor("slow", { latencyMs: LATENCY_MS }, [5, 15], LATENCY_MS),
      () => this.#switchFor("answers lost", { lostAnswers: LOST_ANSWERS }, [3, 6]),
      () => this.#switchFor("no tokens", { outage: "unavailable", outageScope: "token" }, [3, 6]),
      () => this.#brokerFails(),
      () => this.#cut(),
      () => this.#shut(),
      () => this.#harmSecrets(),
      () => this.#removeKeys(),
    ];
  }

  /** Until it is told to stop: all in turn, in another order each time. What has begun is ended. */
  async play(signal: AbortSignal): Promise<void> {
    const { random, pauseSeconds } = this.#parts;
    while (!signal.aborted) {
      for (const strike of shuffled(this.#strikes, random)) {
        await sleep(integerBetween(random, ...pauseSeconds) * 1000, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        await strike();
      }
    }
  }

  /** What there was, by name, and how often. */
  get counts(): Readonly<Record<string, number>> {
    const byName = Map.groupBy(this.all, ({ what }) => what);
    return Object.fromEntries([...byName].map(([what, all]) => [what, all.length]));
  }

  #seconds(range: readonly [number, number]): number {
    return integerBetween(this.#parts.random, ...range) * 1000;
  }

  #note(what: string, tag: string, startAt: number, moreMs = 0): void {
    this.all.push({ what, tag, startAt, endAt: Date.now() + moreMs });
  }

  /** The whole of an external system; what it asks clients to wait for, or holds back, is part of it. */
  async #switchFor(what: string, switches: object, range: readonly [number, number], moreMs = 0): Promise<void> {
    const { sandbox, random } = this.#parts;
    const system = pick(random, SYSTEMS);
    const startAt = Date.now();
    await sandbox.setSwitches(system, switches);
    await sleep(this.#seconds(range));
    await sandbox.allIsWell(system);
    this.#note(`${system}: ${what}`, systemTag(system), startAt, moreMs);
  }

  /** One service instance of many. It fails a few times: whoever fails alone, and for long, is tried again ever more seldom. */
  async #brokerFails(): Promise<void> {
    const { sandbox, random } = this.#parts;
    const system: StandInName = pick(random, SYSTEMS);
    const id = instanceId(integerBetween(random, 0, INSTANCES - 1));
    const startAt = Date.now();
    await sandbox.putInstance(system, id, { brokerFailures: BROKER_FAILURES });
    await sleep(this.#seconds([5, 15]));
    await sandbox.putInstance(system, id, { brokerFailures: 0 });
    this.#note(`${system}: a broker fails`, instanceTag(system, id), startAt);
  }

  async #cut(): Promise<void> {
    const startAt = Date.now();
    this.#parts.proxy.cut();
    this.#note("all connections to the API server break", API_TAG, startAt);
  }

  async #shut(): Promise<void> {
    const startAt = Date.now();
    this.#parts.proxy.shut();
    await sleep(this.#seconds([1, 3]));
    this.#parts.proxy.open();
    this.#note("the API server cannot be reached", API_TAG, startAt);
  }

  async #harmSecrets(): Promise<void> {
    const { watch, kube, random } = this.#parts;
    for (const { name, resource } of this.#some(this.#parts.members)) {
      const secret = watch.secrets.get({ namespace: SOAK, name });
      if (!secret || !watch.harmed(secret)) continue;
      const startAt = Date.now();
      const isDeleted = random.next() < 0.5;
      if (isDeleted) await kube.delete(secretType, { namespace: SOAK, name }).catch(ignoreMissing);
      else await this.#damage(secret);
      this.#note(isDeleted ? "a Secret is deleted" : "a Secret is damaged", resourceTag(resource), startAt);
    }
  }

  /** Half of what it holds is gone. */
  async #damage(secret: KubeObject): Promise<void> {
    const { name } = secret.metadata;
    const keys = Object.keys((secret.data ?? {}) as object);
    const data = Object.fromEntries(keys.slice(0, Math.ceil(keys.length / 2)).map((key) => [key, null]));
    const patch = { type: "merge", body: { data } } as const;
    await this.#parts.kube.patch(secretType, { namespace: SOAK, name }, patch, { fieldManager: "kubectl-edit" });
  }

  async #removeKeys(): Promise<void> {
    const { watch, sandbox, members } = this.#parts;
    const own = members.filter(({ family }) => family !== undefined && direct.includes(family));
    for (const { resource, family } of this.#some(own)) {
      const { activeId } = watch.lastSeen.get(resource) ?? {};
      if (activeId === undefined || !family) continue;
      const startAt = Date.now();
      if (!(await sandbox.removeKey(family.standIn, activeId))) continue;
      this.removed.set(resource, activeId);
      this.#note("a key is deleted outside", resourceTag(resource), startAt);
    }
  }

  #some<T>(all: readonly T[]): readonly T[] {
    const { random } = this.#parts;
    const count = Math.max(1, Math.round(all.length * HARMED_SHARE));
    return Array.from({ length: Math.min(count, all.length) }, () => pick(random, all));
  }
}

function shuffled<T>(all: readonly T[], random: Random): readonly T[] {
  return all
    .map((each) => ({ each, rank: random.next() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ each }) => each);
}
