import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { podType } from "../../restart/workload-kinds.ts";
import type { Tampering } from "../assembly.ts";
import type { Perturbation } from "../perturbation.ts";
import type { Process } from "../process.ts";
import { encoded, STATE, type Workload } from "../restarts/shop.ts";
import { actOf, faultOf, type Mutant } from "./mutant.ts";

const ROLL = "keyturn-restart";
const ADOPT = "keyturn-restart-state";
const RESTARTED_AT = "keyturn.dev/restartedAt";

type Fields = Readonly<Record<string, unknown>>;
type Apply = KubeObject & { readonly spec?: Fields };

/** What an apply of the controller becomes; several are sent one after the other. */
const writing = (
  change: (body: Apply, manager: string, process: Process) => readonly Apply[] | undefined,
): Tampering => ({
  kube: (kube, process) => ({
    ...kube,
    patch: async <T extends KubeObject>(...input: Parameters<Kube["patch"]>): Promise<T> => {
      const [type, ref, patch, options] = input;
      const { fieldManager = "" } = options ?? {};
      const isOurs = patch.type === "apply" && (fieldManager === ROLL || fieldManager === ADOPT);
      const bodies = isOurs ? change(patch.body as Apply, fieldManager, process) : undefined;
      if (!bodies || !isOurs) return kube.patch<T>(type, ref, patch, options);
      let written: T | undefined;
      for (const body of bodies) written = await kube.patch<T>(type, ref, { ...patch, body }, options);
      return written as T;
    },
  }),
});

const withMetadata = (body: Apply, metadata: Fields): Apply => ({
  ...body,
  metadata: { ...body.metadata, ...metadata },
});

/** Whatever is adopted is rolled out with it. */
const rollingAnyway = (isMeant: (isKnown: boolean) => boolean): Tampering =>
  writing((body, manager, { watch }) => {
    const known = watch.list({ ...podType, group: "apps", plural: `${body.kind.toLowerCase()}s` });
    const workload = known.find(({ metadata }) => metadata.uid === body.metadata.uid);
    const isKnown = workload?.metadata.annotations?.[STATE] !== undefined;
    const template = { metadata: { annotations: { "keyturn.dev/restartedAt": "2020-01-01T00:00:00Z" } } };
    return manager === ADOPT && isMeant(isKnown) ? [{ ...body, spec: { template } }] : undefined;
  });

/** Workloads, as the watches tell of them. */
const seeing = (change: (workload: Workload, process: Process) => KubeObject): Tampering => ({
  restarts: { seen: (object, process) => (isWorkload(object) ? change(object, process) : object) },
});

const isWorkload = (object: KubeObject): object is Workload =>
  (object.spec as { readonly template?: unknown } | undefined)?.template !== undefined;

const withState = (workload: Workload, change: (state: Fields) => Fields | undefined): KubeObject => {
  const { [STATE]: text, ...annotations } = workload.metadata.annotations ?? {};
  const state = text === undefined ? undefined : change(JSON.parse(text) as Fields);
  return {
    ...workload,
    metadata: {
      ...workload.metadata,
      annotations: { ...annotations, ...(state && { [STATE]: JSON.stringify(state) }) },
    },
  };
};

/** Whoever wrote the state, it counts as ours. */
const claimed = (workload: KubeObject): KubeObject => ({
  ...workload,
  metadata: {
    ...workload.metadata,
    managedFields: [
      {
        manager: ADOPT,
        operation: "Apply",
        apiVersion: workload.apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:annotations": { [`f:${STATE}`]: {} } } },
      },
    ],
  },
});

/** A Secret is read once in a reconcile, whatever comes in between. */
const readOnce: Tampering = {
  kube: (kube, process) => {
    const known = new Map<string, Promise<KubeObject>>();
    return {
      ...kube,
      get: <T extends KubeObject>(...[type, ref, options]: Parameters<Kube["get"]>): Promise<T> => {
        if (type.kind !== secretType.kind) return kube.get<T>(type, ref, options);
        const key = `${process.begun} ${ref.name}`;
        const reading = known.get(key) ?? kube.get(type, ref, options);
        known.set(key, reading);
        return reading as Promise<T>;
      },
    };
  },
};

/** Pods that are on their way look as if they had come. */
const impatient: Tampering = {
  kube: (kube) => ({
    ...kube,
    list: async <T extends KubeObject>(...input: Parameters<Kube["list"]>) => {
      const list = await kube.list<T>(...input);
      if (input[0].kind !== podType.kind) return list;
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      return { ...list, items: list.items.map((pod) => ({ ...pod, status })) };
    },
  }),
};

/** What nobody uses of a Secret counts with what is used, once it has changed. */
const readingMore: Tampering = {
  kube: (kube) => ({
    ...kube,
    get: async <T extends KubeObject>(...input: Parameters<Kube["get"]>): Promise<T> => {
      const object = await kube.get<T>(...input);
      const { note } = (object.data ?? {}) as Readonly<Record<string, string>>;
      const isSame = note === undefined || note === encoded("nothing");
      return isSame ? object : { ...object, data: { note, password: note } };
    },
  }),
};

/** A key that is not there is one with another value. */
const readingNothing: Tampering = {
  kube: (kube) => ({
    ...kube,
    get: async <T extends KubeObject>(...input: Parameters<Kube["get"]>): Promise<T> => {
      const object = await kube.get<T>(...input);
      const isSecret = input[0].kind === secretType.kind;
      return isSecret ? { ...object, data: { password: "", ...(object.data as object | undefined) } } : object;
    },
  }),
};

/** What a process finds when it starts says nothing to it. */
const forgetful = (): Tampering => {
  const found = new WeakMap<Process, Map<string, string | undefined>>();
  return seeing((workload, process) => {
    const states = found.get(process) ?? new Map<string, string | undefined>();
    found.set(process, states);
    const { uid = "", annotations } = workload.metadata;
    if (!states.has(uid)) states.set(uid, annotations?.[STATE]);
    const isFound = annotations?.[STATE] === states.get(uid);
    return isFound ? withState(workload, () => undefined) : workload;
  });
};

const withoutVersions = (state: Fields): Fields => {
  const sources = Object.entries(state.sources as Readonly<Record<string, Fields>>);
  return { ...state, sources: Object.fromEntries(sources.map(([id, { version: _, ...source }]) => [id, source])) };
};

/** Its own controller has done what it is to do. */
const allOfTemplate = ({ metadata, spec, status }: Workload): Fields => ({
  ...(status as Fields | undefined),
  observedGeneration: metadata.generation,
  replicas: spec.replicas,
  updatedReplicas: spec.replicas,
});

/** Secrets, as if nothing had ever happened to them. */
const readAsOld: Tampering = {
  kube: (kube) => ({
    ...kube,
    get: async <T extends KubeObject>(...input: Parameters<Kube["get"]>): Promise<T> => {
      const object = await kube.get<T>(...input);
      const isSecret = input[0].kind === secretType.kind;
      return isSecret ? { ...object, metadata: { ...object.metadata, resourceVersion: "1" } } : object;
    },
  }),
};

/** No two of its templates are the same. */
const withMark = (workload: Workload): KubeObject => {
  const { template } = workload.spec;
  const annotations = { ...template.metadata.annotations, generation: `${workload.metadata.generation}` };
  const marked = { ...template, metadata: { ...template.metadata, annotations } };
  return { ...workload, spec: { ...workload.spec, template: marked } };
};

const listingNoPods: Tampering = {
  kube: (kube) => ({
    ...kube,
    list: async <T extends KubeObject>(...[type, options]: Parameters<Kube["list"]>) => {
      const found = await kube.list<T>(type, options);
      return type === podType ? { ...found, items: [] } : found;
    },
  }),
};

/** Whichever restart of ours is on the template, it is said to be the last one. */
function withLastRestart(workload: Workload): KubeObject {
  const { template } = workload.spec;
  const { annotations = {} } = template.metadata;
  const state = JSON.parse(workload.metadata.annotations?.[STATE] ?? "{}") as { readonly rolled?: string };
  if (annotations[RESTARTED_AT] === undefined || state.rolled === undefined) return workload;
  const metadata = { ...template.metadata, annotations: { ...annotations, [RESTARTED_AT]: state.rolled } };
  return { ...workload, spec: { ...workload.spec, template: { ...template, metadata } } };
}

/** Another one leads, and something has changed. */
const isOvertaken = (what: Perturbation): boolean => what.kind === "zombie" && what.begunBy !== undefined;

/** Rules about restarts. */
export const RESTARTING: readonly Mutant[] = (
  [
    {
      rule: "restartBaseline",
      name: "a workload of which nothing is known is restarted",
      tampering: rollingAnyway((isKnown) => !isKnown),
      stories: ["first", "revertState"],
    },
    {
      rule: "restartAdopt",
      name: "what is written down leads to a rollout",
      tampering: rollingAnyway((isKnown) => isKnown),
      stories: ["fight", "letGo", "useOther"],
    },
    {
      rule: "restartCas",
      name: "a restart is written whatever has become of the workload",
      tampering: writing((body) => [withMetadata(body, { resourceVersion: undefined })]),
      focus: isOvertaken,
      stories: ["change"],
    },
    {
      rule: "restartLive",
      name: "sources are not read again when somebody wrote first",
      tampering: readOnce,
      focus: isOvertaken,
      // Where its own controller rolls it, the template tells too.
      climates: ["bare"],
      stories: ["change"],
    },
    {
      rule: "restartAtOnce",
      name: "the state is written before the pod template",
      tampering: writing((body, manager) => {
        const { spec: _, ...state } = body;
        const { resourceVersion: __, ...metadata } = body.metadata;
        return manager === ROLL ? [state, { ...body, metadata }] : undefined;
      }),
      focus: faultOf("crashBefore", "crashAfter"),
      stories: ["change"],
    },
    {
      rule: "restartOwnState",
      name: "a state that somebody brings back counts",
      tampering: seeing(claimed),
      stories: ["undo", "restoreState"],
    },
    {
      rule: "restartOwnObject",
      name: "the state of another object counts",
      baseline: seeing(claimed),
      tampering: seeing((workload) =>
        claimed(withState(workload, (state) => ({ ...state, uid: workload.metadata.uid }))),
      ),
      stories: ["recreateAndChange"],
    },
    {
      rule: "restartRemembered",
      name: "what was rolled out is not read from the workload",
      tampering: forgetful(),
      stories: ["change"],
    },
    {
      rule: "restartOtherKey",
      name: "under another key the version of a source does not count",
      tampering: seeing((workload) => withState(workload, withoutVersions)),
      stories: ["loseKeyAndChange"],
    },
    {
      rule: "restartBrought",
      name: "somebody else's rollout brings a change as soon as it has begun",
      tampering: seeing((workload) => ({ ...workload, status: allOfTemplate(workload) })),
      stories: ["changeThenEdit"],
    },
    {
      rule: "restartBroughtLater",
      name: "a pod template brings what changed after it",
      tampering: readAsOld,
      stories: ["editThenChange"],
    },
    {
      rule: "restartBroughtBack",
      name: "a pod template that comes back is taken for another one",
      tampering: seeing(withMark),
      stories: ["changeThenEditUndone"],
    },
    {
      rule: "restartAgain",
      name: "pods that an undone restart has left are not looked for",
      tampering: listingNoPods,
      focus: actOf("revertTemplate"),
      climates: ["calm"],
      stories: ["change"],
    },
    {
      rule: "restartAgain",
      name: "a template with an earlier restart of ours is taken for one with the last",
      tampering: seeing(withLastRestart),
      focus: actOf("undoTemplate"),
      climates: ["calm"],
      stories: ["changeAgain"],
    },
    {
      rule: "restartBreaker",
      name: "restarts are not counted on the workload",
      tampering: seeing((workload) => withState(workload, (state) => ({ ...state, restarts: [] }))),
      stories: ["fight"],
    },
    {
      rule: "restartUsed",
      name: "a change of what is not used leads to a restart",
      tampering: readingMore,
      stories: ["otherKey"],
    },
    {
      rule: "restartEntry",
      name: "that a key goes leads to a restart",
      tampering: readingNothing,
      stories: ["entryLost"],
    },
    {
      rule: "restartOnly",
      name: "more than annotations is written",
      tampering: writing((body) => [withMetadata(body, { labels: { "keyturn.dev/seen": "true" } })]),
      stories: ["change"],
    },
    {
      rule: "restartOneByOne",
      name: "the next pod is deleted before the one before it is ready",
      tampering: impatient,
      climates: ["bare"],
      stories: ["jam", "change"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ ...mutant, family: "restart" }));
