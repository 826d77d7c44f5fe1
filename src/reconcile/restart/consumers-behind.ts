import type { Clock } from "../../base/clock.ts";
import { backoff, KeyturnError } from "../../base/errors.ts";
import type { Kube } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import type { AppliedSource, Halt, SourceId, Use } from "../../restart/model.ts";
import { type OptIn, readOptIn } from "../../restart/opt-in.ts";
import { isPodBehind, isUntouched } from "../../restart/pod-behind.ts";
import { jobType } from "../../restart/workload-kinds.ts";
import type { ConsumerBehind, Consumers, ConsumersQuestion, ReplacedKey } from "../managed/consumers.ts";
import { consumedBy, type ReadSecret, readConsumedSecret, saidDigests } from "./consumed-secret.ts";
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

/** A pod that is waited for, whose it is, and what that last rolled out of the Secret. */
interface Participant {
  /** `Deployment shop/web`. */
  readonly workload: string;
  readonly applied: AppliedSource | undefined;
  /** Why nothing here makes it move. */
  readonly why?: string | undefined;
}

/** Whether the annotations of a pod, or of what made it, say that it takes part. */
type Says = (optIn: OptIn | undefined) => boolean;

/**
 * Who has not moved on from keys that were replaced: pods that run, use a Secret that held the key in a way that leads to
 * restarts, and are of a workload that has opted in. Pods and Secrets are read live; who has opted in is known to the
 * watches of the restart controller. Must not: decide what becomes of a key.
 */
export class ConsumersBehind implements Consumers {
  readonly #options: ConsumersBehindOptions;
  readonly #owners: OwnerWalk;
  readonly #pods: PodLister;

  constructor(options: ConsumersBehindOptions) {
    this.#options = options;
    this.#owners = new OwnerWalk(options.kube);
    this.#pods = new PodLister(options.kube);
  }

  async behind(
    { secrets, keys }: ConsumersQuestion,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly ConsumerBehind[]>> {
    const { knowledge } = this.#options;
    const view = this.#view();
    const found = new Map<string, Map<string, ConsumerBehind>>(keys.map(({ id }) => [id, new Map()]));
    const usersIn = new Map<string, readonly SecretUser[]>();
    for (const address of secrets) {
      const { namespace } = address;
      const secret = await readConsumedSecret({ ...this.#options, reading: knowledge.reading }, address, signal);
      const users = usersIn.get(namespace) ?? (await this.#pods.usersIn(namespace, signal));
      usersIn.set(namespace, users);
      for (const pod of users) {
        const use = pod.uses.find(({ source }) => source === secret.source);
        if (!use || secret.marks.isIgnored) continue;
        for (const [id, { workload, why }] of await this.#behindOf({ pod, use, secret, keys, view }, signal)) {
          const counted = found.get(id);
          const pods = (counted?.get(workload)?.pods ?? 0) + 1;
          counted?.set(workload, { workload, pods, ...(why !== undefined && { why }) });
        }
      }
    }
    return new Map(Array.from(found, ([id, counted]) => [id, [...counted.values()]]));
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
  async #behindOf(
    what: {
      readonly pod: SecretUser;
      readonly use: Use;
      readonly secret: ReadSecret;
      readonly keys: readonly ReplacedKey[];
      readonly view: RestartView;
    },
    signal: AbortSignal,
  ): Promise<readonly (readonly [id: string, participant: Participant])[]> {
    const { pod, use, secret, keys, view } = what;
    const content = consumedBy(secret, use);
    const said = saidDigests(pod.annotations, this.#options.knowledge.reading).get(secret.source);
    const consumer = { createdAt: pod.createdAt, digest: said };
    const candidates = keys.filter((key) => isPodBehind(consumer, content, key));
    if (candidates.length === 0) return [];
    const says: Says = (optIn) => optIn?.isIn === true && optIn.counts(secret.source, use, secret.marks);
    const participant = await this.#participantOf(
      { pod, source: secret.source, isRolled: said !== undefined, says, view },
      signal,
    );
    if (!participant) return [];
    const behind = candidates.filter((key) => !isUntouched(participant.applied, content, key));
    return behind.map(({ id }) => [id, participant]);
  }

  /** Undefined for a pod that nobody waits for. */
  async #participantOf(
    what: {
      readonly pod: SecretUser;
      readonly source: SourceId;
      readonly isRolled: boolean;
      readonly says: Says;
      readonly view: RestartView;
    },
    signal: AbortSignal,
  ): Promise<Participant | undefined> {
    const { pod, source, isRolled, says, view } = what;
    const { namespace = "" } = pod.metadata;
    const optIn = readOptIn({ own: pod.annotations, template: {}, ...this.#options.knowledge.reading });
    const owner = await this.#owners.ownerOf(pod.metadata, signal);
    const isSaidByPod = isRolled || says(optIn);
    if (owner.kind === "gone") {
      const workload = `Pod ${namespace}/${pod.metadata.name}`;
      return isSaidByPod ? { workload, applied: undefined } : undefined;
    }
    if (owner.kind === "unknown") {
      const { kind, name } = owner.owner;
      const why = kind === jobType.kind ? "it runs to its end" : `a ${kind} is not restarted by Keyturn`;
      return isSaidByPod ? { workload: `${kind} ${namespace}/${name}`, applied: undefined, why } : undefined;
    }
    const workload = describeKey(owner.key);
    const { kind, name } = readWorkloadKey(owner.key);
    // A pod that nobody makes again moves on only where it may be deleted for it.
    if (kind === "Pod") return says(optIn) && optIn?.isDelete ? { workload, applied: undefined } : undefined;
    const known = view.optedIn(kind, namespace, name);
    const isIn = isSaidByPod || says(known?.optIn);
    return isIn ? { workload, applied: known?.state?.sources.get(source), why: known && haltWords(known) } : undefined;
  }
}

const HALTS: Readonly<Record<Halt, string>> = {
  paused: "it is paused",
  pastDeadline: "its rollout is stuck",
  waitsForDeletion: "its pods wait for somebody to delete them",
};

/** Why a workload that takes part does not come to move by itself. */
function haltWords({ stopped, rollout }: OptedIn): string | undefined {
  if (stopped !== undefined) return "its restarts are stopped";
  return rollout?.halt && HALTS[rollout.halt];
}
