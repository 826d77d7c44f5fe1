import { overlapOf } from "../engine/dates.ts";
import type { KubeObject } from "../kube/objects.ts";
import { type Books, NO_BOOKS } from "./books.ts";
import type { LiveKey } from "./families/family.ts";
import { historyFlaw } from "./judge-history.ts";
import { nameIn } from "./places.ts";
import type { Call, Doer } from "./process.ts";
import { CANARY, CLUSTER_ID, PAUSED, RESOURCE } from "./scene.ts";
import { isTarget, keyIdIn, ownerNameOf, type Subject, type Truth } from "./truth.ts";

/** What the judge may look at. */
export interface Court {
  readonly clock: { now(): number };
  readonly stepCount: number;
  storedSecret(address: string): KubeObject | undefined;
  /** Whether all that a consumer needs is in a Secret, and lets it in now. */
  works(secret: KubeObject): boolean;
  /** Pods that are waited for, and run on this key. */
  usersOf(keyId: string): readonly string[];
  trace(line: string): void;
}

/** What one judge looks at: a kind, and the keys that its resources have. */
export interface Bench {
  readonly kind: string;
  /** How calls name the resource of this name. */
  targetOf(name: string): string;
  truth(): Truth;
  /** The key that this call takes away, or that it changes. */
  keyOf(call: Call, before: Truth): string | undefined;
  /** Whether a process could know, by what it has read, that a key is not to be published as it is. */
  isBad?(id: string, doer: Doer): boolean;
  /** There are never two keys of one intent: their name is taken. */
  readonly hasUniqueNames: boolean;
  /** Where the Secret of a resource is that people lay hands on; undefined for one that they leave alone. */
  touchable(owner: string): string | undefined;
}

const BASE64_CANARY = Buffer.from(CANARY).toString("base64").slice(0, 12);

/** Whether there is key material in it. */
export const isTelling = (text: string): boolean => text.includes(CANARY) || text.includes(BASE64_CANARY);

/**
 * The oracles: looks at the true state of the world before and after every effect of an operator process, and says which
 * promise it broke. It keeps its own books (when a key was replaced, which overlap was promised, what a person did), so
 * that what production code writes down about itself is never taken for the truth. Must not: change anything.
 */
export class Judge {
  readonly violations: string[] = [];
  readonly #court: Court;
  readonly #bench: Bench;
  readonly #books: Books;
  #truth: Truth | undefined;
  #personStep = -1;

  constructor(court: Court, bench: Bench, books: Books = NO_BOOKS) {
    this.#court = court;
    this.#bench = bench;
    this.#books = structuredClone(books);
  }

  copyBooks(): Books {
    return structuredClone(this.#books);
  }

  get personActs(): number {
    return this.#books.personActs;
  }

  /**
   * A key without marks that has lost them on purpose, or that was made without and whose resource was taken away, or
   * turned elsewhere, before it could be marked: nobody has to know of it.
   */
  isFree(id: string): boolean {
    return this.#books.setFree.has(id) || !this.#books.areUnmarkedFound;
  }

  /** The Secret of a child that was published, or that the operator deleted, is not left behind. */
  isAnswerable(id: string): boolean {
    const { publications, deleted, untied } = this.#books;
    return (publications.has(id) || deleted.has(id)) && !untied.has(id);
  }

  /**
   * A child that a person disowned can be left behind by a parent that may not touch it any more, or that a person took
   * away while it was disowned.
   */
  isLetGo(id: string): boolean {
    const { disowned, left, areChildrenSeenTo } = this.#books;
    return disowned.has(id) && (left.has(id) || !areChildrenSeenTo);
  }

  leave(id: string): void {
    this.#books.left.add(id);
  }

  disown(id: string): void {
    this.#books.disowned.add(id);
  }

  childrenNeglected(): void {
    this.#books.areChildrenSeenTo = false;
  }

  isForeign(id: string): boolean {
    return this.#books.foreign.has(id);
  }

  /** Somebody else has made this, and marks it as one of ours. */
  forge(id: string): void {
    this.#books.foreign.add(id);
  }

  untie(id: string): void {
    this.#books.untied.add(id);
  }

  /** A compromised key that was replaced: nobody waits for its users. */
  isOverdue(id: string): boolean {
    const { accusations, replacedAt } = this.#books;
    const isMeant = [...accusations.values()].includes(id);
    return this.#books.isCompromiseKnown && isMeant && replacedAt.has(id);
  }

  accuse(violation: string): void {
    this.violations.push(violation);
    this.#court.trace(`      !!! ${violation}`);
  }

  /** Somebody who is not the operator has changed something: what was read before does not hold any more. */
  personActed(takenAway?: string): void {
    this.#personStep = this.#court.stepCount;
    this.#books.personActs++;
    if (takenAway !== undefined) this.#books.takenAway.add(takenAway);
  }

  /** Somebody takes our marks off a key. */
  setFree(id: string): void {
    this.#books.setFree.add(id);
  }

  /**
   * Between its publication and the commit, the Secret alone tells that a key was published. Who takes that away there
   * leaves nobody who could know that it has users.
   */
  recordLost(): void {
    const last = this.#books.lastPublished.get(RESOURCE);
    const active = this.#bench.truth().subjects.get(RESOURCE)?.state.active?.id;
    if (last !== undefined && active !== last) this.#books.publications.delete(last);
    const secret = this.#court.storedSecret(this.#bench.touchable(RESOURCE) ?? "");
    const held = secret && keyIdIn(secret);
    if (held !== undefined && held !== active) this.#books.untold.add(held);
  }

  /** Once the status is gone, nobody can know any more which key was compromised, what was promised, what there was. */
  statusLost(): void {
    this.#books.isStatusKnown = false;
    this.#books.isCompromiseKnown = false;
  }

  /** A resource is made anew: what was asked to go with the former one goes, whatever the new one finds. */
  remade(): void {
    for (const id of this.#books.deleted) this.#books.takenAway.add(id);
  }

  unmarkedLost(): void {
    this.#books.areUnmarkedFound = false;
  }

  /** A date that a wrong clock wrote may keep a compromised key for longer. */
  clockJumped(): void {
    this.#books.isCompromiseKnown = false;
  }

  /** S6: key material is nowhere but in the data of Secrets. */
  heard(text: string): void {
    if (isTelling(text)) this.accuse("S6 key material was said aloud");
  }

  before(call: Call): void {
    if (!call.isWrite) return;
    this.#truth = this.#bench.truth();
    for (const subject of this.#truth.subjects.values()) {
      this.#notDead(subject);
      if (this.#bench.hasUniqueNames && this.personActs === 0) this.#notTwice(this.#truth, subject);
    }
  }

  #notTwice({ live }: Truth, { name, state }: Subject): void {
    const pending = state.pending?.sequence;
    const own = [...live.values()].filter(({ holder, sequence }) => holder === name && sequence === pending);
    if (own.length > 1) this.accuse(`S5 ${name} has ${own.length} keys of one intent`);
  }

  /** S1 at any time: what is in a Secret works for as long as it is what we wrote. */
  #notDead({ object, state, spec }: Subject): void {
    const address = `${spec?.secret?.namespace}/${spec?.secret?.name}`;
    const secret = state.isDeleting || !spec?.secret ? undefined : this.#court.storedSecret(address);
    const isOwn = secret?.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid);
    const { data, keyId = "" } = this.#books.written.get(address) ?? {};
    if (!secret || !isOwn || data !== JSON.stringify(secret.data)) return;
    if (this.#books.takenAway.has(keyId) || this.#court.works(secret)) return;
    this.#books.written.delete(address);
    // Nothing is done for what is paused, whatever becomes of its children.
    if (object.metadata.annotations?.[PAUSED] !== "true")
      this.accuse(`S1 the Secret ${address} holds a dead key: ${keyId}`);
  }

  after(doer: Doer, call: Call): void {
    const before = this.#truth;
    this.#truth = undefined;
    if (!call.isWrite || !before) return;
    const keyId = this.#bench.keyOf(call, before);
    if (keyId !== undefined) this.#afterKeyChange(before, doer, { keyId, verb: call.verb });
    if (call.port === "http") return;
    const [kind, address = ""] = call.target.split(" ");
    if (kind === "Secret") this.#afterSecretWrite(doer, address);
    if (kind === this.#bench.kind) this.#afterResourceWrite(before, nameIn(address));
  }

  #afterKeyChange(before: Truth, doer: Doer, what: { readonly keyId: string; readonly verb: string }): void {
    const { keyId, verb } = what;
    if (this.isForeign(keyId)) this.accuse(`S2 somebody else's was laid hands on: ${keyId}`);
    if (verb.toUpperCase() === "DELETE") this.#afterDelete(before, doer, keyId);
    else if (before.live.get(keyId)?.cluster === CLUSTER_ID && !this.#bench.truth().live.get(keyId)?.cluster)
      this.setFree(keyId);
  }

  #afterSecretWrite(doer: Doer, address: string): void {
    const now = this.#bench.truth();
    const secret = this.#court.storedSecret(address);
    if (!secret) {
      this.#afterSecretRemoval(now, doer, address);
      return;
    }
    this.heard(JSON.stringify({ ...secret, data: undefined }));
    const owner = ownerNameOf(secret, this.#bench.kind);
    if (owner === undefined) return;
    const keyId = keyIdIn(secret) ?? "";
    const isExcused = this.#isExcused(doer, owner);
    if (this.#court.works(secret)) this.#books.written.set(address, { data: JSON.stringify(secret.data), keyId });
    else this.#books.written.delete(address);
    if (this.#bench.isBad?.(keyId, doer) && !isExcused)
      this.accuse(`S1 the Secret of ${owner} was copied from a child that was not well: ${keyId}`);
    if (!this.#court.works(secret) && !this.#books.takenAway.has(keyId) && !isExcused) {
      this.accuse(`S1 the Secret was written with a key that does not work: ${keyId}`);
    }
    const key = now.live.get(keyId);
    if (key && (!isKeyOf(key, owner) || this.isForeign(keyId)))
      this.accuse(`S1 the Secret of ${owner} was written with somebody else's key`);
    const subject = now.subjects.get(owner);
    if (subject && !isTarget(subject, address)) {
      // A reference that was moved at this very moment: nobody can know that a key was published there.
      if (!isExcused) this.accuse(`S1 a key was published in ${address}, where the spec no longer points`);
      return;
    }
    this.#noteKey(now, { owner, keyId, isExcused });
  }

  #noteKey(now: Truth, written: { readonly owner: string; readonly keyId: string; readonly isExcused: boolean }): void {
    const { owner, keyId, isExcused } = written;
    const last = this.#books.lastPublished.get(owner);
    if (last !== undefined && last !== keyId) {
      if (!isExcused && !this.#isForgotten(now.subjects.get(owner), last)) this.#notOlder(now, last, keyId);
      this.#books.replacedAt.set(last, this.#court.clock.now());
    }
    this.#books.replacedAt.delete(keyId);
    this.#books.publications.add(keyId);
    this.#books.madeAt.set(keyId, now.live.get(keyId)?.createdAt ?? 0);
    this.#books.lastPublished.set(owner, keyId);
  }

  /** Only Secrets that a resource has left may go. */
  #afterSecretRemoval({ subjects }: Truth, doer: Doer, address: string): void {
    for (const subject of subjects.values()) {
      if (isTarget(subject, address) && !subject.state.isDeleting && !this.#isExcused(doer, subject.name))
        this.accuse(`S1 the Secret ${address} was removed`);
    }
  }

  /**
   * A key that was replaced does not come back while its successor lives. One whose successor was published and not yet
   * activated is not replaced: until then it is the one that counts.
   */
  #notOlder({ live }: Truth, last: string, keyId: string): void {
    const [old, fresh] = [live.get(last), live.get(keyId)];
    if (!this.#books.activated.has(last)) return;
    if (!old?.credentialsWork || !fresh || fresh.sequence >= old.sequence) return;
    this.accuse(`S1 an older key was published again: ${keyId} over ${last}`);
  }

  /** A person took away its Secret and its name before the status had it: nothing tells of it any more. */
  #isForgotten(subject: Subject | undefined, last: string): boolean {
    const isNamed = subject?.state.externalName === last || subject?.state.active?.id === last;
    return !isNamed && !this.#books.publications.has(last);
  }

  #afterResourceWrite(before: Truth, name: string): void {
    const subject = this.#bench.truth().subjects.get(name);
    const flaw = subject && historyFlaw(this.#books, before.subjects.get(name), subject);
    if (flaw !== undefined) this.accuse(`S8 the history of ${name} ${flaw}`);
    if (subject) this.heard(JSON.stringify(subject.object));
    const old = before.subjects.get(name)?.state;
    for (const { id, cause } of subject?.state.retired ?? []) {
      const isNew = cause === "gone" && !old?.retired.some((key) => key.id === id);
      const isTaken = this.#books.takenAway.has(id);
      if (isNew && !isTaken && before.live.get(id)?.credentialsWork)
        this.accuse(`S2 a key that works was taken for gone: ${id}`);
    }
    const { externalName } = subject?.state ?? {};
    if (externalName !== undefined) this.#books.activated.add(externalName);
    // Without a Secret, activation counts as publication.
    if (subject?.policy?.publishes === false && externalName !== undefined && externalName !== old?.externalName)
      this.#noteKey(this.#bench.truth(), { owner: name, keyId: externalName, isExcused: false });
    const active = old?.active?.id;
    if (active === undefined) return;
    if (old?.request?.isCompromised) this.#noteCompromised(`${name} ${old.request.value}`, active);
    const sequence = subject?.state.pending?.sequence;
    if (sequence === undefined || sequence === old?.pending?.sequence || !subject?.policy) return;
    if (!this.#books.overlaps.has(active)) this.#books.overlaps.set(active, overlapOf(subject.policy));
  }

  /**
   * Each value asks once: the same one again does not mean the key that came of it, which therefore need not go. It may,
   * though, where what was fulfilled is no longer known.
   */
  #noteCompromised(request: string, active: string): void {
    const { accusations, compromised } = this.#books;
    if (!accusations.has(request)) accusations.set(request, active);
    compromised.add(active);
  }

  #afterDelete(before: Truth, doer: Doer, id: string): void {
    const key = before.live.get(id);
    if (!key) return;
    this.#books.deleted.add(id);
    // Where marks come later, a key of ours that failed may have got none: nobody else can have made it.
    const isFailedOfOurs = key.cluster === undefined && !key.credentialsWork && !this.#books.setFree.has(id);
    if (key.cluster !== CLUSTER_ID && !isFailedOfOurs) this.accuse(`S2 a key of somebody else was deleted: ${id}`);
    const owner = before.subjects.get(key.holder ?? "");
    if (!owner || owner.state.isDeleting) return;
    if (this.#isExcused(doer, owner.name)) {
      if (this.#hasJustRead(doer, owner.name)) this.#books.takenAway.add(id);
      return;
    }
    const holder = [...before.published].find(([, keyId]) => keyId === id)?.[0];
    if (holder !== undefined && !this.#isUnseen(doer, owner, holder))
      this.accuse(`S1 the key in the Secret ${holder} was deleted: ${id}`);
    this.#notNeeded(owner, key);
    this.#notTooSoon(before, owner, key);
    this.#inTime(owner, key, doer);
  }

  #notNeeded({ state }: Subject, { id, credentialsWork, isReady, sequence }: LiveKey): void {
    if (state.active?.id === id && credentialsWork) this.accuse(`S2 the active key was deleted: ${id}`);
    if (state.pending?.sequence === sequence && credentialsWork && isReady) {
      this.accuse(`S2 a key of the pending intent was deleted: ${id}`);
    }
  }

  /** S3: whoever still means to publish a key has read another Secret than the one with its successor, and fails. */
  #notTooSoon({ live, published }: Truth, { state, policy, spec }: Subject, { id, isReady }: LiveKey): void {
    const active = live.get(state.active?.id ?? "");
    if (!isReady || !active?.credentialsWork || !policy?.publishes) return;
    if (published.get(spec?.secret?.name ?? "") !== active.id)
      this.accuse(`S3 a key was deleted while the Secret did not hold the active one: ${id}`);
  }

  /** S3 by true time and our own books. Only keys that were ever published have users to be waited for. */
  #inTime({ policy }: Subject, { id }: LiveKey, doer: Doer): void {
    const { publications, compromised, replacedAt, overlaps } = this.#books;
    const createdAt = this.#books.madeAt.get(id) ?? 0;
    if (!publications.has(id) || compromised.has(id)) return;
    const replaced = replacedAt.get(id);
    if (replaced === undefined) return;
    const lifeEnd = policy?.ttlMs === undefined ? 0 : createdAt + policy.ttlMs;
    const promised = overlaps.get(id) ?? 0;
    // What was promised is lost with the status; what the policy of now promises still holds.
    const overlapMs = this.#books.isStatusKnown || !policy ? promised : Math.min(promised, overlapOf(policy));
    const early = Math.max(replaced + overlapMs, lifeEnd) - this.#court.clock.now();
    if (early > 0) this.accuse(`S3 a key was deleted ${Math.ceil(early / 1000)} s before its time: ${id}`);
    // Whoever comes after the pods were listed nobody can know of.
    const isHeld = early + (policy?.maxHoldMs ?? 0) > 0 && this.#personStep < (doer.readAt.get("Pod") ?? Infinity);
    const isAsked = isHeld && policy?.maxHoldMs !== undefined && !this.#books.untold.has(id);
    const [user] = isAsked ? this.#court.usersOf(id) : [];
    if (user !== undefined) this.accuse(`S3 a key was deleted that ${user} runs on: ${id}`);
  }

  /** The resource is what it read last, so that a person who acted since did so at this very moment. */
  #hasJustRead({ readAt }: Doer, owner: string): boolean {
    return readAt.get(this.#bench.targetOf(owner)) === Math.max(...readAt.values());
  }

  /** A Secret that was left, and that a person touched while the watch that would tell of it stood still. */
  #isUnseen({ watch }: Doer, { spec }: Subject, secretName: string): boolean {
    return secretName !== spec?.secret?.name && this.#personStep >= watch.standsSince;
  }

  /**
   * What a person changes after the last live reads nobody can see: that is not the operator's doing. The Secret is read
   * first of the two, so its reading counts where there is one.
   */
  #isExcused(doer: Doer, owner: string): boolean {
    const address = this.#bench.touchable(owner);
    if (address === undefined) return false;
    const secret = doer.readAt.get(`Secret ${address}`);
    return this.#personStep >= (secret ?? doer.readAt.get(this.#bench.targetOf(owner)) ?? -1);
  }
}

const isKeyOf = ({ cluster, holder }: LiveKey, owner: string): boolean => cluster === CLUSTER_ID && holder === owner;
