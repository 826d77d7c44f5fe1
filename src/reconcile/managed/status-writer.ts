import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { formatInstant } from "../../base/instant.ts";
import type { State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { OutsideKey } from "../../providers/contract.ts";
import { type Condition, mergeConditions, type StoredCondition } from "../../report/conditions.ts";
import { CONDITION_TYPES, conditionsOf, type Hold } from "./conditions.ts";
import type { ManagedKind, ManagedSpec } from "./managed-kind.ts";
import { nextRotation } from "./next-rotation.ts";
import { fieldsOf, itemsOf } from "./read-fields.ts";

export interface StatusContent {
  readonly state: State;
  /** Undefined when the spec cannot be read. */
  readonly spec: ManagedSpec | undefined;
  readonly problem?: unknown;
  readonly hold?: Hold | undefined;
  readonly notices?: readonly string[];
  /** The active key, where it was seen. */
  readonly seen?: OutsideKey | undefined;
  readonly signal: AbortSignal;
}

/**
 * The one that persists a managed resource's status: state and conditions in a single write, by compare-and-swap, and no
 * write at all when nothing would change. Must not: decide what the state is.
 */
export class StatusWriter {
  readonly #kind: ManagedKind;
  readonly #kube: Kube;
  readonly #clock: Clock;

  constructor(options: { readonly kind: ManagedKind; readonly kube: Kube; readonly clock: Clock }) {
    this.#kind = options.kind;
    this.#kube = options.kube;
    this.#clock = options.clock;
  }

  /** Returns the object as it was stored; the same one when there was nothing to write. Throws `Conflict`. */
  async write(object: KubeObject, content: StatusContent): Promise<KubeObject> {
    const status = this.#statusOf(object, content);
    if (isDeepStrictEqual(status, fieldsOf(object.status))) return object;
    return this.#kube.replace(
      this.#kind.type,
      { ...object, status },
      { subresource: "status", signal: content.signal },
    );
  }

  #statusOf(
    object: KubeObject,
    { state, spec, problem, hold, notices = [], seen }: StatusContent,
  ): Readonly<Record<string, unknown>> {
    const stored = fieldsOf(object.status);
    const said = itemsOf(stored.conditions) as unknown[] as StoredCondition[];
    const wanted = conditionsOf({
      state,
      policy: spec?.policy,
      windows: spec?.windows ?? [],
      warnings: spec?.warnings ?? [],
      notices,
      problem,
      hold,
      isIneffective: state.postponedUntil !== undefined,
    });
    const conditions = mergeConditions(said, whileMaking(said, wanted, state), {
      nowAt: this.#clock.now(),
      generation: object.metadata.generation,
      ours: CONDITION_TYPES,
    });
    // Without a policy the dates of retired keys cannot be computed anew: what is there stays.
    const fields = spec
      ? {
          ...this.#kind.statusOf(state, spec.policy, { seen, stored }),
          nextRotation: dateOf(nextRotation(state, spec)),
          ...(this.#kind.keepsConfig && hasKeys(state) && { providerConfig: spec.providerConfig }),
        }
      : stored;
    return withoutAbsent({ ...fields, observedGeneration: object.metadata.generation, conditions });
  }
}

/** Or one to come. */
const hasKeys = ({ active, pending, retired }: State): boolean =>
  active !== undefined || pending !== undefined || retired.length > 0;

const dateOf = (at: number): string | undefined => (Number.isFinite(at) ? formatInstant(at) : undefined);

/** A problem stands until the key that it kept from being made is there: half-way there it is not solved yet. */
function whileMaking(
  stored: readonly StoredCondition[],
  wanted: readonly Condition[],
  { pending, isDeleting }: State,
): readonly Condition[] {
  const problem = stored.find(({ type, status }) => type === "Synced" && status === "False");
  if (!problem || !pending || isDeleting) return wanted;
  const { type, status, reason, message } = problem;
  const kept: Condition = { type, status, reason, ...(message !== undefined && { message }) };
  return wanted.map((condition) => (condition.type === type && condition.status === "True" ? kept : condition));
}

/** JSON has no undefined: what is absent must not be there at all, or nothing ever compares equal. */
function withoutAbsent(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value)) as Readonly<Record<string, unknown>>;
}
