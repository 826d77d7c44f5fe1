import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import {
  type Annotations,
  annotationsOf,
  digestsAnnotation,
  RESTART_AGAIN_ANNOTATION,
  restartedAtAnnotation,
  STATE_ANNOTATION,
  STOPPED_ANNOTATION,
} from "../../restart/annotations.ts";
import type { RestartState, Rollout, SourceId, Use } from "../../restart/model.ts";
import { type OptIn, readOptIn } from "../../restart/opt-in.ts";
import { type PaceSettings, readPace } from "../../restart/pace.ts";
import { usesOf } from "../../restart/pod-uses.ts";
import { readMark, secretSource } from "../../restart/restart-mark.ts";
import { readState } from "../../restart/restart-state.ts";
import { rolloutOf } from "../../restart/rollout.ts";
import { type TemplateSight, templateSightOf } from "../../restart/template-sight.ts";
import { type PodTemplate, templateOfPod, type WorkloadKind } from "../../restart/workload-kinds.ts";
import { Interned } from "./interned.ts";
import type { RestartSettings } from "./restart-settings.ts";
import { ReadCounter, type ReadMark } from "./shared-reads.ts";

/** What is kept of a workload that takes part. Parts that many have in common are shared between their records. */
export interface WorkloadRecord {
  readonly namespace: string;
  readonly optIn: OptIn;
  readonly pace: PaceSettings;
  /** What of its annotations cannot be understood. */
  readonly problems: readonly string[];
  readonly uses: readonly Use[];
  readonly state: RestartState | undefined;
  /** The state is what this process remembers: on the workload it is gone, or somebody else's words. */
  readonly isStateLost?: true;
  /** What it is to be restarted for once more, and from when on; absent: nothing. */
  readonly again?: ReadonlyMap<SourceId, number>;
  /** Text of the breaker's mark. */
  readonly stopped: string | undefined;
  /** `<prefix>/digests` of the pod template. */
  readonly templateDigests: string | undefined;
  /** `<prefix>/restartedAt` of the pod template. */
  readonly templateRestartedAt: string | undefined;
  /** Absent where nothing rolls by itself. */
  readonly template?: TemplateSight;
  readonly rollout: Rollout;
  readonly isDeleting: boolean;
  /** When this version of it was seen: what is read after that is no older than what anybody has written into it. */
  readonly seenAt: ReadMark;
}

/** What the annotations of a workload say. */
interface Wish {
  readonly optIn: OptIn;
  readonly pace: PaceSettings;
  readonly problems: readonly string[];
}

const NOTHING_AGAIN: ReadonlyMap<SourceId, number> = new Map();
const NO_ROLLOUT: Rollout = { isComplete: true, isStuck: false, updated: 0, total: 0 };

/** Reads workloads; what repeats itself is kept once. Must not: keep anything of one that has not opted in. */
export class WorkloadReader {
  readonly #settings: Pick<RestartSettings, "prefixes" | "reloader" | "defaults">;
  readonly #wishes = new Interned<Wish | "none">();
  readonly #uses = new Interned<readonly Use[]>();
  readonly #again = new Interned<ReadonlyMap<SourceId, number>>();
  readonly #namespaces = new Interned<string>();
  readonly #rollouts = new Interned<Rollout>();
  readonly #counter: ReadCounter;

  constructor(settings: Pick<RestartSettings, "prefixes" | "reloader" | "defaults">, counter = new ReadCounter()) {
    this.#settings = settings;
    this.#counter = counter;
  }

  /** Undefined for a workload that has not opted in. */
  workload(kind: WorkloadKind, object: KubeObject): WorkloadRecord | undefined {
    const record = this.#record(
      object,
      kind.templateOf(object),
      kind.rolls === "byItself" ? rolloutOf(kind, object) : NO_ROLLOUT,
    );
    return record && kind.rolls === "byItself" ? { ...record, template: templateSightOf(kind, object) } : record;
  }

  /** A pod is its own template, and bears its annotations once. */
  pod(object: KubeObject): WorkloadRecord | undefined {
    return this.#record(object, { ...templateOfPod(object), annotations: {} }, NO_ROLLOUT);
  }

  /** What is left of the metadata that anything is read from. */
  slim({ name, namespace, uid, resourceVersion, generation, ...rest }: ObjectMeta): ObjectMeta {
    const { annotations = {}, managedFields, deletionTimestamp, ownerReferences } = rest;
    const isKept = (key: string): boolean =>
      key === STATE_ANNOTATION || key === STOPPED_ANNOTATION || this.#isSaying(key);
    const kept = Object.entries(annotations).filter(([key]) => isKept(key));
    const isState = annotations[STATE_ANNOTATION] !== undefined;
    return {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(generation !== undefined && { generation }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(ownerReferences !== undefined && { ownerReferences }),
      annotations: Object.fromEntries(kept),
      // Whose the state is can be seen there alone.
      ...(isState && managedFields !== undefined && { managedFields }),
    };
  }

  #record(object: KubeObject, template: PodTemplate, rollout: Rollout): WorkloadRecord | undefined {
    const { metadata } = object;
    const own = annotationsOf(metadata.annotations);
    const wish = this.#wishOf(own, template.annotations);
    if (!wish) return undefined;
    const uses = usesOf(template.spec);
    const { namespace = "" } = metadata;
    const again = wish.optIn.markedFor && this.#againOf(own);
    return {
      ...wish,
      namespace: this.#namespaces.of(namespace, () => namespace),
      uses: this.#uses.of(JSON.stringify(uses), () => uses),
      state: readState(object),
      ...(again && again.size > 0 && { again }),
      stopped: own[STOPPED_ANNOTATION],
      templateDigests: template.annotations[digestsAnnotation(wish.optIn.prefix)],
      templateRestartedAt: template.annotations[restartedAtAnnotation(wish.optIn.prefix)],
      rollout: this.#rollouts.of(JSON.stringify(rollout), () => rollout),
      isDeleting: metadata.deletionTimestamp !== undefined,
      seenAt: this.#counter.mark(),
    };
  }

  #againOf(own: Annotations): ReadonlyMap<SourceId, number> {
    const words = `${own[RESTART_AGAIN_ANNOTATION] ?? ""}`;
    const read = (): ReadonlyMap<SourceId, number> =>
      new Map(Array.from(readMark(own).again, ([name, at]) => [secretSource(name), at]));
    return words === "" ? NOTHING_AGAIN : this.#again.of(words, read);
  }

  #wishOf(own: Annotations, template: Annotations): Wish | undefined {
    const [ownWords, templateWords] = [this.#words(own), this.#words(template)];
    const wish = this.#wishes.of(JSON.stringify([ownWords, templateWords]), () =>
      this.#readWish(Object.fromEntries(ownWords), Object.fromEntries(templateWords)),
    );
    return wish === "none" ? undefined : wish;
  }

  #readWish(own: Annotations, template: Annotations): Wish | "none" {
    const { prefixes, reloader, defaults } = this.#settings;
    const optIn = readOptIn({ own, template, prefixes, reloader });
    if (!optIn || (!optIn.isIn && optIn.problems.length === 0)) return "none";
    const { leastIntervalMs = defaults.pace.leastIntervalMs } = optIn;
    const { problems, pace, windows } = readPace(
      { ...template, ...own },
      { ...defaults, pace: { ...defaults.pace, leastIntervalMs } },
    );
    return { optIn, pace: { pace, windows }, problems: [...optIn.problems, ...(optIn.isIn ? problems : [])] };
  }

  /** The annotations that say something of restarts, in the order of their names. */
  #words(annotations: Annotations): readonly (readonly [string, string])[] {
    return Object.entries(annotations)
      .filter(([key]) => this.#isSaying(key))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #isSaying(key: string): boolean {
    if (UNSAID.has(key)) return false;
    if (this.#settings.reloader && key.includes("reloader.stakater.com/")) return true;
    return this.#settings.prefixes.some(
      (prefix) =>
        key.startsWith(`${prefix}/`) && key !== digestsAnnotation(prefix) && key !== restartedAtAnnotation(prefix),
    );
  }
}

/** Of ours, and no wish: what is remembered, what has stopped it, and what changes with every restart. */
const UNSAID: ReadonlySet<string> = new Set([STATE_ANNOTATION, STOPPED_ANNOTATION, RESTART_AGAIN_ANNOTATION]);

/** The sources whose change may concern a workload: what it uses, and what it names; `kind/*` where it names many. */
export function sourcesOf({ uses, optIn }: WorkloadRecord): readonly string[] {
  const named = optIn.namedSources.map(({ kind, name = "*" }) => `${kind}/${name}`);
  return [...new Set([...uses.filter((use) => !use.isPullOnly).map(({ source }) => source), ...named])];
}

export const useOf = ({ uses }: WorkloadRecord, source: SourceId): Use | undefined =>
  uses.find((use) => use.source === source);

/** A rollout of ours that goes on. */
export const isRolling = ({ optIn, rollout, state }: WorkloadRecord): boolean =>
  optIn.isIn && !rollout.isComplete && !rollout.isStuck && (state?.restartedAt.length ?? 0) > 0;
