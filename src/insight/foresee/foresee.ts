import { advance } from "../../engine/advance.ts";
import { decide } from "../../engine/decide.ts";
import type { Decision, Observation, SeenKey, Situation, State, WaitReason } from "../../engine/model.ts";
import { NOTHING_SEEN } from "../../engine/nothing-seen.ts";
import { isOpen, type MaintenanceWindow, nextOpening } from "../../engine/windows.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind, ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { situationOf } from "../../reconcile/managed/situation.ts";

/** One thing that will be done, or a time in which nothing is. */
export type Foreseen =
  | {
      readonly kind: "step";
      readonly at: number;
      readonly decision: Exclude<Decision, { kind: "wait" }>;
      readonly before: State;
      readonly after: State;
    }
  | { readonly kind: "rest"; readonly at: number; readonly until: number; readonly reason: WaitReason };

export interface ForeseeOptions {
  readonly kind: ManagedKind;
  readonly object: KubeObject;
  readonly spec: ManagedSpec;
  readonly now: number;
  /** The key to come is there, but is not ready yet. */
  readonly isAwaited?: boolean;
}

/** More steps without time passing than any sequence needs. */
const MAX_STEPS_AT_ONCE = 60;

/**
 * The future of a resource, from the very engine that will decide it: its steps are played through in a world where
 * everything outside is as the status says and every step succeeds at once. Endless for a resource that rotates: the
 * caller takes as much as is wanted. Must not: look at anything, or know what a step means to people.
 */
export function* foresee({
  kind,
  object,
  spec,
  now,
  isAwaited = false,
}: ForeseeOptions): Generator<Foreseen, void, undefined> {
  const situation = situationOf({
    kind,
    object,
    spec,
    observation: NOTHING_SEEN,
    now,
    isSkewed: false,
    driftCheckAt: Infinity,
    madeFrom: "",
    isComparable: () => true,
  });
  const rehearsal = new Rehearsal(situation, spec.windows, isAwaited);
  for (let steps = 0; steps < MAX_STEPS_AT_ONCE; steps++) {
    const { at, before } = rehearsal;
    const decision = rehearsal.decide();
    if (decision.kind === "wait") {
      yield { kind: "rest", at, until: decision.until, reason: decision.reason };
      if (!Number.isFinite(decision.until)) return;
      rehearsal.rest(decision.until);
      steps = -1;
      continue;
    }
    rehearsal.perform(decision);
    yield { kind: "step", at, decision, before, after: rehearsal.before };
  }
  throw new Error(`${object.metadata.name} does not come to rest`);
}

/** The resource, its Secret and its keys outside, as far as they are needed to go on. */
class Rehearsal {
  readonly #start: Situation;
  readonly #windows: readonly MaintenanceWindow[];
  readonly #outside: Map<string, SeenKey>;
  #state: State;
  #now: number;
  #observation = NOTHING_SEEN;
  #secret: Observation["secret"];

  constructor(start: Situation, windows: readonly MaintenanceWindow[], isAwaited: boolean) {
    this.#start = start;
    this.#windows = windows;
    this.#state = start.state;
    this.#now = start.surroundings.now;
    this.#outside = keysOf(start.state, isAwaited);
    const { active } = start.state;
    this.#secret = { keyId: active?.id, sequence: active?.sequence };
  }

  get at(): number {
    return this.#now;
  }

  get before(): State {
    return this.#state;
  }

  decide(): Decision {
    const { policy, surroundings } = this.#start;
    const { pending, active } = this.#state;
    return decide({
      policy,
      state: this.#state,
      observation: { ...this.#observation, secret: policy.publishes ? this.#secret : undefined },
      surroundings: {
        ...surroundings,
        now: this.#now,
        windows: { isOpen: isOpen(this.#windows, this.#now), opensAt: nextOpening(this.#windows, this.#now) },
        // What a key is made from stays as it is.
        madeFrom: (pending ?? active)?.madeFrom ?? "",
      },
    });
  }

  /** A later pass begins by knowing nothing. */
  rest(until: number): void {
    this.#now = Math.max(until, this.#now + 1);
    this.#observation = NOTHING_SEEN;
  }

  perform(decision: Exclude<Decision, { kind: "wait" }>): void {
    switch (decision.kind) {
      case "look":
        this.#see({ outside: [...this.#outside.values()] });
        return;
      case "observe": {
        const seen = this.#outside.get(decision.id) ?? "gone";
        this.#see({ observed: new Map(this.#observation.observed).set(decision.id, seen) });
        return;
      }
      case "adopt":
        this.#adopt(decision);
        return;
      case "intend":
        this.#state = advance(this.#state, decision);
        this.#observation = { ...NOTHING_SEEN, wroteIntent: decision.next.id === undefined };
        return;
      case "create":
        this.#create();
        return;
      case "publish":
        this.#secret = { keyId: decision.id, sequence: this.#state.pending?.sequence };
        this.#see({ published: decision.id });
        return;
      case "republish":
        this.#secret = { keyId: decision.id, sequence: this.#state.active?.sequence };
        return;
      case "commit":
        this.#commit(decision.id);
        return;
      case "removeFailed":
        this.#remove([decision.id]);
        return;
      case "askConsumers":
        this.#askConsumers(decision.ids);
        return;
      case "expire":
        this.#remove(decision.ids);
        this.#state = advance(this.#state, { kind: "forget", ids: decision.ids });
        return;
      default:
        this.#state = advance(this.#state, decision);
    }
  }

  #see(more: Partial<Observation>): void {
    this.#observation = { ...this.#observation, ...more };
  }

  #adopt({ id, next }: Extract<Decision, { kind: "adopt" }>): void {
    this.#outside.set(id, { ...next, id, createdAt: this.#now, state: "ready" });
    this.#state = advance(this.#state, { kind: "intend", next, retire: [] });
    this.#observation = NOTHING_SEEN;
  }

  /** Whoever was behind when the operator last asked still is; by the next look they have moved on. */
  #askConsumers(ids: readonly string[]): void {
    const isStart = this.#now === this.#start.surroundings.now;
    const whoOf = (id: string): readonly string[] => {
      const heldFor = this.#state.retired.find((key) => key.id === id)?.heldFor;
      return isStart && heldFor !== undefined ? [heldFor] : [];
    };
    const asked = ids.map((id) => [id, whoOf(id)] as const);
    this.#see({ consumers: new Map([...(this.#observation.consumers ?? []), ...asked]) });
  }

  #create(): void {
    const { pending } = this.#state;
    if (!pending) return;
    const { name, sequence } = pending;
    const key: SeenKey = { id: idOf(sequence), name, sequence, createdAt: this.#now, state: "ready" };
    this.#outside.set(key.id, key);
    this.#see({ outside: [...(this.#observation.outside ?? []), key] });
  }

  #commit(id: string): void {
    const { name = "", createdAt = this.#now } = this.#outside.get(id) ?? {};
    const key = { id, name, createdAt };
    const at = this.#now;
    this.#state = advance(this.#state, { kind: "commit", key, replacedAt: at, committedAt: at });
    this.#observation = { ...NOTHING_SEEN, hasCommitted: true };
  }

  #remove(ids: readonly string[]): void {
    for (const id of ids) this.#outside.delete(id);
    this.#see({ outside: this.#observation.outside?.filter((key) => !ids.includes(key.id)) });
  }
}

/** The id of a key that is not there yet. */
const idOf = (sequence: number): string => `key ${sequence}`;

/** The keys outside, if all is as the status says. Which of the earlier keys a retired one was makes no difference. */
function keysOf({ active, pending, retired, externalName }: State, isAwaited: boolean): Map<string, SeenKey> {
  const known: SeenKey[] = retired.map((key) => ({ ...key, state: "ready", sequence: 0 }));
  const activated = externalName === active?.id ? undefined : externalName;
  const pendingId = activated ?? pending?.id;
  if (pending && pendingId !== undefined) {
    known.push({ ...pending, id: pendingId, createdAt: pending.since, state: isAwaited ? "creating" : "ready" });
  }
  if (active) known.push({ ...active, state: "ready" });
  return new Map(known.map((key) => [key.id, key]));
}
