import type { Clock } from "../../base/clock.ts";
import { isOpen } from "../../engine/windows.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf } from "../../kube/record.ts";
import type { FormerKeys, KeyUsers, Moves } from "../../providers/bind/ports.ts";
import type { Objection } from "../../providers/bind/server-gate.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { isPodBehind, type KeyOfBefore } from "../../restart/pod-behind.ts";
import { marked } from "../../restart/restart-mark.ts";
import { restartsWithinHour } from "../../restart/restart-state.ts";
import { deploymentType, podType, replicaSetType } from "../../restart/workload-kinds.ts";
import { ask } from "../parents/child-problem.ts";
import { consumedBy, type ReadSecret, readConsumedSecret, saidDigests } from "../restart/consumed-secret.ts";
import type { OwnerWalk } from "../restart/owner-walk.ts";
import type { PodLister } from "../restart/pod-lister.ts";
import type { OptInReading } from "../restart/restart-knowledge.ts";
import { controllerOf } from "../restart/restart-sources.ts";
import { describeKey } from "../restart/workload-key.ts";
import type { WorkloadReader, WorkloadRecord } from "../restart/workload-record.ts";
import { findWorkloads, type KeyWorkload, usersOf } from "./key-workloads.ts";
import type { RestartMarks } from "./restart-marks.ts";
import { isTakenUp, type KeyFollower, type PodBehind, progressOf, whyNotNow } from "./restart-progress.ts";

/** What the users of all keys are found and followed with. */
export interface KeyUsersParts {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly reader: WorkloadReader;
  readonly reading: OptInReading;
  readonly pods: PodLister;
  readonly owners: OwnerWalk;
  readonly marks: RestartMarks;
  /** The restart controller is switched on. */
  readonly isOn: boolean;
  /** How long a rollout may take. */
  readonly patienceMs: number;
  /** A workload will not move by itself; told at every look, with when it was last restarted. */
  readonly onStuck: (secret: SecretAddress, workload: string, restartedAt: number | undefined) => void;
}

export interface KeyUsersOptions extends KeyUsersParts {
  /** Where the key is published. */
  readonly secret: SecretAddress;
  /** The key whose place the published one has taken; undefined while none has. */
  readonly replaced: KeyOfBefore | undefined;
  /** The key that is published must not be used any more: nobody is waited for before another one is. */
  readonly isUrgent: boolean;
}

interface NamedPodBehind extends PodBehind {
  readonly name: string;
}

type Participant = KeyWorkload & { readonly record: WorkloadRecord };

/** What stands right above a pod of a workload that rolls by itself. */
const ROLLED: ReadonlySet<string> = new Set(["ReplicaSet", "StatefulSet", "DaemonSet"]);

/** A server that has not answered by then is one that nobody here can ask. */
const START_MS = 60_000;

const OFF = "the restart controller";
const SWITCH_ON = "is off: switch it on (--controllers of the operator)";

/**
 * The workloads that read a published key when they start. Each is marked, so that the restart controller restarts it for
 * another key; who has moved is seen by the pods that are there, and where some are left on an old key though nothing is
 * under way, one restart more is asked for. Everything is read live. Must not: restart anybody itself.
 */
export class KubeKeyUsers implements KeyUsers {
  readonly #options: KeyUsersOptions;

  constructor(options: KeyUsersOptions) {
    this.#options = options;
  }

  /** A change restarts whoever is known to run on what is there now: so that must be known before anything changes. */
  async notPrepared(signal: AbortSignal): Promise<readonly Objection[]> {
    const { isOn, isUrgent } = this.#options;
    const participants = (await this.#users(signal)).filter(isParticipant);
    if (participants.length === 0 || (!isOn && isUrgent)) return [];
    if (!isOn) return [{ server: OFF, why: SWITCH_ON, kind: "broken" }];
    const secret = await this.#secret(signal);
    const objections: Objection[] = [];
    for (const user of participants) {
      const objection = await this.#unprepared(user, secret, signal);
      if (objection) objections.push(objection);
    }
    return isUrgent ? [] : objections;
  }

  async #unprepared(user: Participant, secret: ReadSecret, signal: AbortSignal): Promise<Objection | undefined> {
    const { secret: address, marks } = this.#options;
    const behind = objectionOf(user, "the restart controller has not taken it up yet", false);
    if (!isMarked(user, address)) {
      await marks.write(user, marked(user.mark, address.name), signal);
      return behind;
    }
    const follower = this.#follower(user, secret);
    if (!isTakenUp(follower.applied, follower.digest)) return behind;
    const why = whyNotNow(follower);
    return why === undefined ? undefined : objectionOf(user, why, true);
  }

  /** Workloads before pods: one whose rollout was over then has no pods of before but those that it left. */
  async moves(former: FormerKeys, signal: AbortSignal): Promise<Moves> {
    const { replaced } = this.#options;
    const users = await this.#users(signal);
    const remarks = this.#remarks(users);
    // A status that was lost, or is from the past, does not tell whom to wait for: servers do.
    const isTold = replaced !== undefined;
    const participants = isTold || former.areOlder ? users.filter(isParticipant) : [];
    const { behind, servers } = await this.#followAll(participants, former, signal);
    const others = isTold ? [] : [...former.accepting].filter((server) => !servers.has(server));
    return { behind: [...behind, ...others.map(unknownMove)], remarks };
  }

  /** Which of them are behind, and the servers among their pods. */
  async #followAll(
    participants: readonly Participant[],
    former: FormerKeys,
    signal: AbortSignal,
  ): Promise<{ readonly behind: readonly Objection[]; readonly servers: ReadonlySet<string> }> {
    const { replaced, secret: address } = this.#options;
    const isAskedAgain = participants.some(({ mark }) => mark.again.has(address.name));
    const mayBeBehind = replaced !== undefined || former.accepting.size > 0 || isAskedAgain;
    if (participants.length === 0 || !mayBeBehind) return { behind: [], servers: new Set() };
    const secret = await this.#secret(signal);
    const pods = await this.#podsBehind({ secret, replaced, former }, signal);
    const behind: Objection[] = [];
    const servers = new Set<string>();
    for (const user of participants) {
      const own = pods.get(user.key) ?? [];
      for (const { name } of own) servers.add(name);
      const objection = await this.#follow(user, { secret, pods: own }, signal);
      if (objection) behind.push(objection);
    }
    return { behind, servers };
  }

  #remarks(users: readonly KeyWorkload[]): readonly string[] {
    const leftAlone = users.filter((user) => !user.record).map(({ key }) => describeKey(key));
    const isOff = !this.#options.isOn && users.some(isParticipant);
    return [
      ...(isOff ? [`${OFF} ${SWITCH_ON}; until then the key is not replaced`] : []),
      ...(leftAlone.length > 0
        ? [`not restarted for another key, as their annotation restartOnChange says: ${leftAlone.sort().join(", ")}`]
        : []),
    ];
  }

  async #follow(
    user: Participant,
    { secret, pods }: { readonly secret: ReadSecret; readonly pods: readonly PodBehind[] },
    signal: AbortSignal,
  ): Promise<Objection | undefined> {
    const { secret: address, marks, clock, isOn, patienceMs, onStuck } = this.#options;
    const { mark } = user;
    if (pods.length === 0) {
      if (mark.again.has(address.name)) await marks.write(user, marked(mark, address.name), signal);
      return undefined;
    }
    if (!isOn) return objectionOf(user, "is restarted by nobody while the restart controller is off", true);
    if (!isMarked(user, address)) await marks.write(user, marked(mark, address.name), signal);
    const follower = this.#follower(user, secret);
    const { isStuck, why, asksAgain } = progressOf(follower, pods, { now: clock.now(), patienceMs });
    if (asksAgain) await marks.write(user, marked(mark, address.name, clock.now()), signal);
    if (isStuck) onStuck(address, user.key, follower.restartedAt);
    return objectionOf(user, why, isStuck);
  }

  #follower({ kind, object, use, mark, record }: Participant, secret: ReadSecret): KeyFollower {
    const { secret: address, clock } = this.#options;
    const { state, rollout, stopped, pace } = record;
    return {
      applied: state?.sources.get(secret.source),
      digest: consumedBy(secret, use).digest,
      againAt: mark.again.get(address.name),
      rollout,
      startsOver: kind.type === deploymentType || replacesAtWill(object),
      hasDeadline: kind.type === deploymentType,
      isPaused: recordOf(object.spec).paused === true,
      leavesPods: leavesPods(object),
      isSpent: isSpent(record, clock.now()),
      isStopped: stopped !== undefined,
      isWindowOpen: isOpen(pace.windows, clock.now()),
      restartedAt: state?.restartedAt.at(-1),
    };
  }

  /** By the workload that makes them; those of others are nobody's concern here. */
  async #podsBehind(
    what: { readonly secret: ReadSecret; readonly replaced: KeyOfBefore | undefined; readonly former: FormerKeys },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly NamedPodBehind[]>> {
    const { pods, owners, reading, clock, secret: address } = this.#options;
    const { secret, replaced, former } = what;
    const behind = new Map<string, NamedPodBehind[]>();
    const list = (): ReturnType<PodLister["usersIn"]> => pods.usersIn(address.namespace, signal);
    for (const pod of await ask({ verb: "list", type: podType, signal }, list)) {
      const use = pod.uses.find(({ source }) => source === secret.source);
      if (!use || !ROLLED.has(controllerOf(pod.metadata)?.kind ?? "")) continue;
      const digest = saidDigests(pod.annotations, reading).get(secret.source);
      const { name } = pod.metadata;
      const consumer = { createdAt: pod.createdAt, digest };
      const isOld = replaced !== undefined && isPodBehind(consumer, consumedBy(secret, use), replaced);
      const isBehind = isOld || former.accepting.has(name);
      const isUnasked = former.silent.has(name) && clock.now() - pod.createdAt < START_MS;
      if (!isBehind && !isUnasked) continue;
      const walk = { verb: "get", type: replicaSetType, signal } as const;
      const owner = await ask(walk, () => owners.ownerOf(pod.metadata, signal));
      if (owner.kind !== "workload") continue;
      behind.set(owner.key, [...(behind.get(owner.key) ?? []), { ...pod, name, isUnasked: !isBehind }]);
    }
    return behind;
  }

  async #users(signal: AbortSignal): Promise<readonly KeyWorkload[]> {
    const { kube, secret, reader } = this.#options;
    return usersOf(await findWorkloads(kube, secret.namespace, signal), secret, reader);
  }

  #secret(signal: AbortSignal): Promise<ReadSecret> {
    const { secret: ref } = this.#options;
    const call = { verb: "get", type: secretType, ref, signal } as const;
    return ask(call, () => readConsumedSecret(this.#options, ref, signal));
  }
}

/** A StatefulSet that deletes pods itself, and waits for none of them before it goes on with another. */
function replacesAtWill({ spec }: KubeObject): boolean {
  const { podManagementPolicy, updateStrategy } = recordOf(spec);
  return podManagementPolicy === "Parallel" && recordOf(updateStrategy).type !== "OnDelete";
}

/** It waits for somebody to delete them, or stops at a partition. */
function leavesPods({ spec }: KubeObject): boolean {
  const { type, rollingUpdate } = recordOf(recordOf(spec).updateStrategy);
  return type === "OnDelete" || Number(recordOf(rollingUpdate).partition ?? 0) > 0;
}

/** The restart controller would stop it instead. */
const isSpent = ({ state, pace: { pace } }: WorkloadRecord, now: number): boolean =>
  pace.perHour > 0 && restartsWithinHour(state?.restartedAt ?? [], now).length >= pace.perHour;

const unknownMove = (server: string): Objection => ({ server, why: "accepts a key of before", kind: "behind" });

const isParticipant = (user: KeyWorkload): user is Participant => user.record !== undefined;

const isMarked = ({ mark }: KeyWorkload, { name }: SecretAddress): boolean => mark.secrets.includes(name);

const objectionOf = ({ key }: KeyWorkload, why: string, isStuck: boolean): Objection => ({
  server: describeKey(key),
  why,
  kind: isStuck ? "broken" : "behind",
});
