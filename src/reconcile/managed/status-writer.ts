import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { mergeConditions, type StoredCondition } from "../../report/conditions.ts";
import { conditionsOf, type Hold } from "./conditions.ts";
import type { ManagedKind, ManagedSpec } from "./managed-kind.ts";
import { fieldsOf, itemsOf } from "./read-fields.ts";

export interface StatusContent {
  readonly state: State;
  /** Undefined when the spec cannot be read. */
  readonly spec: ManagedSpec | undefined;
  readonly problem?: unknown;
  readonly hold?: Hold | undefined;
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

  #statusOf(object: KubeObject, { state, spec, problem, hold }: StatusContent): Readonly<Record<string, unknown>> {
    const stored = itemsOf(fieldsOf(object.status).conditions) as unknown[] as StoredCondition[];
    const wanted = conditionsOf({
      state,
      policy: spec?.policy,
      warnings: spec?.warnings ?? [],
      problem,
      hold,
      isIneffective: state.postponedUntil !== undefined,
    });
    const conditions = mergeConditions(stored, wanted, {
      nowAt: this.#clock.now(),
      generation: object.metadata.generation,
    });
    // Without a policy the dates of retired keys cannot be computed anew: what is there stays.
    const fields = spec ? this.#kind.statusOf(state, spec.policy) : fieldsOf(object.status);
    return withoutAbsent({ ...fields, conditions });
  }
}

/** JSON has no undefined: what is absent must not be there at all, or nothing ever compares equal. */
function withoutAbsent(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value)) as Readonly<Record<string, unknown>>;
}
