import { advance } from "./advance.ts";
import { latestDeletion } from "./dates.ts";
import { decide } from "./decide.ts";
import type { Decision, Observation, Policy, Request, SeenKey, Situation, State } from "./model.ts";
import { NOTHING_SEEN } from "./nothing-seen.ts";

/**
 * A world just large enough for the engine: one resource, its Secret, and the keys outside. It performs decisions as the
 * reconciler would, one write at a time, and checks the promises after each. No ports, no I/O: what is tested is the
 * engine alone.
 */
export interface WorldKey extends SeenKey {
  readonly credentials: string;
}

const DAY_MS = 86_400_000;

export class EngineWorld {
  now = Date.UTC(2025, 10, 5);
  policy: Policy = {
    frequencyMs: 12 * DAY_MS,
    ttlMs: 14 * DAY_MS,
    forcedOverlapMs: DAY_MS,
    maxForced: 5,
    illGraceMs: 600_000,
    publishes: true,
  };
  state: State = {
    isDeleting: false,
    hasFinalizer: false,
    externalName: undefined,
    active: undefined,
    sequence: 0,
    pending: undefined,
    retired: [],
    request: undefined,
    fulfilled: undefined,
    postponedUntil: undefined,
    history: [],
  };
  readonly outside = new Map<string, WorldKey>();
  secret: { keyId: string; sequence: number; publishedAt: number } | undefined;
  observation: Observation = NOTHING_SEEN;
  /** Each pass begins with what this very process left: nobody else has touched the resource since. */
  isContinued = false;
  madeFrom = "v1";
  isComparable = true;
  isFrozen = false;
  isSkewed = false;
  may: Situation["surroundings"]["may"] = { create: true, delete: true };
  window: Situation["surroundings"]["windows"] = { isOpen: true, opensAt: undefined };
  driftCheckAt = Infinity;
  /** How much the API server's clock is ahead of ours, as it says of a Secret that is written. */
  serverAheadMs = 0;
  /** Every new key has the credentials of the one before. */
  givesSameCredentials = false;
  /** What a create leaves behind: `creating` where the outside takes its time. */
  createsAs: WorldKey["state"] = "ready";
  /** Broken promises, in words. */
  readonly broken: string[] = [];
  readonly log: string[] = [];
  /** Keys that the outside itself lost; the Secret may hold one of these until it is replaced. */
  readonly lost = new Set<string>();
  /** Who has not moved on from a key, by its id. */
  readonly behind = new Map<string, readonly string[]>();
  #nextId = 1;

  situation(): Situation {
    const { policy, state, now, madeFrom, isFrozen, isSkewed, driftCheckAt } = this;
    const seen = this.secret ?? { keyId: undefined, sequence: undefined };
    return {
      policy,
      state,
      observation: { ...this.observation, secret: seen },
      surroundings: {
        now,
        isPaused: false,
        isFrozen,
        isSkewed,
        windows: this.window,
        driftCheckAt,
        madeFrom,
        isComparable: () => this.isComparable,
        may: this.may,
        nameOf: (sequence) => `key-${sequence}`,
      },
    };
  }

  decide(): Decision {
    return decide(this.situation());
  }

  /** A new pass: what was in memory is forgotten, by a crash or because the pass was over. */
  forget(): void {
    this.observation = { ...NOTHING_SEEN, isContinued: this.isContinued };
  }

  /** Runs passes until there is nothing to do now; says how many steps it took. */
  settle(limit = 60): number {
    this.forget();
    for (let steps = 1; steps <= limit; steps++) {
      const decision = this.decide();
      if (decision.kind === "wait") return steps;
      this.perform(decision);
    }
    this.broken.push(`not settled after ${limit} steps: ${this.log.slice(-8).join(", ")}`);
    return limit;
  }

  ask(request: Request): void {
    this.state = { ...this.state, request };
  }

  perform(decision: Decision): void {
    this.log.push(decision.kind);
    this.#perform(decision);
    this.#check();
  }

  #perform(decision: Decision): void {
    switch (decision.kind) {
      case "look":
        this.observation = { ...this.observation, outside: [...this.outside.values()] };
        return;
      case "observe": {
        const observed = new Map(this.observation.observed).set(decision.id, this.outside.get(decision.id) ?? "gone");
        this.observation = { ...this.observation, observed };
        return;
      }
      case "adopt":
        this.#adopt(decision);
        return;
      case "create":
        this.#create();
        return;
      case "publish":
        if (this.givesSameCredentials && this.state.active) {
          this.observation = { ...this.observation, ineffective: decision.id };
          return;
        }
        if (this.#publish(decision.id, this.state.pending?.sequence ?? 0))
          this.observation = { ...this.observation, published: decision.id };
        return;
      case "republish":
        this.#publish(decision.id, this.state.active?.sequence ?? 0);
        return;
      case "commit":
        this.#commit(decision.id);
        return;
      case "removeFailed":
        this.#remove(decision.id);
        return;
      case "askConsumers":
        this.#askConsumers(decision.ids);
        return;
      case "expire":
        for (const id of decision.ids) this.#checkHold(id);
        for (const id of decision.ids) this.#remove(id);
        this.state = advance(this.state, { kind: "forget", ids: decision.ids });
        return;
      case "wait":
        return;
      default:
        this.state = advance(this.state, decision);
        if (decision.kind === "intend") {
          this.observation = { ...NOTHING_SEEN, wroteIntent: decision.next.id === undefined };
        } else if (decision.kind === "undo") this.forget();
    }
  }

  /** Adds a key outside, as a create does. */
  make(sequence: number | undefined, more: Partial<WorldKey> = {}): string {
    const id = `id-${this.#nextId++}`;
    const base: WorldKey = {
      id,
      name: `key-${sequence}`,
      createdAt: this.now,
      state: "ready",
      sequence,
      credentials: id,
    };
    this.outside.set(id, { ...base, ...more });
    return id;
  }

  #create(): void {
    const id = this.make(this.state.pending?.sequence, { state: this.createsAs });
    const key = this.outside.get(id);
    this.observation = { ...this.observation, outside: [...(this.observation.outside ?? []), ...(key ? [key] : [])] };
  }

  #adopt({ id, next }: Extract<Decision, { kind: "adopt" }>): void {
    const key = this.outside.get(id);
    if (!key || key.sequence !== undefined) {
      this.observation = { ...this.observation, adoption: key ? "foreign" : "absent" };
      return;
    }
    this.outside.set(id, { ...key, sequence: next.sequence });
    this.state = advance(this.state, { kind: "intend", next: { ...next, name: key.name }, retire: [] });
    this.observation = NOTHING_SEEN;
  }

  #publish(keyId: string, sequence: number): boolean {
    if (this.lost.has(keyId)) {
      // Its credentials could not be read: the pass ends, and the next one looks again.
      this.forget();
      return false;
    }
    if (!this.outside.has(keyId)) this.broken.push(`S1: ${keyId} was published and is dead`);
    this.secret = { keyId, sequence, publishedAt: this.now + this.serverAheadMs };
    return true;
  }

  #commit(id: string): void {
    const key = this.outside.get(id);
    if (!key) return;
    const { name, createdAt = this.now } = key;
    const replacedAt = this.secret?.publishedAt ?? this.now;
    this.state = advance(this.state, {
      kind: "commit",
      key: { id, name, createdAt },
      replacedAt,
      committedAt: this.now,
    });
    this.forget();
    this.observation = { ...this.observation, hasCommitted: true };
  }

  #askConsumers(ids: readonly string[]): void {
    const consumers = new Map(ids.map((id) => [id, this.behind.get(id) ?? []]));
    this.observation = {
      ...this.observation,
      consumers: new Map([...(this.observation.consumers ?? []), ...consumers]),
    };
    const heldFor = new Map(Array.from(consumers, ([id, who]) => [id, who.length > 0 ? who.join(", ") : undefined]));
    this.state = advance(this.state, { kind: "hold", heldFor });
  }

  #checkHold(id: string): void {
    const key = this.state.retired.find((one) => one.id === id);
    if (key && this.behind.has(id) && this.now < latestDeletion(this.policy, key))
      this.broken.push(`S3: ${id} was deleted while ${this.behind.get(id)?.join(", ")} had not moved on from it`);
  }

  #remove(id: string): void {
    const key = this.outside.get(id);
    if (key && key.state !== "failed") {
      if (id === this.state.active?.id) this.broken.push(`S2: the active key ${id} was deleted`);
      if (id === this.secret?.keyId) this.broken.push(`S2: the published key ${id} was deleted`);
      if (this.state.pending && key.sequence === this.state.pending.sequence)
        this.broken.push(`S2: the pending key ${id} was deleted`);
    }
    this.outside.delete(id);
    this.observation = { ...this.observation, outside: this.observation.outside?.filter((one) => one.id !== id) };
  }

  #check(): void {
    const { secret } = this;
    if (secret && !this.outside.has(secret.keyId) && !this.lost.has(secret.keyId)) {
      this.broken.push(`S1: the Secret holds ${secret.keyId}, which is dead`);
    }
  }
}

/** A world whose first key is made, published and active, by the process that goes on. */
export function settledWorld(policy: Partial<Policy> = {}): EngineWorld {
  const world = new EngineWorld();
  world.policy = { ...world.policy, ...policy };
  world.settle();
  world.isContinued = true;
  world.forget();
  return world;
}
