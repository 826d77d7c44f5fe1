import type { Clock } from "../../base/clock.ts";
import { backoff, KeyturnError } from "../../base/errors.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { keyIdOf, type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { annotationsOf, digestsAnnotation, OWN_PREFIX } from "../../restart/annotations.ts";
import { lastWrittenAt } from "../../restart/managed-fields.ts";
import type { AppliedSource, SourceId, Use } from "../../restart/model.ts";
import { type OptIn, readOptIn, type SourceMarks, sourceMarksOf } from "../../restart/opt-in.ts";
import { type ConsumedSecret, isPodBehind, isUntouched } from "../../restart/pod-behind.ts";
import { dataOf, digestFor, digestsOf, publishedAtOf, type SourceDigests } from "../../restart/source-digests.ts";
import { readDigestsText } from "../../restart/template-digests.ts";
import type { ConsumerBehind, Consumers, ConsumersQuestion, ReplacedKey } from "../managed/consumers.ts";
import { OwnerWalk } from "./owner-walk.ts";
import { PodLister, type SecretUser } from "./pod-lister.ts";
import type { RestartKnowledge, RestartView } from "./restart-knowledge.ts";
import { describeKey, readWorkloadKey } from "./workload-key.ts";

export interface ConsumersBehindOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly knowledge: RestartKnowledge;
}

/** A Secret that may have held the keys, read live; its values are dropped at once. */
interface ReadSecret {
  readonly source: SourceId;
  /** Undefined: it is not there. */
  readonly digests: SourceDigests | undefined;
  readonly marks: SourceMarks;
  readonly content: Omit<ConsumedSecret, "digest">;
}

/** A pod that is waited for, whose it is, and what that last rolled out of the Secret. */
interface Participant {
  /** `Deployment shop/web`. */
  readonly workload: string;
  readonly applied: AppliedSource | undefined;
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
    const view = this.#view();
    const found = new Map<string, Map<string, number>>(keys.map(({ id }) => [id, new Map()]));
    const usersIn = new Map<string, readonly SecretUser[]>();
    for (const address of secrets) {
      const { namespace } = address;
      const secret = await this.#read(address, signal);
      const users = usersIn.get(namespace) ?? (await this.#pods.usersIn(namespace, signal));
      usersIn.set(namespace, users);
      for (const pod of users) {
        const use = pod.uses.find(({ source }) => source === secret.source);
        if (!use || secret.marks.isIgnored) continue;
        for (const [id, workload] of await this.#behindOf({ pod, use, secret, keys, view }, signal)) {
          const counted = found.get(id);
          counted?.set(workload, (counted.get(workload) ?? 0) + 1);
        }
      }
    }
    return new Map(
      Array.from(found, ([id, counted]) => [id, Array.from(counted, ([workload, pods]) => ({ workload, pods }))]),
    );
  }

  /** What the caches say of who has opted in must be whole, or somebody would be overlooked. */
  #view(): RestartView {
    const { view } = this.#options.knowledge;
    if (view?.isFresh()) return view;
    throw new KeyturnError("ConsumersUnknown", "who still uses a retired key cannot be told yet, so it is kept", {
      retry: backoff,
    });
  }

  async #read({ namespace, name }: SecretAddress, signal: AbortSignal): Promise<ReadSecret> {
    const { kube, clock, fingerprinter, knowledge } = this.#options;
    const source: SourceId = `secret/${name}`;
    let secret: KubeObject;
    try {
      secret = await kube.get(secretType, { namespace, name }, { signal });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      const content = { keyId: undefined, writtenAt: undefined, publishedAt: Infinity };
      return { source, digests: undefined, marks: { isMatched: false, isIgnored: false }, content };
    }
    const { metadata } = secret;
    return {
      source,
      digests: digestsOf({ fingerprinter, namespace, source, data: dataOf(secret) }),
      marks: sourceMarksOf(annotationsOf(metadata.annotations), knowledge.reading),
      content: {
        keyId: keyIdOf(metadata),
        writtenAt: lastWrittenAt(secret, ["data"]),
        publishedAt: publishedAtOf(secret, clock.now()),
      },
    };
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
  ): Promise<readonly (readonly [id: string, workload: string])[]> {
    const { pod, use, secret, keys, view } = what;
    const content: ConsumedSecret = {
      ...secret.content,
      digest: secret.digests && digestFor(secret.digests, use.keys),
    };
    const said = this.#digestsOf(pod).get(secret.source);
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
    return behind.map(({ id }) => [id, participant.workload]);
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
      const workload = `${owner.owner.kind} ${namespace}/${owner.owner.name}`;
      return isSaidByPod ? { workload, applied: undefined } : undefined;
    }
    const workload = describeKey(owner.key);
    const { kind, name } = readWorkloadKey(owner.key);
    // A pod that nobody makes again moves on only where it may be deleted for it.
    if (kind === "Pod") return says(optIn) && optIn?.isDelete ? { workload, applied: undefined } : undefined;
    const known = view.optedIn(kind, namespace, name);
    const isIn = isSaidByPod || says(known?.optIn);
    return isIn ? { workload, applied: known?.state?.sources.get(source) } : undefined;
  }

  /** What the pod says that it runs on, under whichever prefix. */
  #digestsOf({ annotations }: SecretUser): ReadonlyMap<SourceId, string> {
    const prefixes = new Set([OWN_PREFIX, ...this.#options.knowledge.reading.prefixes]);
    return new Map([...prefixes].flatMap((prefix) => [...readDigestsText(annotations[digestsAnnotation(prefix)])]));
  }
}
