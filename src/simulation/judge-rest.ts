import { deletionInstant, overlapOf, rotationInstant } from "../engine/dates.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { LiveBinding } from "../sandbox/service-manager/sandbox-service-manager.ts";
import type { Judge } from "./judge.ts";
import type { Finish } from "./process.ts";
import { CLUSTER_ID, DRIFT_CHECK_MS, FROZEN, PAUSED } from "./scene.ts";
import { clusterOf, holderOf, isOurs, keyIdIn, type Subject, type Truth } from "./truth.ts";

/** What there is to be judged once nothing happens any more. */
export interface Rest {
  readonly judge: Judge;
  readonly truth: Truth;
  readonly secrets: readonly KubeObject[];
  readonly now: number;
  /** How the last reconcile of each resource ended, by name. */
  readonly finishes: ReadonlyMap<string, Finish | undefined>;
}

/** Rotations may start so much late. */
const LATENESS_MS = 1000;

/** What must hold once everything has come to rest. */
export function judgeRest(rest: Rest): void {
  const { judge, truth } = rest;
  const ours = [...truth.live.values()].filter((key) => clusterOf(key) === CLUSTER_ID);
  const ownerless = ours.filter((key) => !truth.subjects.has(holderOf(key) ?? ""));
  if (ownerless.length > 0) judge.accuse(`S4 the resource is gone, and ${ownerless.length} key(s) are left outside`);
  for (const subject of truth.subjects.values()) {
    const keys = ours.filter((key) => holderOf(key) === subject.name);
    judgeSubject(rest, subject, keys);
  }
}

function judgeSubject(rest: Rest, subject: Subject, keys: readonly LiveBinding[]): void {
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
  if (isRefused(truth, subject)) return;
  if (state.pending) judge.accuse("L1 an intent is still pending");
  if (!state.active || !truth.live.get(state.active.id)?.credentialsWork) {
    judge.accuse("L1 there is no active key that works");
    return;
  }
  if (state.externalName !== state.active.id) judge.accuse("L1 external-name is not the active key");
  if (keys.some(({ id }) => judge.isOverdue(id))) judge.accuse("L1 a compromised key is still alive");
  judgeSecrets(rest, subject, state.active.id);
  judgeBound(rest, subject);
  judgeTiming(rest, subject);
}

/** A resource that asks for a key of somebody else's, or of another instance, gets none, and says so. */
function isRefused({ live }: Truth, { state, name, object }: Subject): boolean {
  const wanted = live.get(state.externalName ?? "");
  if (state.active || !wanted) return false;
  const { forProvider } = object.spec as { readonly forProvider: { readonly serviceInstanceId?: string } };
  const isForeign = holderOf(wanted) !== undefined && holderOf(wanted) !== name;
  if (!isForeign && wanted.instanceId === forProvider.serviceInstanceId) return false;
  return JSON.stringify(object.status ?? {}).includes("belongs to somebody else");
}

function judgeSecrets({ judge, truth, secrets }: Rest, { object, spec, policy }: Subject, activeId: string): void {
  if (!policy?.publishes) return;
  const own = secrets.filter(
    (secret) => isOurs(secret) && secret.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
  );
  const secret = own.find(({ metadata }) => metadata.name === spec?.secret?.name);
  if (!secret || !judge.works(secret)) {
    judge.accuse("L1 the Secret does not work");
    return;
  }
  if (keyIdIn(secret) !== activeId) judge.accuse("L1 the Secret does not hold the active key");
  for (const one of own) {
    const keyId = keyIdIn(one);
    if (keyId !== undefined && !truth.live.has(keyId))
      judge.accuse(`L1 the Secret ${one.metadata.name} holds a dead key`);
  }
}

/** S5. */
function judgeBound({ judge }: Rest, { policy, state }: Subject): void {
  if (policy?.ttlMs === undefined) return;
  const forced = state.retired.filter(({ cause }) => cause === "forced" || cause === "compromised").length;
  const wanted = Math.floor(overlapOf(policy) / policy.frequencyMs) + 1 + Math.min(forced, policy.maxForced);
  // A spec or an annotation that was changed calls for a key outside the rhythm, and so may each such change.
  const bound = wanted + judge.personActs;
  const counted = state.retired.filter(
    ({ cause }) => cause === "rotated" || cause === "forced" || cause === "compromised",
  );
  if (counted.length > bound) judge.accuse(`S5 ${counted.length} retired keys, at most ${bound} are allowed`);
}

/** L2: woken up for what is due. Whoever is woken up for nothing again and again does not come to rest in the first place. */
function judgeTiming({ judge, now, finishes }: Rest, subject: Subject): void {
  const { name, object, policy, state } = subject;
  const finish = finishes.get(name);
  if (!policy || !state.active || finish?.kind !== "outcome") return;
  const { annotations = {} } = object.metadata;
  if (annotations[PAUSED] === "true") return;
  const isHeldBack = annotations[FROZEN] === "true" || (subject.spec?.windows ?? []).length > 0;
  const rotationAt = isHeldBack ? Infinity : rotationInstant(policy, state.active, state.postponedUntil);
  const dueAt = Math.min(rotationAt, ...state.retired.map((key) => deletionInstant(policy, key)));
  const wakesAt = finish.outcome.kind === "recheck" ? finish.outcome.at : Infinity;
  if (Number.isFinite(dueAt) && wakesAt > Math.max(dueAt, now) + LATENESS_MS)
    judge.accuse("L2 sleeps through what is due");
}
