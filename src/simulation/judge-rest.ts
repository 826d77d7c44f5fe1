import { deletionInstant, latestDeletion, overlapOf, rotationInstant } from "../engine/dates.ts";
import type { RetiredKey } from "../engine/model.ts";
import type { KubeObject } from "../kube/objects.ts";
import { ownerUidOf } from "../publish/secret-publisher.ts";
import type { LiveKey } from "./families/family.ts";
import type { Judge } from "./judge.ts";
import type { Finish } from "./process.ts";
import { CLUSTER_ID, DRIFT_CHECK_MS, FROZEN, PAUSED } from "./scene.ts";
import { isOurs, keyIdIn, type Subject, type Truth } from "./truth.ts";

/** What there is to be judged once nothing happens any more. */
export interface Rest {
  readonly judge: Judge;
  readonly truth: Truth;
  readonly secrets: readonly KubeObject[];
  readonly now: number;
  works(secret: KubeObject): boolean;
  /** Whether it is what this key gives now. */
  holds(secret: KubeObject, id: string): boolean;
  /** The instance that the spec of a resource means. */
  instanceOf(object: KubeObject): string | undefined;
  /** What else is wrong with the keys of a resource. */
  flawsOf(subject: Subject): readonly string[];
  /** Pods that may have to be waited for with a key that was replaced then. */
  suspectsOf(keyId: string, replacedAt: number): readonly string[];
  /** How the last reconcile of a resource ended. */
  finishOf(name: string): Finish | undefined;
}

/** Rotations may start so much late. */
const LATENESS_MS = 1000;
/** Dates in a status are whole seconds. */
const DATE_TOLERANCE_MS = 1000;

/** What must hold once everything has come to rest. */
export function judgeRest(rest: Rest): void {
  const { judge, truth } = rest;
  const keys = [...truth.live.values()];
  const unmarked = keys.filter(({ id, cluster }) => cluster === undefined && !judge.isFree(id));
  if (unmarked.length > 0) judge.accuse(`S4 ${unmarked.length} key(s) outside bear no marks`);
  const ours = keys.filter(({ id, cluster }) => cluster === CLUSTER_ID && !judge.isForeign(id));
  const ownerless = ours.filter(({ id, holder = "" }) => !truth.subjects.has(holder) && !judge.isLetGo(id));
  if (ownerless.length > 0) judge.accuse(`S4 the resource is gone, and ${ownerless.length} key(s) are left outside`);
  for (const subject of truth.subjects.values()) {
    judgeSubject(
      rest,
      subject,
      ours.filter(({ holder }) => holder === subject.name),
    );
  }
}

/** S4: no Secret of ours is left of a resource that is gone. */
export function judgeStrays(judge: Judge, secrets: readonly KubeObject[], alive: ReadonlySet<string>): void {
  for (const secret of secrets) {
    if (isOurs(secret) && !alive.has(ownerUidOf(secret.metadata) ?? ""))
      judge.accuse(`S4 the Secret ${secret.metadata.name} is left of nobody`);
  }
}

/** S4: nor is the Secret of a child that is gone, whoever made it. */
export function judgeChildSecrets(
  judge: Judge,
  secrets: readonly KubeObject[],
  lostChildOf: (secret: KubeObject) => string | undefined,
): void {
  for (const secret of secrets) {
    const id = lostChildOf(secret);
    if (id !== undefined && judge.isAnswerable(id))
      judge.accuse(`S4 the Secret ${secret.metadata.name} is left of a child that is gone`);
  }
}

function judgeSubject(rest: Rest, subject: Subject, keys: readonly LiveKey[]): void {
  const { judge, truth } = rest;
  const { state } = subject;
  if (state.isDeleting) {
    judge.accuse("L1 the resource is being deleted and does not go");
    return;
  }
  const known = new Set([state.active?.id, ...state.retired.map((key) => key.id)]);
  const unknown = keys.filter(({ id }) => !known.has(id));
  if (unknown.length > 0) judge.accuse(`S4 ${unknown.length} key(s) outside are unknown to the resource`);
  // Whoever was retired later has not been asked for again since.
  const long = state.retired.filter(({ retiredAt }) => retiredAt < rest.now - 2 * DRIFT_CHECK_MS);
  if (long.some(({ id }) => !truth.live.has(id))) judge.accuse("L1 a key that is gone outside is still in the status");
  if (isRefused(rest, subject)) return;
  if (state.pending) judge.accuse("L1 an intent is still pending");
  const active = truth.live.get(state.active?.id ?? "");
  if (!state.active || !active?.credentialsWork) {
    judge.accuse("L1 there is no active key that works");
    return;
  }
  if (Math.abs(active.createdAt - state.active.createdAt) > DATE_TOLERANCE_MS)
    judge.accuse("L1 the status is wrong about when the active key was made");
  if (state.externalName !== state.active.id) judge.accuse("L1 external-name is not the active key");
  if (keys.some(({ id }) => judge.isOverdue(id))) judge.accuse("L1 a compromised key is still alive");
  for (const flaw of rest.flawsOf(subject)) judge.accuse(flaw);
  judgeSecrets(rest, subject, state.active.id);
  judgeBound(rest, subject);
  judgeHolds(rest, subject);
  judgeTiming(rest, subject);
}

/** A resource that asks for a key of somebody else's, or of another instance, gets none, and says so. */
function isRefused({ truth, instanceOf }: Rest, { state, name, object }: Subject): boolean {
  const wanted = truth.live.get(state.externalName ?? "");
  if (state.active || !wanted) return false;
  const isForeign = wanted.holder !== undefined && wanted.holder !== name;
  if (!isForeign && wanted.instanceId === instanceOf(object)) return false;
  return JSON.stringify(object.status ?? {}).includes("belongs to somebody else");
}

function judgeSecrets(
  { judge, truth, secrets, works, holds }: Rest,
  { object, spec, policy }: Subject,
  activeId: string,
): void {
  if (!policy?.publishes) return;
  const own = secrets.filter(
    (secret) => isOurs(secret) && secret.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
  );
  const secret = own.find(({ metadata }) => metadata.name === spec?.secret?.name);
  if (!secret || !works(secret)) {
    judge.accuse("L1 the Secret does not work");
    return;
  }
  if (keyIdIn(secret) !== activeId || !holds(secret, activeId))
    judge.accuse("L1 the Secret does not hold the active key");
  for (const one of own) {
    const keyId = keyIdIn(one);
    if (keyId !== undefined && !truth.live.has(keyId))
      judge.accuse(`L1 the Secret ${one.metadata.name} holds a dead key`);
  }
}

/** What the bound and the timing are judged by. */
interface Ending {
  readonly judge: Pick<Judge, "accuse" | "personActs">;
  readonly now: number;
  finishOf(name: string): Finish | undefined;
}

/** S5. */
export function judgeBound({ judge }: Pick<Ending, "judge">, { policy, state }: Subject): void {
  if (policy?.ttlMs === undefined) return;
  const forced = state.retired.filter(({ cause }) => cause === "forced" || cause === "compromised").length;
  const livesMs = overlapOf(policy) + (policy.maxHoldMs ?? 0);
  const wanted = Math.floor(livesMs / policy.frequencyMs) + 1 + Math.min(forced, policy.maxForced);
  // A spec or an annotation that was changed calls for a key outside the rhythm, and so may each such change.
  const bound = wanted + judge.personActs;
  const counted = state.retired.filter(
    ({ cause }) => cause === "rotated" || cause === "forced" || cause === "compromised",
  );
  if (counted.length > bound) judge.accuse(`S5 ${counted.length} retired keys, at most ${bound} are allowed`);
}

/** L1: nothing is kept for nobody, nor for longer than anybody is waited for. */
function judgeHolds({ judge, now, suspectsOf }: Rest, { policy, state, object }: Subject): void {
  if (policy?.maxHoldMs === undefined || object.metadata.annotations?.[PAUSED] === "true") return;
  for (const key of state.retired) {
    const { id, replacedAt = Infinity } = key;
    const isWaitedFor = suspectsOf(id, replacedAt).length > 0;
    const untilAt = deletionInstant(policy, key) + (isWaitedFor ? policy.maxHoldMs : 0);
    if (untilAt < now - DRIFT_CHECK_MS) judge.accuse(`L1 a key is kept for nobody: ${id}`);
  }
}

/** L2: woken up for what is due. Whoever is woken up for nothing again and again does not come to rest in the first place. */
export function judgeTiming({ judge, now, finishOf }: Ending, subject: Subject): void {
  const { name, object, policy, state } = subject;
  const finish = finishOf(name);
  if (!policy || !state.active || finish?.kind !== "outcome") return;
  const { annotations = {} } = object.metadata;
  if (annotations[PAUSED] === "true") return;
  const isHeldBack = annotations[FROZEN] === "true" || (subject.spec?.windows ?? []).length > 0;
  const rotationAt = isHeldBack ? Infinity : rotationInstant(policy, state.active, state.postponedUntil);
  // What is held is asked about again, at the latest when its hold ends.
  const deletionOf = (key: RetiredKey): number =>
    key.heldFor === undefined ? deletionInstant(policy, key) : latestDeletion(policy, key);
  const dueAt = Math.min(rotationAt, ...state.retired.map(deletionOf));
  const wakesAt = finish.outcome.kind === "recheck" ? finish.outcome.at : Infinity;
  if (Number.isFinite(dueAt) && wakesAt > Math.max(dueAt, now) + LATENESS_MS)
    judge.accuse("L2 sleeps through what is due");
}
