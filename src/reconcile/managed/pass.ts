import type { Clock } from "../../base/clock.ts";
import { KeyturnError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { Redacted } from "../../base/redacted.ts";
import { advance, type Change } from "../../engine/advance.ts";
import { deletionInstant } from "../../engine/dates.ts";
import { decide } from "../../engine/decide.ts";
import type { Decision, KnownKey, Observation, SeenKey, Situation, State } from "../../engine/model.ts";
import { isOpen, nextOpening } from "../../engine/windows.ts";
import { Conflict } from "../../kube/errors.ts";
import { apiVersionOf, type KubeObject, type OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection, Credentials, Marks, OutsideKey } from "../../providers/contract.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { connectionData, type InstanceDescription } from "../../publish/connection-data.ts";
import type { PublishedSecret, SecretPublisher } from "../../publish/secret-publisher.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { keyName } from "./key-name.ts";
import { ANNOTATIONS, FINALIZER, type ManagedKind, type ManagedSpec } from "./managed-kind.ts";
import { marksOf, type Owner, ownerOf, seenKey } from "./marks.ts";
import type { StatusWriter } from "./status-writer.ts";

/** The external system as one resource sees it: resolved anew in every pass. */
export interface Outside {
  readonly connection: Connection;
  readonly instanceId: string;
  readonly parameters: Redacted<Readonly<Record<string, unknown>>>;
  /** A digest of all a key is made from. */
  readonly madeFrom: string;
  describeInstance(signal: AbortSignal): Promise<InstanceDescription>;
}

export interface PassOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publisher: SecretPublisher;
  readonly statusWriter: StatusWriter;
  readonly clusterId: string;
  readonly object: KubeObject;
  readonly spec: ManagedSpec;
  readonly outside: Outside;
  readonly secret: PublishedSecret | undefined;
  readonly isSkewed: () => boolean;
  readonly driftCheckAt: number;
  readonly signal: AbortSignal;
  /** The engine; another one only to find out whether a broken one would be noticed. */
  readonly decide?: typeof decide | undefined;
}

export interface PassResult {
  readonly outcome: Outcome;
  /** As the last write left it. */
  readonly object: KubeObject;
  /** Why it came to rest. */
  readonly decision: Decision;
  readonly hasLooked: boolean;
}

/** More steps than any healthy sequence needs: beyond it something fights us, and a later pass goes on. */
const MAX_STEPS = 40;

const NOTHING_SEEN: Observation = {
  outside: undefined,
  observed: new Map(),
  secret: undefined,
  wroteIntent: false,
  published: undefined,
  unreadable: undefined,
  ineffective: undefined,
  adoption: undefined,
};

/**
 * One pass over one resource that is not being deleted: decide, do the one step, look at what came of it, decide again,
 * until there is nothing to do now. What it remembers ends with it; whatever must last is in the resource, the Secret or
 * outside. Every write is compare-and-swap on the state it was decided on: a `Conflict` ends the pass, and the next one
 * starts from what is there. Must not: decide anything the engine has not.
 */
export class Pass {
  readonly #options: PassOptions;
  readonly #credentials = new Map<string, Credentials>();
  readonly #keys = new Map<string, OutsideKey>();
  #object: KubeObject;
  #observation: Observation;
  #publishedAt: number | undefined;
  #hasLooked = false;

  constructor(options: PassOptions) {
    this.#options = options;
    this.#object = options.object;
    const { secret } = options;
    this.#observation = {
      ...NOTHING_SEEN,
      secret: options.spec.secret && {
        keyId: secret?.isSound ? secret.keyId : undefined,
        sequence: secret?.isSound ? secret.sequence : undefined,
      },
    };
    this.#publishedAt = secret?.publishedAt;
  }

  async run(): Promise<PassResult> {
    for (let step = 0; step < MAX_STEPS; step++) {
      this.#options.signal.throwIfAborted();
      const decision = (this.#options.decide ?? decide)(this.#situation());
      if (decision.kind === "wait") {
        const outcome: Outcome = Number.isFinite(decision.until)
          ? { kind: "recheck", at: decision.until }
          : { kind: "settled" };
        return { outcome, object: this.#object, decision, hasLooked: this.#hasLooked };
      }
      this.#options.logger.debug("step", { step: decision.kind });
      await this.#perform(decision);
    }
    throw new KeyturnError("TooManySteps", "the resource did not come to rest in one pass", {
      retry: { kind: "backoff" },
    });
  }

  #state(): State {
    return this.#options.kind.readState(this.#object);
  }

  #situation(): Situation {
    const { spec, outside, clock, isSkewed, driftCheckAt } = this.#options;
    const { annotations = {}, uid = "" } = this.#object.metadata;
    const now = clock.now();
    return {
      policy: spec.policy,
      state: this.#state(),
      observation: this.#observation,
      surroundings: {
        now,
        isPaused: annotations[ANNOTATIONS.paused] === "true",
        isFrozen: annotations[ANNOTATIONS.freeze] === "true",
        isSkewed: isSkewed(),
        windows: { isOpen: isOpen(spec.windows, now), opensAt: nextOpening(spec.windows, now) },
        driftCheckAt,
        madeFrom: outside.madeFrom,
        nameOf: (sequence) => keyName(spec.baseName, uid, sequence),
      },
    };
  }

  async #perform(decision: Exclude<Decision, { kind: "wait" }>): Promise<void> {
    switch (decision.kind) {
      case "addFinalizer":
        return this.#patchMetadata({ finalizers: [...(this.#object.metadata.finalizers ?? []), FINALIZER] });
      case "look":
        return this.#look();
      case "observe":
        return this.#observe(decision.id);
      case "adopt":
        return this.#adopt(decision);
      case "intend":
        await this.#write(decision);
        this.#observation = {
          ...NOTHING_SEEN,
          secret: this.#observation.secret,
          wroteIntent: decision.next.id === undefined,
        };
        return;
      case "create":
        return this.#create();
      case "publish":
        return this.#publish(decision.id);
      case "republish":
        return this.#republish(decision.id);
      case "activate":
        return this.#activate(decision.id);
      case "commit":
        return this.#commit(decision.id);
      case "removeFailed":
        return this.#removeFailed(decision.id);
      case "expire":
        return this.#expire(decision.ids);
      case "undo":
        await this.#write(decision);
        this.#observation = { ...NOTHING_SEEN, secret: this.#observation.secret };
        return;
      case "forget":
        await this.#removeFormerSecrets(decision.ids);
        return this.#write(decision);
      case "recordId":
      case "recordRequest":
      case "retire":
        return this.#write(decision);
    }
  }

  /** The state after a change, written to the status; the object that comes back is what the next step builds on. */
  async #write(change: Change): Promise<void> {
    const { statusWriter, spec, signal } = this.#options;
    const state = advance(this.#state(), change);
    this.#object = await statusWriter.write(this.#object, { state, spec, signal });
  }

  async #patchMetadata(metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { kube, kind, signal } = this.#options;
    const { name, namespace, resourceVersion } = this.#object.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    const body = { metadata: { ...metadata, resourceVersion } };
    this.#object = await kube.patch(kind.type, ref, { type: "merge", body }, { signal });
  }

  #owner(): Owner {
    return ownerOf(this.#options.kind, this.#object);
  }

  #marks(sequence: number): Marks {
    return marksOf(this.#owner(), this.#options.clusterId, sequence);
  }

  #seen(key: OutsideKey): SeenKey {
    this.#keys.set(key.id, key);
    return seenKey(key, { clusterId: this.#options.clusterId, owner: this.#owner() });
  }

  async #look(): Promise<void> {
    const { outside, signal, clusterId } = this.#options;
    const marked = await outside.connection.listMarked({ clusterId, owner: this.#owner() }, signal);
    const { pending } = this.#state();
    const named = pending ? await outside.connection.findByName(outside.instanceId, pending.name, signal) : [];
    const keys = new Map([...marked, ...named].map((key) => [key.id, this.#seen(key)]));
    this.#observation = { ...this.#observation, outside: [...keys.values()] };
    this.#hasLooked = true;
  }

  /** "Gone" is believed only while the instance itself can be read. */
  async #observe(id: string): Promise<void> {
    const { outside, signal } = this.#options;
    const key = await outside.connection.observe(id, signal);
    if (!key && (await outside.connection.observeInstance(outside.instanceId, signal)) === "gone") {
      throw new ProviderError("InstanceNotFound", `the service instance ${outside.instanceId} does not exist any more`);
    }
    const observed = new Map(this.#observation.observed).set(id, key ? this.#seen(key) : "gone");
    this.#observation = { ...this.#observation, observed };
  }

  async #adopt({ id, next }: Extract<Decision, { kind: "adopt" }>): Promise<void> {
    const { outside, signal } = this.#options;
    const key = await outside.connection.observe(id, signal);
    if (!key || key.state === "deleting") {
      this.#observation = { ...this.#observation, adoption: "absent" };
      return;
    }
    const { sequence } = this.#seen(key);
    if ((key.marks && sequence === undefined) || key.instanceId !== outside.instanceId) {
      this.#observation = { ...this.#observation, adoption: "foreign" };
      return;
    }
    await outside.connection.mark(id, this.#marks(next.sequence), signal);
    await this.#write({ kind: "intend", next: { ...next, name: key.name }, retire: [] });
    this.#observation = { ...NOTHING_SEEN, secret: this.#observation.secret };
  }

  async #create(): Promise<void> {
    const { outside, signal } = this.#options;
    const { pending } = this.#state();
    if (!pending) return;
    const { instanceId, parameters } = outside;
    const request = { name: pending.name, instanceId, parameters, marks: this.#marks(pending.sequence) };
    const created = await outside.connection.create(request, signal);
    if (created.kind === "ready") this.#credentials.set(created.key.id, created.credentials);
    const key: OutsideKey =
      created.kind === "ready"
        ? created.key
        : { id: created.id, name: pending.name, instanceId, state: "creating", marks: request.marks };
    const others = (this.#observation.outside ?? []).filter((one) => one.id !== key.id);
    this.#observation = { ...this.#observation, outside: [...others, this.#seen(key)] };
  }

  /** The credentials of a key; undefined when the outside does not give them. */
  async #readCredentials(id: string): Promise<Credentials | undefined> {
    const known = this.#credentials.get(id);
    if (known) return known;
    const { outside, signal } = this.#options;
    try {
      const credentials = await outside.connection.readCredentials(id, signal);
      this.#credentials.set(id, credentials);
      return credentials;
    } catch (error) {
      if (error instanceof ProviderError && error.code === "CredentialsUnavailable") return undefined;
      throw error;
    }
  }

  /**
   * Read the Secret, then the resource live, then replace the Secret at the version that was read: whoever published in
   * between makes this fail, and whoever moved the resource on is seen. A key of this intent in the Secret has won.
   */
  async #publish(id: string): Promise<void> {
    const { spec, publisher, signal } = this.#options;
    const { pending, active } = this.#state();
    if (!pending || !spec.secret) return;
    const present = await publisher.read(spec.secret, this.#owner(), signal);
    const isWinner = await this.#isWinner(present, id, pending.sequence);
    if (isWinner && present?.keyId !== undefined) {
      // What is published needs no credentials any more, and must not be given up for want of them.
      await this.#ensureStillPending(pending.sequence);
      this.#published(present.keyId, present.publishedAt);
      return;
    }
    const credentials = await this.#readCredentials(id);
    if (!credentials) {
      this.#observation = { ...this.#observation, unreadable: id };
      return;
    }
    const data = await this.#dataOf(credentials);
    await this.#ensureStillPending(pending.sequence);
    const isSame =
      present?.isSound && present.keyId === active?.id && present.fingerprint === publisher.fingerprintOf(data);
    if (isSame && active && active.id !== id) {
      this.#observation = { ...this.#observation, ineffective: id };
      return;
    }
    await this.#writeSecret({ id, sequence: pending.sequence, data, over: present });
    this.#published(id, this.#publishedAt);
  }

  /** Whether the Secret holds a key of this intent already, and one that lives: a Secret may be from a backup too. */
  async #isWinner(present: PublishedSecret | undefined, id: string, sequence: number): Promise<boolean> {
    const { keyId, sequence: published = -1 } = present?.isSound ? present : { keyId: undefined };
    if (keyId === undefined || published < sequence) return false;
    if (keyId === id) return true;
    const { outside, signal } = this.#options;
    const key = await outside.connection.observe(keyId, signal);
    if (!key || this.#seen(key).sequence !== published || key.state !== "ready") return false;
    if (published > sequence) throw new Conflict("a later key is published: the status is from the past");
    return true;
  }

  #published(id: string, at: number | undefined): void {
    this.#publishedAt = at;
    const sequence = this.#state().pending?.sequence;
    this.#observation = { ...this.#observation, published: id, secret: { keyId: id, sequence } };
  }

  /** The Secret was damaged or lost: the active key's credentials again, under the same rules. */
  async #republish(id: string): Promise<void> {
    const { spec, publisher, signal } = this.#options;
    const { active } = this.#state();
    if (!active || !spec.secret) return;
    const credentials = await this.#readCredentials(id);
    if (!credentials) {
      throw new ProviderError(
        "CredentialsUnavailable",
        "the Secret is damaged and the service does not give the credentials again: force a rotation",
      );
    }
    const data = await this.#dataOf(credentials);
    const present = await publisher.read(spec.secret, this.#owner(), signal);
    await this.#ensureUnchanged();
    await this.#writeSecret({ id, sequence: active.sequence, data, over: present });
    this.#observation = { ...this.#observation, secret: { keyId: id, sequence: active.sequence } };
  }

  async #dataOf(credentials: Credentials): Promise<Redacted<Readonly<Record<string, string>>>> {
    const { spec, outside, signal } = this.#options;
    const layout = spec.secret?.layout ?? { kind: "flat" };
    const whole =
      layout.kind === "sap-kubernetes" ? { ...layout, instance: await outside.describeInstance(signal) } : layout;
    return new Redacted(connectionData(credentials.reveal(), whole));
  }

  async #writeSecret(what: {
    readonly id: string;
    readonly sequence: number;
    readonly data: Redacted<Readonly<Record<string, string>>>;
    readonly over: PublishedSecret | undefined;
  }): Promise<void> {
    const { publisher, spec, clock, signal } = this.#options;
    if (!spec.secret) return;
    const { namespace, name } = spec.secret;
    const { id: keyId, sequence, data, over } = what;
    const publishedAt = clock.now();
    await publisher.write(
      { address: { namespace, name }, owner: this.#reference(), keyId, sequence, publishedAt, data, over },
      signal,
    );
    // The old key was in the Secret until now, however long the write took.
    this.#publishedAt = clock.now();
  }

  #reference(): OwnerReference {
    const { kind } = this.#options;
    const { name, uid = "" } = this.#object.metadata;
    return { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, name, uid };
  }

  async #readLive(): Promise<KubeObject> {
    const { kube, kind, signal } = this.#options;
    const { name, namespace } = this.#object.metadata;
    return kube.get(kind.type, { name, ...(namespace !== undefined && { namespace }) }, { signal });
  }

  async #ensureStillPending(sequence: number): Promise<void> {
    const live = await this.#readLive();
    const state = this.#options.kind.readState(live);
    const { uid, generation } = this.#object.metadata;
    // A spec that was edited may name another Secret: what was decided on the old one does not hold.
    const isSame = live.metadata.uid === uid && live.metadata.generation === generation;
    if (state.isDeleting || state.pending?.sequence !== sequence || !isSame) {
      throw new Conflict(`${live.metadata.name} has moved on`);
    }
  }

  async #ensureUnchanged(): Promise<void> {
    const live = await this.#readLive();
    if (live.metadata.resourceVersion !== this.#object.metadata.resourceVersion) {
      throw new Conflict(`${live.metadata.name} has moved on`);
    }
  }

  #activate(id: string): Promise<void> {
    const { kind } = this.#options;
    const annotations = {
      [ANNOTATIONS.externalName]: id,
      [kind.forceAnnotation]: null,
      [ANNOTATIONS.compromised]: null,
    };
    return this.#patchMetadata({ annotations });
  }

  async #commit(id: string): Promise<void> {
    const now = this.#options.clock.now();
    const seen = this.#keys.get(id);
    const { pending } = this.#state();
    const key: KnownKey = {
      id,
      name: seen?.name ?? pending?.name ?? "",
      createdAt: seen?.createdAt ?? pending?.since ?? now,
    };
    await this.#write({ kind: "commit", key, replacedAt: this.#publishedAt ?? now });
    this.#observation = { ...NOTHING_SEEN, secret: this.#observation.secret };
  }

  /** How long a create was not heard of is told by the clock too: not while it cannot be trusted. */
  async #removeFailed(id: string): Promise<void> {
    const { outside, signal } = this.#options;
    await this.#ensureUnchanged();
    this.#ensureClock();
    await outside.connection.delete(id, signal);
    this.#observation = {
      ...this.#observation,
      outside: this.#observation.outside?.filter((key) => key.id !== id),
      observed: new Map(this.#observation.observed).set(id, "gone"),
    };
  }

  /** The Secrets that hold these keys under a name that the resource has left; read first, then the resource, live. */
  async #removeFormerSecrets(ids: readonly string[]): Promise<void> {
    const { publisher, spec, signal } = this.#options;
    const { active, pending, retired } = this.#state();
    const used = [active?.id, pending?.id, ...retired.map((key) => key.id)].filter((id) => id !== undefined);
    const keyIds = new Set(used.filter((id) => !ids.includes(id)));
    const former = await publisher.findFormer(this.#owner(), { current: spec.secret, keyIds }, signal);
    if (former.length === 0) return;
    await this.#ensureUnchanged();
    this.#ensureClock();
    for (const secret of former) await publisher.remove(secret, signal);
  }

  /** Time may have jumped since the decision: the clock counts as of the live read. */
  #ensureStillDue(ids: readonly string[]): void {
    const { spec, clock } = this.#options;
    this.#ensureClock();
    const named = this.#state().retired.filter((key) => ids.includes(key.id));
    if (named.some((key) => deletionInstant(spec.policy, key) > clock.now()))
      throw new Conflict("the clock has changed");
  }

  /** What was decided by a clock that has turned out to be wrong is decided again. */
  #ensureClock(): void {
    if (this.#options.isSkewed()) throw new Conflict("the clock has changed");
  }

  /** Deletes a key that is ours. One that the list does not show is asked for by id: lists may lag behind. */
  async #isRemoved(id: string): Promise<boolean> {
    const { outside, signal } = this.#options;
    const listed = this.#observation.outside?.find((key) => key.id === id);
    const asked = listed ? undefined : await outside.connection.observe(id, signal);
    const seen = listed ?? (asked && this.#seen(asked));
    if (!seen) return true;
    return seen.sequence !== undefined && (await outside.connection.delete(id, signal)) === "gone";
  }

  /**
   * Deletes retired keys whose time has come. The list outside was read in this pass; the resource and the Secret are
   * read live, now. All are tried: one that cannot be deleted does not keep the others.
   */
  async #expire(ids: readonly string[]): Promise<void> {
    const { spec, publisher, signal } = this.#options;
    await this.#removeFormerSecrets(ids);
    const secret = spec.secret && (await publisher.read(spec.secret, this.#owner(), signal));
    await this.#ensureUnchanged();
    this.#ensureStillDue(ids);
    const state = this.#state();
    const gone: string[] = [];
    const problems: unknown[] = [];
    for (const id of ids) {
      const isNeeded =
        id === state.active?.id || id === state.externalName || id === secret?.keyId || id === state.pending?.id;
      if (isNeeded) continue;
      try {
        if (await this.#isRemoved(id)) gone.push(id);
      } catch (error) {
        problems.push(error);
      }
    }
    const left = this.#observation.outside?.filter((key) => !gone.includes(key.id));
    this.#observation = { ...this.#observation, outside: left };
    if (gone.length > 0) await this.#write({ kind: "forget", ids: gone });
    if (problems.length > 0) throw united(problems);
    if (gone.length < ids.length) throw new ProviderError("ProviderBusy", "a retired key is still being deleted");
  }
}

/** One error for several: the first one's code and rule, and how many there were. */
function united(problems: readonly unknown[]): unknown {
  const [first] = problems;
  if (problems.length === 1 || !(first instanceof KeyturnError)) return first;
  const message = `${first.message} (and ${problems.length - 1} more: ${problems.slice(1, 4).map(messageOf).join("; ")})`;
  return new KeyturnError(first.code, message, { retry: first.retry, cause: first });
}
