import { ifFound } from "../../kube/if-found.ts";
import type { ObjectReader } from "../../kube/port.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { readOptIn } from "../../restart/opt-in.ts";
import { readState } from "../../restart/restart-state.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import type { OptedIn, OptInReading } from "./restart-knowledge.ts";
import { readWorkloadKey } from "./workload-key.ts";

/**
 * Who has opted in, as the workloads themselves say at this moment, each read once. For whoever is about to do what cannot
 * be undone: a watch may be behind without knowing it. Must not: live longer than the question that it was made for.
 */
export class LiveOptIns {
  readonly #kube: ObjectReader;
  readonly #reading: OptInReading;
  readonly #read = new Map<string, Promise<OptedIn | undefined>>();

  constructor(kube: ObjectReader, reading: OptInReading) {
    this.#kube = kube;
    this.#reading = reading;
  }

  /** Undefined for one that has not opted in, or is not there. */
  of(key: string, signal: AbortSignal): Promise<OptedIn | undefined> {
    const known = this.#read.get(key) ?? this.#look(key, signal);
    this.#read.set(key, known);
    return known;
  }

  async #look(key: string, signal: AbortSignal): Promise<OptedIn | undefined> {
    const { kind: kindName, namespace, name } = readWorkloadKey(key);
    const kind = kindOf(kindName);
    const object = kind && (await ifFound(this.#kube.get(kind.type, { namespace, name }, { signal })));
    if (!object) return undefined;
    const template = kind.templateOf(object).annotations;
    const optIn = readOptIn({ own: annotationsOf(object.metadata.annotations), template, ...this.#reading });
    return optIn?.isIn ? { optIn, state: readState(object) } : undefined;
  }
}
