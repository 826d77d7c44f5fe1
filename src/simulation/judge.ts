import { overlapOf } from "../engine/dates.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { LiveBinding } from "../sandbox/service-manager/sandbox-service-manager.ts";
import type { Call, Process } from "./process.ts";
import { CANARY, CLUSTER_ID, RESOURCE } from "./scene.ts";
import { clusterOf, holderOf, keyIdIn, ownerNameOf, type Subject, sequenceOf, type Truth } from "./truth.ts";

/** What the judge remembers by itself; of keys by their ids. */
export interface Books {
  /** What each resource's Secret was last written with, by the resource's name. */
  readonly lastPublished: Map<string, string>;
  readonly publications: Set<string>;
  readonly replacedAt: Map<string, number>;
  readonly overlaps: Map<string, number>;
  readonly compromised: Set<string>;
  /** Keys that the outside or a person took away. */
  readonly takenAway: Set<string>;
  /** How often a person did something that may call for a key of its own. */
  personActs: number;
  /** What was known has not been lost: which key is compromised, and all that a status tells. */
  isCompromiseKnown: boolean;
  isStatusKnown: boolean;
}

const NO_BOOKS: Books = {
  lastPublished: new Map(),
  publications: new Set(),
  replacedAt: new Map(),
  overlaps: new Map(),
  compromised: new Set(),
  takenAway: new Set(),
  personActs: 0,
  isCompromiseKnown: true,
  isStatusKnown: true,
};

/** What the judge may look at. */
export interface Court {
  readonly clock: { now(): number };
  readonly stepCount: number;
  truth(): Truth;
  storedSecret(address: string): KubeObject | undefined;
  /** What the service would say to these credentials now. */
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
  trace(line: string): void;
}

const BINDING_PATH = /^\/v1\/service_bindings\/([^/?]+)$/;
const BASE64_CANARY = Buffer.from(CANARY).toString("base64").slice(0, 12);
const COMPLETE = ["credentials", "hostname", "password", "port", "uri", "username"];

/**
 * The oracles: looks at the true state of the world before and after every effect of an operator process, and says which
 * promise it broke. It keeps its own books (when a key was replaced, which overlap was promised, what a person did), so
 * that what production code writes down about itself is never taken for the truth. Must not: change anything.
 */
export class Judge {
  readonly violations: string[] = [];
  readonly #court: Court;
  readonly #books: Books;
  #truth: Truth | undefined;
  #personStep = -1;

  constructor(court: Court, books: Books = NO_BOOKS) {
    this.#court = court;
    this.#books = structuredClone(books);
  }

  copyBooks(): Books {
    return structuredClone(this.#books);
  }

  get personActs(): number {
    return this.#books.personActs;
  }

  /** A compromised key that was replaced: nobody waits for its users. */
  isOverdue(id: string): boolean {
    const { compromised, replacedAt } = this.#books;
    return this.#books.isCompromiseKnown && compromised.has(id) && replacedAt.has(id);
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

  /**
   * Between its publication and the commit, the Secret alone tells that a key was published. Who takes that away there
   * leaves nobody who could know that it has users.
   */
  recordLost(): void {
    const last = this.#books.lastPublished.get(RESOURCE);
    const active = this.#court.truth().subjects.get(RESOURCE)?.state.active?.id;
    if (last !== undefined && active !== last) this.#books.publications.delete(last);
  }

  /** Once the status is gone, nobody can know any more which key was compromised, what was promised, what there was. */
  statusLost(): void {
    this.#books.isStatusKnown = false;
    this.#books.isCompromiseKnown = false;
  }

  /** A date that a wrong clock wrote may keep a compromised key for longer. */
  clockJumped(): void {
    this.#books.isCompromiseKnown = false;
  }

  /** S6: key material is nowhere but in the data of Secrets. */
  heard(text: string): void {
    if (text.includes(CANARY) || text.includes(BASE64_CANARY)) this.accuse("S6 key material was said aloud");
  }

  before(call: Call): void {
    if (call.isWrite) this.#truth = this.#court.truth();
  }

  after(process: Process, call: Call): void {
    const before = this.#truth;
    this.#truth = undefined;
    if (!call.isWrite || !before) return;
    if (call.port === "http" && call.verb === "DELETE") this.#afterDelete(before, process, call);
    if (call.port === "http") return;
    const [kind, address = ""] = call.target.split(" ");
    if (kind === "Secret") this.#afterSecretWrite(process, address);
    if (kind === "ServiceBinding") this.#afterResourceWrite(before, address);
  }

  #afterSecretWrite(process: Process, address: string): void {
    const now = this.#court.truth();
    const secret = this.#court.storedSecret(address);
    if (!secret) {
      this.#afterSecretRemoval(now, process, address);
      return;
    }
    this.heard(JSON.stringify({ ...secret, data: undefined }));
    const owner = ownerNameOf(secret);
    if (owner === undefined) return;
    const keyId = keyIdIn(secret) ?? "";
    const isExcused = this.#isExcused(process, owner);
    if (!this.works(secret) && !this.#books.takenAway.has(keyId) && !isExcused) {
      this.accuse(`S1 the Secret was written with a key that does not work: ${keyId}`);
    }
    const key = now.live.get(keyId);
    if (key && !isKeyOf(key, owner)) this.accuse(`S1 the Secret of ${owner} was written with somebody else's key`);
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
      if (!isExcused) this.#notOlder(now, last, keyId);
      this.#books.replacedAt.set(last, this.#court.clock.now());
    }
    this.#books.replacedAt.delete(keyId);
    this.#books.publications.add(keyId);
    this.#books.lastPublished.set(owner, keyId);
  }

  /** Only Secrets that a resource has left may go. */
  #afterSecretRemoval({ subjects }: Truth, process: Process, address: string): void {
    for (const subject of subjects.values()) {
      if (isTarget(subject, address) && !subject.state.isDeleting && !this.#isExcused(process, subject.name))
        this.accuse(`S1 the Secret ${address} was removed`);
    }
  }

  /** A key that was replaced does not come back while its successor lives. */
  #notOlder({ live }: Truth, last: string, keyId: string): void {
    const [old, fresh] = [live.get(last), live.get(keyId)];
    if (!old || !fresh || sequenceOf(fresh) >= sequenceOf(old)) return;
    this.accuse(`S1 an older key was published again: ${keyId} over ${last}`);
  }

  /** Whether all that a consumer needs is in a Secret, and lets it in. */
  works(secret: KubeObject): boolean {
    const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
    const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
    if (COMPLETE.some((key) => text(key) === "")) return false;
    const whole = JSON.parse(text("credentials")) as Readonly<Record<string, unknown>>;
    const isWhole = Object.entries(whole).every(([key, value]) => String(value) === text(key));
    return isWhole && this.#court.authenticate(whole);
  }

  #afterResourceWrite(before: Truth, name: string): void {
    const subject = this.#court.truth().subjects.get(name);
    if (subject) this.heard(JSON.stringify(subject.object));
    const old = before.subjects.get(name)?.state;
    const { externalName } = subject?.state ?? {};
    // Without a Secret, activation counts as publication.
    if (subject?.policy?.publishes === false && externalName !== undefined && externalName !== old?.externalName)
      this.#noteKey(this.#court.truth(), { owner: name, keyId: externalName, isExcused: false });
    const active = old?.active?.id;
    if (active === undefined) return;
    if (old?.request?.isCompromised) this.#books.compromised.add(active);
    const sequence = subject?.state.pending?.sequence;
    if (sequence === undefined || sequence === old?.pending?.sequence || !subject?.policy) return;
    if (!this.#books.overlaps.has(active)) this.#books.overlaps.set(active, overlapOf(subject.policy));
  }

  #afterDelete(before: Truth, process: Process, call: Call): void {
    const id = BINDING_PATH.exec(call.target)?.[1] ?? "";
    const binding = before.live.get(id);
    if (!binding) return;
    if (clusterOf(binding) !== CLUSTER_ID) this.accuse(`S2 a key of somebody else was deleted: ${id}`);
    const owner = before.subjects.get(holderOf(binding) ?? "");
    if (!owner || owner.state.isDeleting || this.#isExcused(process, owner.name)) return;
    const holder = [...before.published].find(([, keyId]) => keyId === id)?.[0];
    if (holder !== undefined && !this.#isUnseen(process, owner, holder))
      this.accuse(`S1 the key in the Secret ${holder} was deleted: ${id}`);
    this.#notNeeded(owner, binding);
    this.#inTime(owner, binding);
  }

  #notNeeded({ state }: Subject, binding: LiveBinding): void {
    const { id, credentialsWork, isReady } = binding;
    if (state.active?.id === id && credentialsWork) this.accuse(`S2 the active key was deleted: ${id}`);
    if (state.pending?.sequence === sequenceOf(binding) && credentialsWork && isReady) {
      this.accuse(`S2 a key of the pending intent was deleted: ${id}`);
    }
  }

  /** S3 by true time and our own books. Only keys that were ever published have users to be waited for. */
  #inTime({ policy }: Subject, { id, createdAt }: LiveBinding): void {
    const { publications, compromised, replacedAt, overlaps } = this.#books;
    if (!publications.has(id) || compromised.has(id)) return;
    const replaced = replacedAt.get(id);
    if (replaced === undefined) return;
    const lifeEnd = policy?.ttlMs === undefined ? 0 : createdAt + policy.ttlMs;
    const promised = overlaps.get(id) ?? 0;
    // What was promised is lost with the status; what the policy of now promises still holds.
    const overlapMs = this.#books.isStatusKnown || !policy ? promised : Math.min(promised, overlapOf(policy));
    const early = Math.max(replaced + overlapMs, lifeEnd) - this.#court.clock.now();
    if (early > 0) this.accuse(`S3 a key was deleted ${Math.ceil(early / 1000)} s before its time: ${id}`);
  }

  /** A Secret that was left, and that a person touched while the watch that would tell of it stood still. */
  #isUnseen({ watch }: Process, { spec }: Subject, secretName: string): boolean {
    return secretName !== spec?.secret?.name && this.#personStep >= watch.standsSince;
  }

  /**
   * What a person changes after the last live reads nobody can see: that is not the operator's doing. The Secret is read
   * first of the two, so its reading counts where there is one.
   */
  #isExcused(process: Process, owner: string): boolean {
    if (owner !== RESOURCE) return false;
    const secret = process.readAt.get("Secret default/orders-secret");
    return this.#personStep >= (secret ?? process.readAt.get(`ServiceBinding ${RESOURCE}`) ?? -1);
  }
}

const isTarget = ({ spec }: Subject, address: string): boolean =>
  address === `${spec?.secret?.namespace}/${spec?.secret?.name}`;

const isKeyOf = (key: LiveBinding, owner: string): boolean => clusterOf(key) === CLUSTER_ID && holderOf(key) === owner;
