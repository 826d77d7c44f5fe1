import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../kube/objects.ts";
import { isTelling } from "../judge.ts";
import { type Call, type Doer, describeCall } from "../process.ts";
import { SECRET } from "../scene.ts";
import { MOST_PER_HOUR } from "./assembly.ts";
import { PLAYED } from "./played.ts";
import { NO_RESTART_BOOKS, type RestartBooks } from "./restart-books.ts";
import {
  isReady,
  madeFor,
  NAMESPACE,
  OPT_IN,
  OTHER_SECRET,
  STATE,
  STOPPED,
  sourceOf,
  TEMPLATE_ANNOTATIONS,
  type Template,
  valueIn,
  WEB,
  type Workload,
} from "./shop.ts";

/** What the judge may look at. */
export interface RestartCourt {
  readonly clock: { now(): number };
  readonly stepCount: number;
  workloads(): readonly Workload[];
  pods(): readonly KubeObject[];
  secret(name: string): KubeObject | undefined;
  trace(line: string): void;
}

/** When a process last took a workload in hand. */
export const TAKEN = "taken";

/** As it was before an effect. */
interface Before {
  readonly workloads: readonly Workload[];
  readonly pods: readonly KubeObject[];
}

const HOUR_MS = 3_600_000;

/**
 * S7: looks at workloads, pods and Secrets before and after every effect, and says which promise was broken. Which value a
 * pod was started with, and when a source changed, it knows from its own books. Must not: change anything.
 */
export class RestartJudge {
  readonly violations: string[] = [];
  readonly #court: RestartCourt;
  readonly #books: RestartBooks;
  #before: Before | undefined;
  #personStep = -1;

  constructor(court: RestartCourt, books: RestartBooks = NO_RESTART_BOOKS) {
    this.#court = court;
    this.#books = structuredClone(books);
  }

  copyBooks(): RestartBooks {
    return structuredClone(this.#books);
  }

  get revisions(): RestartBooks["revisions"] {
    return this.#books.revisions;
  }

  /** How often we have restarted the workload of this name. */
  rollsOf(name: string): number {
    const uid = this.#court.workloads().find(({ metadata }) => metadata.name === name)?.metadata.uid;
    return this.#books.rolls.get(uid ?? "")?.length ?? 0;
  }

  accuse(violation: string): void {
    this.violations.push(violation);
    this.#court.trace(`      !!! ${violation}`);
  }

  /** S6. */
  heard(text: string): void {
    if (isTelling(text)) this.accuse("S6 key material was said aloud");
  }

  countLost(): void {
    this.#books.isCountKnown = false;
  }

  /** What was known before, whoever starts now cannot compare with anything. */
  keyLost(): void {
    this.#books.keyLostAt.push(this.#court.stepCount);
  }

  get keysLost(): number {
    return this.#books.keyLostAt.length;
  }

  /** Somebody who is not the operator has done something; whoever has touched a state has taken it away. */
  personActed(before: readonly Workload[]): void {
    this.#personStep = this.#court.stepCount;
    for (const is of this.#court.workloads()) {
      const was = before.find(({ metadata }) => metadata.uid === is.metadata.uid);
      if (!was) continue;
      const isStateLost = was.metadata.annotations?.[STATE] !== is.metadata.annotations?.[STATE];
      if (isStateLost) this.#stateLost(was);
      // What is no longer used is forgotten: used again, it is what pods are taken to run on, whatever came in between.
      if (baselineKey(was) !== baselineKey(is)) {
        this.#books.baselines.delete(baselineKey(is));
        this.#excuse(is);
      }
      if (digestsOf(was.spec.template) === digestsOf(is.spec.template)) continue;
      // Pods that are still to be replaced live on, since by the template that came back they are the right ones: unless
      // the restart is begun again, which it is once, by whoever knows of it.
      if (isStateLost || !this.#isBegunAgain(is)) this.#excuse(is);
      this.#books.reverted.add(uidOf(is.metadata));
    }
    this.noteSources();
    this.#noteWorld();
  }

  #isBegunAgain({ kind, metadata }: Workload): boolean {
    const { reverted, begunAgain } = this.#books;
    const uid = uidOf(metadata);
    return kind !== "ReplicaSet" && !reverted.has(uid) && !begunAgain.has(uid);
  }

  /** Whoever remembers it may write it down again, and then it counts as it did. */
  #stateLost(was: Workload): void {
    const { baselines, noted } = this.#books;
    for (const [key, at] of [...baselines]) {
      if (!key.startsWith(`${uidOf(was.metadata)} `)) continue;
      baselines.delete(key);
      // Under another key of the digests, the same may have come to be written down in other words.
      noted.set(`${key} ${notedDigest(was)}`, at);
    }
    this.countLost();
  }

  /** Whoever lets restarts go on has the count begin anew. */
  released(uid: string): void {
    this.#books.rolls.delete(uid);
    this.#books.stopped.delete(uid);
  }

  noteSources(): void {
    const { values } = this.#books;
    for (const name of [SECRET.name, OTHER_SECRET]) {
      for (const uses of ["password", "all"]) {
        const source = `${name}/${uses}`;
        const [known = [], value] = [values.get(source), valueIn(this.#court.secret(name), source)];
        if (value !== undefined && value !== known.at(-1)?.value)
          values.set(source, [...known, { at: this.#court.stepCount, value }]);
      }
    }
  }

  /** What has started since, and what the workload has been. */
  #noteWorld(): void {
    const { runsOn, revisions } = this.#books;
    for (const pod of this.#court.pods()) {
      const uid = uidOf(pod.metadata);
      const value = this.#valueNow(sourceOf(pod.metadata));
      // One whose key of the Secret is not there waits for it, whatever its status says here.
      if (value !== undefined && isReady(pod) && !runsOn.has(uid))
        runsOn.set(uid, { at: this.#court.stepCount, value });
    }
    const web = this.#court.workloads().find(({ metadata }) => metadata.name === WEB.name);
    if (!web) return;
    const { template } = web.spec;
    const revision = { template, annotations: web.metadata.annotations ?? {} };
    if (isDeepStrictEqual(revisions.at(-1)?.template, template)) revisions[revisions.length - 1] = revision;
    else revisions.push(revision);
  }

  before(): void {
    this.#before = { workloads: this.#court.workloads(), pods: this.#court.pods() };
  }

  after(doer: Doer, call: Call): void {
    const before = this.#before;
    this.#before = undefined;
    if (before && call.as !== PLAYED) this.#judgeWrite(doer, call, before);
    this.#noteWorld();
  }

  #judgeWrite(doer: Doer, call: Call, before: Before): void {
    const [kind, address = ""] = call.target.split(" ");
    const name = address.slice(address.indexOf("/") + 1);
    if (kind === "Pod" && call.verb === "delete") {
      const pod = before.pods.find(({ metadata }) => metadata.name === name);
      if (pod) this.#judgeRemoval(doer, pod, before);
      return;
    }
    const isOf = ({ kind: of, metadata }: Workload): boolean => of === kind && metadata.name === name;
    const was = before.workloads.find(isOf);
    const is = this.#court.workloads().find(isOf);
    if (!was || !is || call.verb !== "patch") this.accuse(`S7 something else was written: ${describeCall(call)}`);
    else this.#judgePatch(doer, was, is);
  }

  #judgePatch(doer: Doer, was: Workload, is: Workload): void {
    const { name } = is.metadata;
    this.heard(JSON.stringify(is));
    if (!isDeepStrictEqual(withoutOurs(was), withoutOurs(is)))
      this.accuse(`S7 more than our annotations was written: ${name}`);
    const isStop =
      was.metadata.annotations?.[STOPPED] === undefined && is.metadata.annotations?.[STOPPED] !== undefined;
    if (isStop) this.#books.stopped.add(uidOf(is.metadata));
    const key = baselineKey(is);
    const readAt = doer.readAt.get(`Secret ${NAMESPACE}/${secretNameOf(is)}`) ?? -1;
    const isKnown = this.#books.baselines.has(key);
    if (!isDeepStrictEqual(was.spec.template, is.spec.template)) {
      this.#judgeRoll(was, readAt);
      this.#noteBaseline(is, readAt);
    } else if (!isKnown && is.metadata.annotations?.[STATE]?.includes(`"secret/${secretNameOf(is)}"`)) {
      const former = this.#books.noted.get(`${key} ${notedDigest(is)}`);
      this.#noteBaseline(is, former ?? readAt);
      if (former === undefined) this.#excuse(is);
    } else if (this.#isTakenForMoved(was, is)) {
      this.#judgeMoved(is, readAt);
      this.#noteBaseline(is, readAt);
    }
  }

  #noteBaseline(workload: Workload, at: number): void {
    const { baselines, noted } = this.#books;
    const key = baselineKey(workload);
    baselines.set(key, at);
    noted.set(`${key} ${notedDigest(workload)}`, at);
  }

  /** It is written down to run on something else than before, and our words are not on its template. */
  #isTakenForMoved(was: Workload, is: Workload): boolean {
    const known = this.#books.baselines.get(baselineKey(is));
    const digest = notedDigest(is);
    if (known === undefined || digest === undefined || digest === notedDigest(was) || this.#isLost(known)) return false;
    return !digestsOf(is.spec.template)?.includes(`secret/${secretNameOf(is)}=${digest}`);
  }

  #judgeMoved(workload: Workload, readAt: number): void {
    const { values, runsOn, excused } = this.#books;
    const source = sourceOf(workload.spec.template.metadata);
    const changedAt = values.get(source)?.findLast(({ at }) => at <= readAt)?.at ?? -1;
    for (const pod of this.#podsOf(workload).filter(isReady)) {
      const uid = uidOf(pod.metadata);
      const isBehind = (runsOn.get(uid)?.at ?? readAt) < changedAt && sourceOf(pod.metadata) === source;
      if (isBehind && !excused.has(uid))
        this.accuse(`S7 ${workload.metadata.name} counts as moved, and ${pod.metadata.name} has not`);
    }
  }

  /** What runs on something else is taken to run on what is there: nobody can know better. */
  #excuse(workload: Workload): void {
    for (const pod of this.#podsOf(workload)) {
      const isBehind = this.#books.runsOn.get(uidOf(pod.metadata))?.value !== this.#valueNow(sourceOf(pod.metadata));
      if (isBehind) this.#books.excused.add(uidOf(pod.metadata));
    }
  }

  #judgeRoll(was: Workload, readAt: number): void {
    const { name } = was.metadata;
    const uid = uidOf(was.metadata);
    const { baselines, values, rolls } = this.#books;
    this.#court.trace(`      ${name} is restarted`);
    if (!isOptedIn(was)) this.accuse(`S7 ${name} was restarted, and has not opted in`);
    if (was.metadata.annotations?.[STOPPED] !== undefined) this.accuse(`S7 ${name} was restarted, and is stopped`);
    const known = baselines.get(baselineKey(was));
    const all = values.get(sourceOf(was.spec.template.metadata)) ?? [];
    if (known === undefined) this.accuse(`S7 ${name} was restarted, and nobody knew what it ran on`);
    const isForChange = known !== undefined && all.some(({ at }) => at > known && at <= readAt);
    const isAgain = !isForChange && this.#books.reverted.has(uid);
    if (known !== undefined && !isForChange && !isAgain && !this.#isLost(known))
      this.accuse(`S7 ${name} was restarted for no change`);
    this.#books.reverted.delete(uid);
    if (isAgain) this.#books.begunAgain.add(uid);
    else this.#books.begunAgain.delete(uid);
    const now = this.#court.clock.now();
    rolls.set(uid, [...(rolls.get(uid) ?? []), now]);
    if (this.#books.isCountKnown && this.#recent(uid) > MOST_PER_HOUR)
      this.accuse(`S7 ${name} was restarted more often than it may be`);
  }

  /** The key, since that was known: something else that was written may have been another value. */
  #isLost(known: number): boolean {
    return this.#books.keyLostAt.some((at) => at > known);
  }

  #recent(uid: string): number {
    const now = this.#court.clock.now();
    return (this.#books.rolls.get(uid) ?? []).filter((at) => at > now - HOUR_MS).length;
  }

  /** Pods of a ReplicaSet that nobody rolls go one at a time, and only while all the others are ready. */
  #judgeRemoval(doer: Doer, pod: KubeObject, before: Before): void {
    const workload = before.workloads.find(({ metadata }) => metadata.uid === madeFor(pod));
    const { name } = pod.metadata;
    // What somebody does after the workload was taken in hand nobody can see: a pod has no version to be held to.
    if (this.#personStep >= (doer.readAt.get(TAKEN) ?? -1)) return;
    // What its pods had was made anew while the watch stood still: the garbage collector deletes them, too.
    if (!workload && this.#personStep >= doer.watch.standsSince) return;
    if (workload?.kind !== "ReplicaSet") {
      this.accuse(`S7 a pod was deleted that others replace: ${name}`);
      return;
    }
    if (digestsOf(pod) === digestsOf(workload.spec.template))
      this.accuse(`S7 a pod was deleted that runs on what is there: ${name}`);
    const others = before.pods.filter((one) => madeFor(one) === workload.metadata.uid && one !== pod);
    if (others.length + 1 < workload.spec.replicas || !others.every(isReady))
      this.accuse(`S7 a pod was deleted while another one was missing: ${name}`);
  }

  /** What must hold once everything has come to rest. */
  atRest(): void {
    for (const workload of this.#court.workloads()) {
      const { name, annotations = {} } = workload.metadata;
      const isStopped = annotations[STOPPED] !== undefined;
      if (isStopped && this.#isWronglyStopped(workload)) this.accuse(`S7 ${name} was stopped without a fight`);
      if (!isStopped && isOptedIn(workload)) this.#judgePods(workload);
    }
  }

  #isWronglyStopped({ metadata }: Workload): boolean {
    const { stopped, rolls, isCountKnown } = this.#books;
    const { length = 0 } = rolls.get(uidOf(metadata)) ?? [];
    return stopped.has(uidOf(metadata)) && isCountKnown && length < MOST_PER_HOUR;
  }

  #judgePods(workload: Workload): void {
    const { name } = workload.metadata;
    const pods = this.#podsOf(workload);
    if (pods.length !== workload.spec.replicas) this.accuse(`L1 ${name} has ${pods.length} pods`);
    for (const { metadata } of pods) {
      const [uid, value] = [uidOf(metadata), this.#valueNow(sourceOf(metadata))];
      // A pod that nobody replaces goes on with what its workload no longer uses.
      const isOfBefore = sourceOf(metadata) !== sourceOf(workload.spec.template.metadata);
      if (value === undefined || isOfBefore || this.#books.excused.has(uid)) continue;
      if (this.#books.runsOn.get(uid)?.value !== value && !this.#isTakenBack(workload, uid))
        this.accuse(`S7 ${metadata.name} does not run on the last value`);
    }
  }

  /** A change that nobody rolled out before it was taken back: what started in between has it, and nothing tells. */
  #isTakenBack(workload: Workload, podUid: string): boolean {
    const { baselines, values, runsOn } = this.#books;
    const known = baselines.get(baselineKey(workload)) ?? Infinity;
    const source = sourceOf(workload.spec.template.metadata);
    const rolled = values.get(source)?.findLast(({ at }) => at <= known)?.value;
    return (runsOn.get(podUid)?.at ?? 0) > known && rolled === this.#valueNow(source);
  }

  #podsOf({ metadata }: Workload): readonly KubeObject[] {
    return this.#court.pods().filter((pod) => madeFor(pod) === metadata.uid);
  }

  #valueNow(source: string): string | undefined {
    return valueIn(this.#court.secret(source.slice(0, source.indexOf("/"))), source);
  }
}

const digestsOf = ({ metadata }: Pick<Template, "metadata"> | KubeObject): string | undefined =>
  metadata.annotations?.["keyturn.dev/digests"];

const uidOf = ({ uid = "" }: { readonly uid?: string }): string => uid;

/** What is written down of the Secret that a workload uses. */
function notedDigest(workload: Workload): string | undefined {
  const state = JSON.parse(workload.metadata.annotations?.[STATE] ?? "{}") as {
    readonly sources?: Readonly<Record<string, { readonly digest: string }>>;
  };
  return state.sources?.[`secret/${secretNameOf(workload)}`]?.digest;
}

const secretNameOf = ({ spec }: Workload): string => spec.template.metadata.labels.secret ?? "";

const baselineKey = ({ metadata, spec }: Workload): string => `${uidOf(metadata)} ${sourceOf(spec.template.metadata)}`;

const isOptedIn = ({ metadata, spec }: Workload): boolean =>
  (metadata.annotations?.[OPT_IN] ?? spec.template.metadata.annotations?.[OPT_IN]) === "true";

/** What is left of a workload that nobody of us may touch. */
function withoutOurs({ metadata, spec, status: _, ...rest }: Workload): unknown {
  const { managedFields: _owners, resourceVersion: _version, generation: _generation, ...meta } = metadata;
  const { template } = spec;
  return {
    ...rest,
    metadata: { ...meta, annotations: without(meta.annotations, [STATE, STOPPED]) },
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: { ...template.metadata, annotations: without(template.metadata.annotations, TEMPLATE_ANNOTATIONS) },
      },
    },
  };
}

const without = (annotations: Readonly<Record<string, string>> = {}, names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)));
