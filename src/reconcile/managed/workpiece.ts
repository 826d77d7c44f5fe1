import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Redacted } from "../../base/redacted.ts";
import { advance, type Change } from "../../engine/advance.ts";
import { deletionInstant } from "../../engine/dates.ts";
import type { Observation, SeenKey, State } from "../../engine/model.ts";
import { NOTHING_SEEN } from "../../engine/nothing-seen.ts";
import { Conflict } from "../../kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection, Credentials, Marks, OutsideKey } from "../../providers/contract.ts";
import type { SecretContent, SecretPublisher, Worn } from "../../publish/secret-publisher.ts";
import type { AskedKeys } from "./asked-keys.ts";
import type { Consumers } from "./consumers.ts";
import type { Copies } from "./copies.ts";
import type { KeyExtras } from "./family.ts";
import { layoutName, type ManagedKind, type ManagedSpec } from "./managed-kind.ts";
import type { ManagedReporter } from "./managed-reporter.ts";
import { marksOf, type Owner, ownerOf, seenKey } from "./marks.ts";
import type { StatusWriter } from "./status-writer.ts";

/** The external system as one resource sees it: resolved anew in every pass. */
export interface Outside {
  readonly connection: Connection;
  readonly instanceId: string;
  /** The field that says which instance is meant, for messages; absent where no field does. */
  readonly instanceField?: string;
  readonly parameters: Redacted<Readonly<Record<string, unknown>>>;
  readonly extras?: KeyExtras;
  /** Writes Secrets with the rights that this resource has; absent where those are the operator's own. */
  readonly publisher?: SecretPublisher;
  /** Here nobody makes keys by hand: one without our marks is somebody else's, and is not taken over. */
  readonly takesOverOnlyOwn?: boolean;
  /**
   * A digest of the credentials that the active key has now, where they can change under its id and somebody looked: a
   * Secret that holds others of that key is written again.
   */
  readonly fingerprint?: string | undefined;
  /** What else the Secret is to have; absent: nothing but the credentials. */
  readonly dress?: SecretDress;
  /** A digest of all a key is made from. */
  readonly madeFrom: string;
  /** Whether an earlier digest can be compared with this one. */
  isComparable(madeFrom: string): boolean;
}

/** What a Secret has beside the credentials of its key. */
interface SecretDress {
  /** Labels and annotations, from those that others have put there; `isSame`: on a Secret that holds the key already. */
  wear(worn: Worn, key: { readonly createdAt: number; readonly isSame: boolean }): Worn;
  /** Values that are published beside the credentials, in base64; those of the credentials go before them. */
  readonly extraData: Redacted<Readonly<Record<string, string>>>;
  /** What the Secret of the active key should wear and does not, in words: it is written again. */
  readonly lack: string | undefined;
}

export interface WorkpieceOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publisher: SecretPublisher;
  readonly statusWriter: StatusWriter;
  readonly reporter: ManagedReporter;
  readonly clusterId: string;
  readonly object: KubeObject;
  readonly spec: ManagedSpec;
  readonly outside: Outside;
  /** What the Secret holds, as far as is known. */
  readonly secret: SecretContent | undefined;
  readonly isSkewed: () => boolean;
  /** As in `Observation`. */
  readonly isContinued: boolean;
  /** Knows who uses retired keys; absent while the restart controller is off. */
  readonly consumers?: Consumers | undefined;
  /** Knows who hands on what resources of this kind publish; absent: nobody does. */
  readonly copies?: Copies | undefined;
  /** Absent: how soon to look again is told by the intent alone. */
  readonly asked?: AskedKeys | undefined;
  readonly signal: AbortSignal;
}

/** That a key takes its time to go is worth a word only when it lasts. */
const LEAVING_PATIENCE_MS = 5 * 60_000;

/**
 * One resource in one pass: as the last write left it, and what was found out about it so far. What it remembers ends with
 * the pass; whatever must last is in the resource, the Secret or outside. Every write is compare-and-swap on the state it
 * was decided on: a `Conflict` ends the pass, and the next one starts from what is there. Must not: decide anything.
 */
export class Workpiece {
  readonly options: WorkpieceOptions;
  readonly credentials = new Map<string, Credentials>();
  readonly keys = new Map<string, OutsideKey>();
  object: KubeObject;
  observation: Observation;
  /** The Secret as it was last read or written; undefined when there is none. */
  secret: SecretContent | undefined;
  publishedAt: number | undefined;
  hasLooked = false;

  constructor(options: WorkpieceOptions) {
    this.options = options;
    this.object = options.object;
    const { secret, spec, isContinued, outside } = options;
    this.secret = secret;
    this.observation = {
      ...NOTHING_SEEN,
      isContinued,
      secret:
        spec.secret &&
        contentOf(secret, {
          layout: layoutName(spec.secret.layout),
          activeId: this.state.active?.id,
          fingerprint: outside.fingerprint,
          isUndressed: outside.dress?.lack !== undefined,
        }),
    };
    this.publishedAt = secret?.publishedAt;
  }

  get state(): State {
    return this.options.kind.readState(this.object);
  }

  get ref(): ObjectRef {
    const { name, namespace } = this.object.metadata;
    return { name, ...(namespace !== undefined && { namespace }) };
  }

  get owner(): Owner {
    return ownerOf(this.options.kind, this.object);
  }

  get ownerReference(): OwnerReference {
    const { type } = this.options.kind;
    const { name, uid = "" } = this.object.metadata;
    return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid };
  }

  marks(sequence: number): Marks {
    return marksOf(this.owner, this.options.clusterId, sequence);
  }

  /** A key outside as the engine sees it; remembered for what else is known of it. */
  see(key: OutsideKey): SeenKey {
    this.keys.set(key.id, key);
    return seenKey(key, { clusterId: this.options.clusterId, owner: this.owner });
  }

  /** What the outside has to say of the key that is awaited, or of the one in use; else of one that does not go. */
  get complaint(): string | undefined {
    const { pending, active } = this.state;
    const key = this.keys.get((pending ? pending.id : active?.id) ?? "");
    return key?.complaint ?? this.#complaintOfStaying();
  }

  /** What is going on with the key that is awaited and with the one in use. */
  get notices(): readonly string[] {
    const { pending, active } = this.state;
    return [pending?.id, active?.id].flatMap((id) => this.keys.get(id ?? "")?.notice ?? []);
  }

  #complaintOfStaying(): string | undefined {
    const { spec, clock } = this.options;
    const overdueAt = clock.now() - LEAVING_PATIENCE_MS;
    const staying = this.state.retired.filter((key) => deletionInstant(spec.policy, key) <= overdueAt);
    return staying.flatMap(({ id }) => this.keys.get(id)?.complaint ?? [])[0];
  }

  learn(news: Partial<Observation>): void {
    this.observation = { ...this.observation, ...news };
  }

  /** What was seen belongs to a state that is over; only what the Secret holds is as true as before. */
  lookAfresh(news: Partial<Observation> = {}): void {
    this.observation = { ...NOTHING_SEEN, secret: this.observation.secret, ...news };
  }

  /** The state after a change, written to the status; what comes back is what the next step builds on. */
  async write(change: Change): Promise<void> {
    const { statusWriter, spec, signal } = this.options;
    const state = advance(this.state, change);
    const seen = this.keys.get(state.active?.id ?? "");
    this.object = await statusWriter.write(this.object, { state, spec, notices: this.notices, seen, signal });
  }

  async patchMetadata(metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { kube, kind, signal } = this.options;
    const body = { metadata: { ...metadata, resourceVersion: this.object.metadata.resourceVersion } };
    this.object = await kube.patch(kind.type, this.ref, { type: "merge", body }, { signal });
  }

  readLive(): Promise<KubeObject> {
    const { kube, kind, signal } = this.options;
    return kube.get(kind.type, this.ref, { signal });
  }

  async ensureUnchanged(): Promise<void> {
    const live = await this.readLive();
    if (live.metadata.resourceVersion !== this.object.metadata.resourceVersion) {
      throw new Conflict(`${live.metadata.name} has moved on`);
    }
  }

  /** What was decided by a clock that has turned out to be wrong is decided again. */
  ensureClock(): void {
    if (this.options.isSkewed()) throw new Conflict("the clock has changed");
  }
}

/** A Secret that somebody has edited, or that is laid out otherwise, holds nothing that can be relied on. */
function contentOf(
  secret: SecretContent | undefined,
  expected: {
    readonly layout: string;
    readonly activeId: string | undefined;
    readonly fingerprint: string | undefined;
    readonly isUndressed: boolean;
  },
): NonNullable<Observation["secret"]> {
  const { layout, activeId, fingerprint, isUndressed } = expected;
  const isOtherData = fingerprint !== undefined && secret?.isComparable && secret.fingerprint !== fingerprint;
  const isOld = secret?.keyId === activeId && (isOtherData || isUndressed);
  const isGood = secret?.isSound && secret.layout === layout && !isOld;
  const held = isGood ? secret : undefined;
  return { keyId: held?.keyId, sequence: held?.sequence, publishedAt: secret?.publishedAt };
}
