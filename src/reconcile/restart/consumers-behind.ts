import type { Clock } from "../../base/clock.ts";
import { backoff, KeyturnError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { isOpen, nextOpening } from "../../engine/windows.ts";
import type { Kube } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { AppliedSource, Halt, SourceId } from "../../restart/model.ts";
import { type OptIn, readOptIn } from "../../restart/opt-in.ts";
import type { PaceSettings } from "../../restart/pace.ts";
import { isBrought, isMadeOf, isPodBehind, isPodBehindDerived, isUntouched } from "../../restart/pod-behind.ts";
import { jobType } from "../../restart/workload-kinds.ts";
import type { ConsumerBehind, Consumers, ConsumersQuestion, ReplacedKey } from "../managed/consumers.ts";
import { consumedBy, type ReadSecret, readConsumedSecret, type SecretReading, saidDigests } from "./consumed-secret.ts";
import { DerivedLister } from "./derived-lister.ts";
import { LiveOptIns } from "./live-opt-ins.ts";
import { OwnerWalk } from "./owner-walk.ts";
import { PodLister, type SecretUser } from "./pod-lister.ts";
import type { OptedIn, RestartKnowledge, RestartView } from "./restart-knowledge.ts";
import { describeKey, readWorkloadKey } from "./workload-key.ts";

export interface ConsumersBehindOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly knowledge: RestartKnowledge;
}

/** A Secret that pods may have a key from: one in which it was published, or one that was made from such a one. */
interface Holder {
  readonly namespace: string;
  /** Of one that was made, the key that it was made of. */
  readonly secret: ReadSecret;
  /** The name of one that was made; undefined: the key was published in it. */
  readonly derived: string | undefined;
}

/** Whose pod it is, and what that last rolled out of the Secret. */
interface Participant {
  /** `Deployment shop/web`. */
  readonly workload: string;
  /** It is waited for. */
  readonly isIn: boolean;
  readonly applied?: AppliedSource | undefined;
  /** Why nothing here makes it move. */
  readonly why?: string | undefined;
}

/** Somebody who is behind, with those of the pods that are. */
interface Counted {
  readonly pods: Set<string>;
  why: string | undefined;
}

/** That a pod may still use a key. */
interface Suspicion {
  readonly id: string;
  readonly workload: string;
  readonly why: string | undefined;
}

/** Where it is found out who has opted in. */
interface Sight {
  readonly view: RestartView;
  readonly live: LiveOptIns;
}

/** Whether the annotations of a pod, or of what made it, say that it takes part. */
type Says = (optIn: OptIn | undefined) => boolean;

/**
 * Who has not moved on from keys that were replaced: pods that run, use a Secret that held the key in a way that leads to
 * restarts, and are of a workload that has opted in; and whoever uses a Secret that is still made of the key. Pods and
 * Secrets are read live. Who has opted in is known to the watches of the restart controller; of whom they do not know it,
 * it is read live too. Must not: decide what becomes of a key.
 */
export class ConsumersBehind implements Consumers {
  readonly #options: ConsumersBehindOptions;
  readonly #reading: SecretReading;
  readonly #owners: OwnerWalk;
  readonly #pods: PodLister;
  readonly #derived: DerivedLister;

  constructor(options: ConsumersBehindOptions) {
    this.#options = options;
    this.#reading = { ...options, reading: options.knowledge.reading };
    this.#owners = new OwnerWalk(options.kube);
    this.#pods = new PodLister(options.kube);
    this.#derived = new DerivedLister(this.#reading);
  }

  async behind(
    { secrets, keys }: ConsumersQuestion,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly ConsumerBehind[]>> {
    const { kube, knowledge } = this.#options;
    const sight: Sight = { view: this.#view(), live: new LiveOptIns(kube, knowledge.reading) };
    const found = new Map<string, Map<string, Counted>>(keys.map(({ id }) => [id, new Map()]));
    // Pods are listed last: what starts after that starts with what the Secrets held when they were read, or later.
    const holders = [...(await this.#published(secrets, signal)), ...(await this.#made({ secrets, keys }, signal))];
    for (const [namespace, all] of Map.groupBy(holders, (holder) => holder.namespace)) {
      const users = await this.#pods.usersIn(namespace, signal);
      for (const holder of all)
        for (const pod of users)
          for (const suspicion of await this.#suspicionsOf({ pod, holder, keys, sight }, signal))
            count(found, suspicion, pod.metadata.name);
    }
    return new Map(Array.from(found, ([id, counted]) => [id, Array.from(counted, describe)]));
  }

  async #published(secrets: readonly SecretAddress[], signal: AbortSignal): Promise<readonly Holder[]> {
    const holders: Holder[] = [];
    for (const address of secrets) {
      const secret = await readConsumedSecret(this.#reading, address, signal);
      holders.push({ namespace: address.namespace, secret, derived: undefined });
    }
    return holders;
  }

  /** Those that were made from these, and those that say that they are made of one of the keys: it was elsewhere then. */
  async #made({ secrets, keys }: ConsumersQuestion, signal: AbortSignal): Promise<readonly Holder[]> {
    const holders: Holder[] = [];
    const ids = new Set(keys.map(({ id }) => id));
    for (const [namespace, addresses] of Map.groupBy(secrets, (address) => address.namespace)) {
      const names = new Set(addresses.map(({ name }) => name));
      for (const { name: derived, origins, secret } of await this.#derived.derivedIn(namespace, signal)) {
        for (const [origin, keyId] of origins) {
          if (!names.has(origin) && !(keyId !== undefined && ids.has(keyId))) continue;
          holders.push({ namespace, secret: { ...secret, content: { ...secret.content, keyId } }, derived });
        }
      }
    }
    return holders;
  }

  /** What the caches say of who has opted in must be whole, or somebody would be overlooked. */
  #view(): RestartView {
    const { view } = this.#options.knowledge;
    if (view?.isFresh()) return view;
    throw new KeyturnError("ConsumersUnknown", "who still uses a retired key cannot be told yet, so it is kept", {
      retry: backoff,
    });
  }

  /** The keys that a pod may still use, each with whose pod it is. */
  async #suspicionsOf(
    what: {
      readonly pod: SecretUser;
      readonly holder: Holder;
      readonly keys: readonly ReplacedKey[];
      readonly sight: Sight;
    },
    signal: AbortSignal,
  ): Promise<readonly Suspicion[]> {
    const { pod, holder, keys, sight } = what;
    const { secret, derived } = holder;
    const use = pod.uses.find(({ source }) => source === secret.source);
    if (!use) return [];
    const content = consumedBy(secret, use);
    const said = saidDigests(pod.annotations, this.#options.knowledge.reading).get(secret.source);
    const consumer = { createdAt: pod.createdAt, digest: said };
    const isBehind = derived === undefined ? isPodBehind : isPodBehindDerived;
    const candidates = keys.filter((key) => isBehind(consumer, content, key));
    if (candidates.length === 0) return [];
    const says: Says = (optIn) => optIn?.isIn === true && optIn.counts(secret.source, use, secret.marks);
    const participant = await this.#participantOf(
      { pod, source: secret.source, isRolled: said !== undefined, says, sight },
      signal,
    );
    const { workload, applied, why } = participant;
    const isIn = participant.isIn && !secret.marks.isIgnored;
    const isMoved = !pod.isLeaving && isBrought(applied, content);
    return candidates.flatMap((key): readonly Suspicion[] => {
      // Whoever reads it, and whenever, reads the key.
      if (derived !== undefined && isMadeOf(content, key))
        return [{ id: key.id, workload, why: `the Secret ${derived} is still made of it` }];
      return isIn && !isMoved && !isUntouched(applied, content, key) ? [{ id: key.id, workload, why }] : [];
    });
  }

  async #participantOf(
    what: {
      readonly pod: SecretUser;
      readonly source: SourceId;
      readonly isRolled: boolean;
      readonly says: Says;
      readonly sight: Sight;
    },
    signal: AbortSignal,
  ): Promise<Participant> {
    const { pod, source, isRolled, says, sight } = what;
    const { namespace = "" } = pod.metadata;
    const optIn = readOptIn({ own: pod.annotations, template: {}, ...this.#options.knowledge.reading });
    const owner = await this.#owners.ownerOf(pod.metadata, signal);
    const isSaidByPod = isRolled || says(optIn);
    if (owner.kind === "gone") return { workload: `Pod ${namespace}/${pod.metadata.name}`, isIn: isSaidByPod };
    if (owner.kind === "unknown") {
      const { kind, name } = owner.owner;
      const why = kind === jobType.kind ? "it runs to its end" : `a ${kind} is not restarted by Keyturn`;
      return { workload: `${kind} ${namespace}/${name}`, isIn: isSaidByPod, why };
    }
    const workload = describeKey(owner.key);
    const { kind, name } = readWorkloadKey(owner.key);
    // A pod that nobody makes again moves on only where it may be deleted for it.
    if (kind === "Pod") return { workload, isIn: says(optIn) && optIn?.isDelete === true };
    const watched = sight.view.optedIn(kind, namespace, name);
    const isWatchedIn = isSaidByPod || says(watched?.optIn);
    // To be held for somebody in vain does no harm; to be deleted under somebody who has opted in a moment ago does.
    const known = isWatchedIn ? watched : await sight.live.of(owner.key, signal);
    const isIn = isWatchedIn || says(known?.optIn);
    return {
      workload,
      isIn,
      applied: known?.state?.sources.get(source),
      why: known && whyNot(known, this.#options.clock.now()),
    };
  }
}

/** A pod once, however many Secrets it has the key from. */
function count(found: ReadonlyMap<string, Map<string, Counted>>, suspicion: Suspicion, pod: string): void {
  const { id, workload, why } = suspicion;
  const counted = found.get(id)?.get(workload) ?? { pods: new Set(), why };
  counted.pods.add(pod);
  counted.why = why ?? counted.why;
  found.get(id)?.set(workload, counted);
}

const describe = ([workload, { pods, why }]: readonly [string, Counted]): ConsumerBehind => ({
  workload,
  pods: pods.size,
  ...(why !== undefined && { why }),
});

const HALTS: Readonly<Record<Halt, string>> = {
  paused: "it is paused",
  pastDeadline: "its rollout is stuck",
  waitsForDeletion: "its pods wait for somebody to delete them",
};

/** Why a workload that takes part does not come to move by itself, or not now. */
function whyNot({ stopped, rollout, pace, state }: OptedIn, now: number): string | undefined {
  if (stopped !== undefined) return "its restarts are stopped";
  if (rollout?.halt) return HALTS[rollout.halt];
  return pace && waitWords(pace, state?.restartedAt.at(-1), now);
}

function waitWords({ pace, windows }: PaceSettings, restartedAt: number | undefined, now: number): string | undefined {
  if (!isOpen(windows, now)) {
    const opensAt = nextOpening(windows, now);
    return opensAt === undefined
      ? "its window never opens, or cannot be read"
      : `its window opens at ${formatInstant(opensAt)}`;
  }
  const restedAt = (restartedAt ?? Number.NEGATIVE_INFINITY) + pace.leastIntervalMs;
  return restedAt > now ? `its minimum interval is over at ${formatInstant(restedAt)}` : undefined;
}
