import { shortLength } from "../../../insight/words/when.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { recordsIn } from "../../../kube/record.ts";
import { annotationsOf, OWN_PREFIX, optInAnnotation } from "../../../restart/annotations.ts";
import type { SourceId, Use } from "../../../restart/model.ts";
import { type OptIn, readOptIn, type SourceMarks } from "../../../restart/opt-in.ts";
import { usesOf } from "../../../restart/pod-uses.ts";
import { partsOf } from "../../../restart/source-id.ts";
import type { PodTemplate } from "../../../restart/workload-kinds.ts";
import { type ClassWords, classWords, isClass } from "./class-words.ts";
import { type ReloaderAnnotation, reloaderAnnotations } from "./reloader-annotations.ts";

/** Something that may bear annotations of Reloader. */
export interface Candidate {
  readonly kindName: string;
  readonly object: KubeObject;
  readonly template: PodTemplate;
}

/** What there is to use in its namespace, by what it says of itself. */
export type KnownSources = ReadonlyMap<SourceId, SourceMarks>;

/** What becomes of one workload: plain values, for people and for JSON alike. */
export interface ReloaderWorkload {
  readonly kindName: string;
  readonly namespace: string;
  readonly name: string;
  readonly annotations: readonly ReloaderAnnotation[];
  /** What a change of which restarts it with Keyturn. */
  readonly restartsFor: readonly SourceId[];
  /** What of the annotations is not understood. */
  readonly problems: readonly string[];
  readonly changes: readonly string[];
  readonly toDo: readonly string[];
}

const UNMARKED: SourceMarks = { isMatched: false, isIgnored: false };

/** Undefined where Reloader has nothing to do with it. */
export function readReloaderWorkload(candidate: Candidate, known: KnownSources): ReloaderWorkload | undefined {
  const { kindName, object, template } = candidate;
  const own = annotationsOf(object.metadata.annotations);
  const annotations = reloaderAnnotations(own, template.annotations);
  const leftovers = leftoversIn(template);
  if (annotations.length === 0 && leftovers.length === 0) return undefined;
  const optIn = readOptIn({ own, template: template.annotations, prefixes: [], reloader: true });
  const uses = usesOf(template.spec);
  const isRestartable = !(kindName in NOT_RESTARTED);
  const restartsFor = optIn?.isIn && isRestartable ? countedBy(optIn, uses, known) : [];
  const classes = classWords(optIn, uses, (source) => known.get(source));
  const unclear = annotations.flatMap(({ problem }) => problem ?? []);
  const situation = { candidate, own, optIn, uses, known, classes, restartsFor, annotations, unclear, leftovers };
  const { namespace = "", name } = object.metadata;
  return {
    kindName,
    namespace,
    name,
    annotations,
    restartsFor,
    problems: [...unclear, ...(optIn?.problems ?? [])],
    changes: changesOf(situation),
    toDo: toDoFor(situation),
  };
}

interface Situation {
  readonly candidate: Candidate;
  readonly own: Readonly<Record<string, string>>;
  readonly optIn: OptIn | undefined;
  readonly uses: readonly Use[];
  readonly known: KnownSources;
  readonly classes: ClassWords;
  readonly restartsFor: readonly SourceId[];
  readonly annotations: readonly ReloaderAnnotation[];
  /** Which of them make no sense, or may be a slip. */
  readonly unclear: readonly string[];
  readonly leftovers: readonly string[];
}

/** What it uses, and what its patterns stand for. */
function countedBy(optIn: OptIn, uses: readonly Use[], known: KnownSources): readonly SourceId[] {
  const named = optIn.namedSources.flatMap(({ kind, name, matches }): readonly SourceId[] => {
    // What is not mounted of a class nobody can tell of.
    if (kind === "class") return [];
    if (name !== undefined) return [`${kind}/${name}`];
    return [...known.keys()].filter((source) => partsOf(source).kind === kind && matches(partsOf(source).name));
  });
  const candidates = new Set([...uses.map(({ source }) => source), ...named]);
  return [...candidates].filter((source) => optIn.counts(source, useIn(uses, source), marksOf(source, known))).sort();
}

/** Of a class nobody asks what it says of itself. */
const marksOf = (source: SourceId, known: KnownSources): SourceMarks =>
  (isClass(source) ? undefined : known.get(source)) ?? UNMARKED;

const useIn = (uses: readonly Use[], source: SourceId): Use | undefined => uses.find((use) => use.source === source);

/** Kinds that Reloader restarts and Keyturn does not, and why. */
export const NOT_RESTARTED: Readonly<Record<string, string>> = {
  Job: "Reloader deletes a Job and makes it again; Keyturn leaves it to run to its end",
  Rollout: "Argo Rollouts are not restarted by Keyturn",
};

function changesOf(situation: Situation): readonly string[] {
  const { candidate, optIn, uses, known, restartsFor } = situation;
  const { kindName } = candidate;
  const why = NOT_RESTARTED[kindName];
  if (why !== undefined) return [why];
  const partly = restartsFor.flatMap((source) => {
    const keys = useIn(uses, source)?.keys;
    return keys === undefined ? [] : [`${source} (only ${keys.join(", ")})`];
  });
  const unused = restartsFor.filter((source) => useIn(uses, source) === undefined && !known.has(source));
  const ignored = uses.filter(({ source }) => marksOf(source, known).isIgnored).map(({ source }) => source);
  return [
    ...ownWish(situation),
    ...(new Set(situation.annotations.map(({ on }) => on)).size > 1
      ? ["its own annotations about a kind of source go before those of its pod template"]
      : []),
    ...(restartsFor.length === 0 && optIn?.isIn ? ["nothing that is there leads to a restart"] : []),
    ...(partly.length > 0 ? [`only a change of what it uses restarts it: ${partly.join(", ")}`] : []),
    ...(ignored.length > 0 ? [`reloader.stakater.com/ignore keeps its meaning on ${ignored.join(", ")}`] : []),
    ...(unused.length > 0 ? [`named, and neither used nor there: ${unused.join(", ")}`] : []),
    ...situation.classes.changes,
    ...(kindName === "CronJob"
      ? ["its template is updated; Reloader starts a Job at once, Keyturn starts nothing"]
      : []),
    ...pauseOf(situation),
  ];
}

/** Our own annotation goes before Reloader's. */
function ownWish({ own, candidate: { template } }: Situation): readonly string[] {
  const annotation = optInAnnotation(OWN_PREFIX);
  const value = own[annotation] ?? template.annotations[annotation];
  if (value === undefined) return [];
  if (value === "false") return [`${annotation} is "false": it takes no part, whatever Reloader's annotations say`];
  return [`${annotation} is ${JSON.stringify(value)}: Reloader's annotations can only add to that`];
}

function pauseOf({ optIn, candidate: { kindName } }: Situation): readonly string[] {
  if (optIn?.leastIntervalMs === undefined) return [];
  const interval = `its pause period becomes a minimum interval of ${shortLength(optIn.leastIntervalMs)} between restarts`;
  if (kindName !== "Deployment") return [`${interval}; Reloader passes it over on a ${kindName}`];
  return [`${interval}; the Deployment itself is not paused any more`];
}

/** Marks that Reloader has left in the pod template: environment variables, or an annotation. */
function leftoversIn({ annotations, spec }: PodTemplate): readonly string[] {
  const containers = ["initContainers", "containers"].flatMap((field) => recordsIn(spec[field]));
  const variables = containers.flatMap(({ env }) =>
    recordsIn(env).flatMap(({ name }) => (typeof name === "string" && LEFT_VARIABLE.test(name) ? [name] : [])),
  );
  const note = "reloader.stakater.com/last-reloaded-from";
  return [...new Set([...variables, ...(annotations[note] === undefined ? [] : [note])])].sort();
}

const LEFT_VARIABLE = /^STAKATER_.+_(SECRET|CONFIGMAP|SECRETPROVIDERCLASS)$/;

function toDoFor({
  candidate: { kindName },
  optIn,
  classes,
  annotations,
  unclear,
  leftovers,
  restartsFor,
}: Situation): readonly string[] {
  const problems = optIn?.problems ?? [];
  const isRestartable = !(kindName in NOT_RESTARTED);
  const saysAll = annotations.some(({ name, value }) => name === "reloader.stakater.com/auto" && value === "true");
  return [
    ...(isRestartable ? [] : ["have whoever makes it restart it"]),
    ...(isRestartable && problems.length > 0 ? ["mend what is unclear, which counts for nothing now"] : []),
    ...(isRestartable && unclear.length > 0
      ? ["look whether it is a slip: mend it, or take it away; it counts for nothing"]
      : []),
    ...(isRestartable ? classes.toDo : []),
    ...(isRestartable &&
    problems.length === 0 &&
    unclear.length === 0 &&
    classes.toDo.length === 0 &&
    restartsFor.length > 0
      ? [
          saysAll
            ? `nothing; or write ${optInAnnotation(OWN_PREFIX)}: "true" instead of reloader.stakater.com/auto`
            : "nothing: the annotations stay",
        ]
      : []),
    ...(leftovers.length > 0
      ? [`take out ${leftovers.join(", ")} together with some other change: by itself that is one more restart`]
      : []),
  ];
}
