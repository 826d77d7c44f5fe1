import { overlapOf } from "../../engine/dates.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { historyFlaw } from "../judge-history.ts";
import type { Call, Doer } from "../process.ts";
import { STOPPED } from "../restarts/shop.ts";
import type { Subject } from "../truth.ts";
import {
  acceptable,
  isSame,
  KEY,
  type KeyText,
  PUBLISHED,
  publishedIn,
  RING,
  ringIn,
  type SeenKey,
} from "./objects.ts";
import type { Server } from "./played-servers.ts";
import { NO_RING_BOOKS, type RingBooks } from "./ring-books.ts";

/** What the judge may look at. */
export interface RingCourt {
  readonly clock: { now(): number };
  readonly stepCount: number;
  /** Servers accept what is published as a ring does, two keys at a time; else only what they were started with. */
  readonly overlaps: boolean;
  subject(): Subject | undefined;
  /** As `namespace/name`, read without a call. */
  secret(address: string): KubeObject | undefined;
  servers(): readonly Server[];
  /** What makes their pods, where something does. */
  workload(): KubeObject | undefined;
  trace(line: string): void;
}

/** As it was before an effect. */
interface Before {
  readonly subject: Subject | undefined;
  readonly ring: readonly SeenKey[] | undefined;
}

const RESOURCE = `RndcKey ${KEY.namespace}/${KEY.name}`;

/**
 * S9: looks at the ring, at what is published and at every named before and after each effect, and says which promise was
 * broken. Which keys there were, and when one was replaced, it knows from its own books. Must not: change anything.
 */
export class RingJudge {
  readonly violations: string[] = [];
  readonly #court: RingCourt;
  readonly #books: RingBooks;
  #before: Before | undefined;
  #personStep = -1;
  /** What was said once is not said again. */
  readonly #accused = new Set<string>();

  constructor(court: RingCourt, books: RingBooks = NO_RING_BOOKS) {
    this.#court = court;
    this.#books = structuredClone(books);
  }

  copyBooks(): RingBooks {
    return structuredClone(this.#books);
  }

  get personActs(): number {
    return this.#books.personActs;
  }

  accuse(violation: string): void {
    if (this.#accused.has(violation)) return;
    this.#accused.add(violation);
    this.violations.push(violation);
    this.#court.trace(`      !!! ${violation}`);
  }

  /** S6: key material is nowhere but in the data of Secrets. */
  heard(text: string): void {
    for (const { secret } of this.#books.keys.values())
      if (text.includes(secret)) this.accuse("S6 key material was said aloud");
  }

  /** Once the status is gone, nobody can know any more what was promised, and what there was. */
  statusLost(): void {
    this.#books.isStatusKnown = false;
  }

  /** Somebody who is not the operator has changed something: what was read before does not hold any more. */
  personActed(touched: { readonly published: boolean; readonly ring: boolean }): void {
    this.#personStep = this.#court.stepCount;
    this.#books.personActs++;
    if (touched.published) this.#books.published = undefined;
    if (touched.ring) {
      this.#books.isRingBroken = true;
      const left = new Set(ringIn(this.#court.secret(RING))?.map(({ id }) => id));
      for (const { id } of this.#before?.ring ?? []) if (!left.has(id)) this.#books.takenOut.add(id);
      for (const id of left) this.#books.gone.delete(id);
    }
    this.#before = undefined;
    this.look();
  }

  before(): void {
    this.#before = { subject: this.#court.subject(), ring: ringIn(this.#court.secret(RING)) };
  }

  after(doer: Doer, call: Call): void {
    const before = this.#before;
    this.#before = undefined;
    if (!before) return;
    if (call.target === `Secret ${RING}`) this.#afterRing(before, doer);
    if (call.target === `Secret ${PUBLISHED}`) this.#afterPublication(doer);
    if (call.target === RESOURCE) this.#afterResource(before);
    this.look();
  }

  /** S9, at any time. */
  look(): void {
    const subject = this.#court.subject();
    const published = publishedIn(this.#court.secret(PUBLISHED));
    const isOurs = published !== undefined && published.id === this.#books.published;
    const isLeft = !subject || subject.state.isDeleting;
    for (const server of this.#court.servers()) {
      this.#judgeGone(server);
      if (isLeft || this.#isMisled(server)) continue;
      if (server.accepted.length === 0) this.accuse(`S9 ${server.name} accepts no key at all`);
      const isLetIn = server.accepted.some((key) => isOurs && isSame(key, published) && key.name === published.name);
      if (!isOurs || isLetIn || !this.#court.overlaps) continue;
      if (!this.#isLockedOut(server, published.id))
        this.accuse(`S9 ${server.name} does not accept the key that is published: ${published.id}`);
    }
  }

  /** An old key is refused everywhere once it is gone. */
  #judgeGone(server: Server): void {
    const { gone, keys, takenOut } = this.#books;
    const isExcused = server.startedBehind || server.read.author === "person";
    for (const id of isExcused ? [] : gone) {
      const key = keys.get(id);
      if (key && !takenOut.has(id) && server.accepted.some((one) => isSame(one, key)))
        this.accuse(`S9 ${server.name} accepts a key that is gone: ${id}`);
    }
  }

  /** It has read what somebody else had put there, or what a kubelet handed out that was behind. */
  #isMisled({ read, startedBehind }: Server): boolean {
    return read.author === "person" || startedBehind;
  }

  /** Since somebody broke the ring it knows none of the keys in it, so that nobody can tell it anything. */
  #isEstranged({ accepted }: Server): boolean {
    const ring = acceptable(ringIn(this.#court.secret(RING)));
    return this.#books.isRingBroken && !ring.some((key) => accepted.some((one) => isSame(one, key)));
  }

  /** Nobody could tell it of the key that is published, and so it is until it has read of that one. */
  #isLockedOut(server: Server, keyId: string): boolean {
    const { estranged } = this.#books;
    const pair = `${server.uid} ${keyId}`;
    if (this.#isEstranged(server)) estranged.add(pair);
    return estranged.has(pair);
  }

  /** Those that can only be restarted. */
  isLost(server: Server): boolean {
    return this.#isEstranged(server);
  }

  /** Somebody has taken this out of the ring once: where it has come back, servers have no reason to read of it. */
  isPutBack(id: string): boolean {
    return this.#books.takenOut.has(id);
  }

  /** Whether it may go on accepting a key that the ring has not: nobody could know that it does. */
  isUntold({ startedBehind, accepted }: Server, key: KeyText): boolean {
    const { keys, takenOut } = this.#books;
    const isTakenOut = [...takenOut].some((id) => isSame(keys.get(id) ?? { ...key, secret: "" }, key));
    return startedBehind || (isTakenOut && accepted.includes(key));
  }

  #afterRing({ ring: old, subject }: Before, doer: Doer): void {
    const ring = ringIn(this.#court.secret(RING));
    for (const { id, name, algorithm, secret } of ring ?? []) this.#books.keys.set(id, { name, algorithm, secret });
    const kept = new Set(acceptable(ring).map(({ id }) => id));
    // Whoever finds no ring at all has nothing but the Secret to go by.
    if ((old ?? []).length === 0) for (const id of kept) this.#books.gone.delete(id);
    if (subject?.state.isDeleting) for (const { id } of old ?? []) if (!kept.has(id)) this.#books.takenOut.add(id);
    if (!subject || subject.state.isDeleting || this.#isExcused(doer)) return;
    if (kept.size === 0) this.accuse("S9 the ring was emptied");
    const { published } = this.#books;
    if (published !== undefined && !kept.has(published))
      this.accuse(`S1 the key that is published was taken out of the ring: ${published}`);
    for (const key of acceptable(old)) if (!kept.has(key.id)) this.#afterRemoval(subject, key);
    for (const id of kept) this.#notAgain(id);
    const sequences = acceptable(ring).map(({ sequence }) => sequence);
    if (new Set(sequences).size < sequences.length && this.personActs === 0)
      this.accuse("S5 there are two keys of one intent in the ring");
  }

  /** What is gone does not come back. */
  #notAgain(id: string): void {
    const { gone, takenOut } = this.#books;
    if (gone.has(id) && !takenOut.has(id)) this.accuse(`S9 a key that is gone came back into the ring: ${id}`);
  }

  #afterRemoval({ state, policy }: Subject, { id, sequence, phase }: SeenKey): void {
    const { publications, compromised, replacedAt, overlaps, isStatusKnown } = this.#books;
    if (state.active?.id === id) this.accuse(`S2 the active key was taken out of the ring: ${id}`);
    if (state.pending?.sequence === sequence && phase === "accepted")
      this.accuse(`S2 a key of the pending intent was taken out of the ring: ${id}`);
    if (!publications.has(id) || compromised.has(id) || !policy) return;
    const promised = overlaps.get(id) ?? 0;
    const overlapMs = isStatusKnown ? promised : Math.min(promised, overlapOf(policy));
    const early = (replacedAt.get(id) ?? Infinity) + overlapMs - this.#court.clock.now();
    if (early > 0) this.accuse(`S3 a key was taken out of the ring before its time: ${id}`);
  }

  #afterPublication(doer: Doer): void {
    const secret = this.#court.secret(PUBLISHED);
    const subject = this.#court.subject();
    const isLeft = !subject || subject.state.isDeleting;
    if (!secret) {
      if (!isLeft && !this.#isExcused(doer)) this.accuse("S1 the Secret was removed");
      this.#books.published = undefined;
      return;
    }
    this.heard(JSON.stringify({ ...secret, data: undefined }));
    const key = publishedIn(secret);
    if (!key) {
      this.accuse("S1 the Secret was written with something that is no key");
      return;
    }
    this.#inRestartsReach(key.id, doer);
    this.#excuseStrangers(key.id, doer);
    this.#noteKey(key.id, this.#isExcused(doer));
  }

  /** Where somebody has put another ring there after it was read last, nobody could know that servers read of that one. */
  #excuseStrangers(keyId: string, { readAt }: Doer): void {
    if (this.#personStep < (readAt.get(`Secret ${RING}`) ?? -1)) return;
    for (const { uid } of this.#court.servers()) this.#books.estranged.add(`${uid} ${keyId}`);
  }

  /** Nothing is published that those who use it are not restarted for; what is known to others is replaced all the same. */
  #inRestartsReach(id: string, { readAt }: Doer): void {
    const { lastPublished: last = id, compromised, published } = this.#books;
    // Where there was none, nobody is worse off with one.
    if (published === undefined) return;
    const isStopped = this.#court.workload()?.metadata.annotations?.[STOPPED] !== undefined;
    const isUrgent = compromised.has(last) || this.#court.subject()?.state.request?.isCompromised === true;
    if (!isStopped || last === id || isUrgent) return;
    if (this.#personStep < (readAt.get(deploymentType.kind) ?? -1))
      this.accuse(`S9 a key was published that nobody is restarted for: ${id}`);
  }

  #noteKey(id: string, isExcused: boolean): void {
    const books = this.#books;
    const { lastPublished: last } = books;
    if (last !== undefined && last !== id) {
      const ring = ringIn(this.#court.secret(RING)) ?? [];
      const sequenceOf = (one: string): number | undefined => ring.find((key) => key.id === one)?.sequence;
      const [old, fresh] = [sequenceOf(last), sequenceOf(id)];
      if (old !== undefined && fresh !== undefined && fresh < old && !isExcused)
        this.accuse(`S1 an older key was published again: ${id} over ${last}`);
      books.replacedAt.set(last, this.#court.clock.now());
    }
    books.replacedAt.delete(id);
    books.publications.add(id);
    books.published = id;
    books.lastPublished = id;
  }

  #afterResource({ subject: old }: Before): void {
    const subject = this.#court.subject();
    if (!subject) return;
    const { object, state, policy } = subject;
    this.heard(JSON.stringify(object));
    const flaw = historyFlaw(this.#books, old, subject);
    if (flaw !== undefined) this.accuse(`S8 the history ${flaw}`);
    if (state.sequence < (old?.state.sequence ?? 0)) this.accuse("S8 the sequence went back");
    const active = old?.state.active?.id;
    if (active !== undefined && old?.state.request?.isCompromised) this.#books.compromised.add(active);
    const isIntent = state.pending && state.pending.sequence !== old?.state.pending?.sequence;
    if (active !== undefined && isIntent && policy && !this.#books.overlaps.has(active))
      this.#books.overlaps.set(active, overlapOf(policy));
    const known = new Set([state.active?.id, state.pending?.id, ...state.retired.map(({ id }) => id)]);
    // Somebody has put it back while it was being forgotten.
    const putBack = new Set(this.#books.isRingBroken ? ringIn(this.#court.secret(RING))?.map(({ id }) => id) : []);
    for (const { id } of state.isDeleting ? [] : (old?.state.retired ?? []))
      if (!known.has(id) && !putBack.has(id)) this.#books.gone.add(id);
  }

  /** What a person changes after the last live read of either nobody can see. */
  #isExcused({ readAt }: Doer): boolean {
    const reads = [`Secret ${PUBLISHED}`, RESOURCE].map((target) => readAt.get(target) ?? -1);
    return this.#personStep >= Math.min(...reads);
  }
}
