import type { RestartState, Rollout } from "../../restart/model.ts";
import type { OptIn } from "../../restart/opt-in.ts";
import type { PaceSettings } from "../../restart/pace.ts";
import type { Source } from "../../runtime/controller.ts";

/** A workload that has opted in, as the watches of the restart controller know it. */
export interface OptedIn {
  readonly optIn: OptIn;
  /** What was last rolled out of its sources; undefined: nothing is known of this very object. */
  readonly state: RestartState | undefined;
  /** The breaker's words, or somebody's. */
  readonly stopped?: string | undefined;
  readonly rollout?: Rollout;
  /** When it is restarted, where that is known. */
  readonly pace?: PaceSettings;
}

/** What the restart controller has in its caches that others need; it may be behind by as much as a watch is. */
export interface RestartView {
  /** By the name of the kind, such as `Deployment`; undefined for one that has not opted in, or is not there. */
  optedIn(kind: string, namespace: string, name: string): OptedIn | undefined;
  /** The keys of the workloads that bear a mark for this Secret; see `RESTART_FOR_ANNOTATION`. */
  markedFor(namespace: string, secret: string): readonly string[];
  /** Every watch of workloads is complete, and has heard from the server lately. */
  isFresh(): boolean;
}

/** How opting in is read, as the flags say. */
export interface OptInReading {
  /** `keyturn.dev` is always among them, first. */
  readonly prefixes: readonly string[];
  /** Reloader's annotations are read too. */
  readonly reloader: boolean;
}

/**
 * What one controller tells the others: it is made before any of them, given to all of them, and filled by the restart
 * controller, with its sources when it is created and with its view once its caches exist. Must not: be asked for its
 * view before every controller of the operator is there.
 */
export class RestartKnowledge {
  readonly reading: OptInReading;
  #sources: readonly Source[] = [];
  #view: RestartView | undefined;

  constructor(reading: OptInReading) {
    this.reading = reading;
  }

  /** Of workloads, a source for each kind. Whoever else looks at them names these very ones, and shares their watches. */
  get workloads(): readonly Source[] {
    return this.#sources;
  }

  get view(): RestartView | undefined {
    return this.#view;
  }

  /** When the restart controller is created; before those that wait for workloads. */
  watches(workloads: readonly Source[]): void {
    this.#sources = workloads;
  }

  /** When its caches exist. */
  fill(view: RestartView): void {
    this.#view = view;
  }
}
