import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { type Random, uuid } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { keyFields } from "../../bind/key-fields.ts";
import {
  acceptableKeys,
  acceptKey,
  dropKey,
  findKey,
  type KeyRing,
  markKey,
  type RingKey,
  removeKey,
} from "../../bind/key-ring.ts";
import { isRndcAlgorithm } from "../../rndc/algorithms.ts";
import { RndcKeyInvalid } from "../../rndc/errors.ts";
import { generateRndcKey, type RndcKey } from "../../rndc/key.ts";
import { sendCommand } from "../../rndc/send-command.ts";
import type { Connection, Created, CreateRequest, Credentials, MarkFilter, Marks, OutsideKey } from "../contract.ts";
import { matchesFilter } from "../mark-filter.ts";
import { ProviderError } from "../provider-error.ts";
import { objectionWords, strangerWords, worthTelling } from "./objection-words.ts";
import type {
  Illnesses,
  KeyUsers,
  Moves,
  NamedServer,
  RingStore,
  SendCommand,
  ServerList,
  Strangers,
} from "./ports.ts";
import { addedTo, RingKeeper } from "./ring-keeper.ts";
import { acceptanceQuestion, removalQuestion } from "./ring-questions.ts";
import { type Acceptance, COMMAND_TIMEOUT_MS, type Objection, ServerGate } from "./server-gate.ts";

/** How servers come to know of keys. */
export type BindMode =
  /** They read the ring while they run: a key is ready once all of them accept it, and gone once all refuse it. */
  | { readonly kind: "overlap" }
  /**
   * They read the published key when they start, always under this name: a key is ready once all of those who use it can be
   * restarted, and gone once all have been. Without `users` nobody is asked.
   */
  | { readonly kind: "restart"; readonly keyName: string; readonly users?: KeyUsers };

export interface BindConnectionOptions {
  /** What the ring is called: the instance that its keys belong to. */
  readonly place: string;
  readonly mode: BindMode;
  readonly store: RingStore;
  readonly servers: ServerList;
  readonly clock: Clock;
  /** The system's wherever keys are to be kept secret. */
  readonly random: Random;
  readonly send?: SendCommand;
  readonly timeoutMs?: number;
  /** The key that is in use: whether every server that is there now accepts it is found out with every look at it. */
  readonly inUse?: string | undefined;
  /** The sequence of the key that is to be published next, for as long as it is not. */
  readonly unpublished?: number | undefined;
  /** When keys are to count as made, where somebody has said otherwise than the ring. */
  readonly dates?: ReadonlyMap<string, number>;
  readonly illnesses?: Illnesses;
  readonly strangers?: Strangers;
  /** All keys are on their way out: servers that have not started will not. */
  readonly isLeaving?: boolean;
}

/** What `CreateRequest.parameters` may hold. */
export interface BindParameters {
  readonly algorithm?: string;
  /** A key that is there already and is taken as it is, with its name. */
  readonly key?: RndcKey;
}

const DEFAULT_ALGORITHM = "hmac-sha256";
/** Longer than a kubelet goes on handing out what it remembers: whatever starts after that reads the ring as it is. */
const BIRTH_MS = 5 * 60_000;

/** The keys of the named servers that share a ring, as the protocol sees keys. */
export function createBindConnection(options: BindConnectionOptions): Connection {
  return new BindConnection(options);
}

/**
 * A key is made by putting it into the ring and removed by taking it out; between the two stand the servers, each of which
 * has to follow. Looking at a key that is on its way asks them, tells those that are behind to read their configuration
 * again, and writes down what has come of it: nobody else would carry it on. Must not: call a key ready that a server may
 * refuse, or gone that one may accept.
 */
class BindConnection implements Connection {
  readonly #options: BindConnectionOptions;
  readonly #ring: RingKeeper;
  readonly #gate: ServerGate;
  /** A server accepts a key that is nobody's: it is asked again. */
  #isCrowded = false;

  constructor(options: BindConnectionOptions) {
    const { clock, random, send = sendCommand, timeoutMs = COMMAND_TIMEOUT_MS } = options;
    this.#options = options;
    this.#ring = new RingKeeper(options.store);
    this.#gate = new ServerGate({ clock, random, send, timeoutMs });
  }

  async listMarked(filter: MarkFilter, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    return this.#look(({ marks }) => matchesFilter(marks, filter), signal);
  }

  async findByName(instanceId: string, name: string, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    if (instanceId !== this.#options.place) return [];
    return this.#look(({ key }) => key.name === name, signal);
  }

  async observe(id: string, signal: AbortSignal): Promise<OutsideKey | undefined> {
    return (await this.#look((key) => key.id === id, signal))[0];
  }

  /** The first key of a ring is ready at once: no server can have been told anything with another one. */
  async create({ name, instanceId, parameters, marks }: CreateRequest, signal: AbortSignal): Promise<Created> {
    const { place, random, clock, mode } = this.#options;
    if (instanceId !== place) throw new ProviderError("InstanceNotFound", `keys are made in ${place}`);
    const made = { id: uuid(random), key: this.#newKey(name, parameters.reveal()), createdAt: clock.now(), marks };
    const ring = await this.#ring.take((before) => {
      if (findKey(before, made.id)) return before;
      const isReady = (mode.kind === "restart" && !mode.users) || before.keys.length === 0;
      const after = addedTo(before, made);
      return isReady ? acceptKey(after, made.id) : after;
    }, signal);
    const stored = findKey(ring, made.id);
    if (stored?.phase !== "accepted") return { kind: "accepted", id: made.id };
    return { kind: "ready", key: this.#keyOf(stored, "ready"), credentials: this.#credentialsOf(stored) };
  }

  async readCredentials(id: string, signal: AbortSignal): Promise<Credentials> {
    const key = findKey(await this.#ring.read(signal), id);
    if (key?.phase === "adding") throw new ProviderError("ProviderBusy", "not every server accepts the key yet");
    if (key?.phase !== "accepted") throw new ProviderError("ProviderUnavailable", `the key ${id} is not in the ring`);
    return this.#credentialsOf(key);
  }

  async delete(id: string, signal: AbortSignal): Promise<"gone" | "accepted"> {
    const ring = await this.#ring.take((before) => {
      this.#expectKeyInUse(before, id);
      const after = removeKey(before, id);
      return this.#users || this.#mustBeRefused(after) ? after : dropKey(after, id);
    }, signal);
    return findKey(ring, id) ? "accepted" : "gone";
  }

  async mark(id: string, marks: Marks | undefined, signal: AbortSignal): Promise<void> {
    const ring = await this.#ring.take((before) => {
      const key = findKey(before, id);
      return !key || isDeepStrictEqual(key.marks, marks) ? before : markKey(before, id, marks);
    }, signal);
    if (marks && !findKey(ring, id)) throw new ProviderError("ProviderRefused", `the key ${id} is not in the ring`);
  }

  /** A ring that is not there is made with its first key. */
  async observeInstance(instanceId: string): Promise<"present" | "gone"> {
    return instanceId === this.#options.place ? "present" : "gone";
  }

  async describeInstance(): Promise<undefined> {
    return undefined;
  }

  /** The servers are listed once the ring has been read: whichever is not among them will read that ring, or a later one. */
  async #look(isMeant: (key: RingKey) => boolean, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const ring = await this.#ring.read(signal);
    let listed: Promise<readonly NamedServer[]> | undefined;
    const servers = (): Promise<readonly NamedServer[]> => {
      listed ??= this.#options.servers.list(signal);
      return listed;
    };
    let moving: Promise<Moves> | undefined;
    const moves = (users: KeyUsers): Promise<Moves> => {
      moving ??= this.#moves({ users, ring, servers, signal });
      return moving;
    };
    const words = await this.#expel(ring, servers, signal);
    const meant = ring.keys.filter((key) => !key.isStrange && isMeant(key));
    const looks = meant.map((key) => this.#lookAt({ key, ring, servers, moves, signal }));
    const seen = (await Promise.all(looks)).filter((key) => key !== undefined);
    return words === undefined ? seen : seen.map((key) => this.#withNotice(key, words));
  }

  /** Keys that somebody else has written into the ring: taken out once no server accepts them. In words, what is told of them. */
  async #expel(ring: KeyRing, servers: Sight["servers"], signal: AbortSignal): Promise<string | undefined> {
    const { strangers, illnesses, clock } = this.#options;
    const strange = ring.keys.filter(({ isStrange }) => isStrange);
    const names = await strangers?.tell(
      strange.map(({ id, key }) => ({ id, name: key.name })),
      signal,
    );
    const isAsked = this.#mustBeRefused(ring);
    for (const key of strange) {
      const question = removalQuestion({ key, ring, signal });
      const objections = isAsked ? await this.#gate.stillAccepting(await servers(), question) : [];
      if (objections.length === 0) await this.#ring.take((before) => dropKey(before, key.id), signal);
      else this.#isCrowded = true;
    }
    if (this.#isCrowded) illnesses?.since(strange[0]?.id ?? "", clock.now());
    return names && names.length > 0 ? strangerWords(names) : undefined;
  }

  /** The key in use is where people look. */
  #withNotice(key: OutsideKey, words: string): OutsideKey {
    if (key.id !== this.#options.inUse) return key;
    return { ...key, notice: key.notice === undefined ? words : `${key.notice}; ${words}` };
  }

  #lookAt(sight: Sight): Promise<OutsideKey | undefined> {
    switch (sight.key.phase) {
      case "adding":
        return this.#lookAtNew(sight);
      case "removing":
        return this.#lookAtLeaving(sight);
      case "accepted":
        return this.#lookAtAccepted(sight);
    }
  }

  async #lookAtNew(sight: Sight): Promise<OutsideKey | undefined> {
    const { key, signal } = sight;
    const objections = await this.#againstNew(sight);
    if (objections.length > 0) return this.#notYet(key, objections);
    const now = findKey(await this.#ring.take((ring) => acceptKey(ring, key.id), signal), key.id);
    return now && this.#keyOf(now, now.phase === "accepted" ? "ready" : "deleting");
  }

  #notYet(key: RingKey, objections: readonly Objection[]): OutsideKey {
    const what = this.#asksNobody ? "the key is not replaced yet" : `not every server accepts ${key.key.name}`;
    return { ...this.#keyOf(key, "creating"), ...this.#illness(what, objections, key.createdAt) };
  }

  async #againstNew(sight: Sight): Promise<readonly Objection[]> {
    const { signal } = sight;
    if (this.#asksNobody) return (await this.#users?.notPrepared(signal)) ?? [];
    const objections = await this.#gate.notAccepting(await sight.servers(), acceptanceQuestion(sight));
    // One that does not start may be waiting for this very key to be published.
    return this.#options.clock.now() - sight.key.createdAt < BIRTH_MS ? objections : objections.filter(isBorn);
  }

  async #lookAtLeaving(sight: Sight): Promise<OutsideKey | undefined> {
    const { key, signal } = sight;
    const objections = await this.#againstRemoval(sight);
    if (objections.length > 0) {
      const what = this.#users ? NOT_MOVED : `not every server refuses ${key.key.name}`;
      const complaint = objectionWords(what, objections);
      return { ...this.#keyOf(key, "deleting"), complaint };
    }
    const now = findKey(await this.#ring.take((before) => dropKey(before, key.id), signal), key.id);
    return now && this.#keyOf(now, "deleting");
  }

  async #againstRemoval(sight: Sight): Promise<readonly Objection[]> {
    if (this.#users) return this.#isPast(sight.key) ? [FROM_THE_PAST] : (await sight.moves(this.#users)).behind;
    if (!this.#mustBeRefused(sight.ring)) return [];
    const objections = await this.#gate.stillAccepting(await sight.servers(), removalQuestion(sight));
    return this.#options.isLeaving ? objections.filter(isBorn) : objections;
  }

  /** A server without an address is one that will read the ring as it is. */
  async #lookAtAccepted(sight: Sight): Promise<OutsideKey> {
    const { key } = sight;
    const { inUse, illnesses, clock } = this.#options;
    const seen = this.#keyOf(key, "ready");
    if (key.id !== inUse) return this.#isUnpublished(key) ? this.#lookAtUnpublished(sight) : seen;
    if (this.#users) return { ...seen, ...this.#movesOf(key, await sight.moves(this.#users)) };
    if (this.#asksNobody) return seen;
    const objections = await this.#gate.notAccepting(await sight.servers(), acceptanceQuestion(sight));
    const standing = objections.filter(isBorn);
    if (standing.length === 0) {
      if (!this.#isCrowded) illnesses?.recovered(key.id);
      return seen;
    }
    const now = clock.now();
    const what = `not every server accepts ${key.key.name}`;
    return { ...seen, ...this.#illness(what, standing, illnesses?.since(key.id, now) ?? now) };
  }

  #isUnpublished({ marks }: RingKey): boolean {
    const { inUse, unpublished } = this.#options;
    if (!this.#users || inUse === undefined || unpublished === undefined) return false;
    return marks?.sequence === unpublished;
  }

  /** Since it was found ready, restarts may have been stopped. */
  async #lookAtUnpublished(sight: Sight): Promise<OutsideKey> {
    const objections = await this.#againstNew(sight);
    return objections.length > 0 ? this.#notYet(sight.key, objections) : this.#keyOf(sight.key, "ready");
  }

  /** Those who will not move by themselves are a complaint at once; that others are on their way is how things are. */
  #movesOf({ id }: RingKey, { behind, remarks }: Moves): Illness & Pick<OutsideKey, "notice"> {
    const { clock, illnesses } = this.#options;
    const now = clock.now();
    if (behind.length === 0) illnesses?.recovered(id);
    const stuck = behind.filter(({ kind }) => kind === "broken");
    const moving = behind.filter(({ kind }) => kind !== "broken");
    const words = [...(moving.length > 0 ? [objectionWords(`${NOT_MOVED} yet`, moving)] : []), ...remarks];
    const since = behind.length > 0 ? (illnesses?.since(id, now) ?? now) : now;
    return {
      ...(stuck.length > 0 && this.#illness(NOT_MOVED, stuck, since)),
      ...(words.length > 0 && { notice: words.join("; ") }),
    };
  }

  /** Which server still knows a key of before is found out first: what it then runs on is certain. */
  async #moves(what: {
    readonly users: KeyUsers;
    readonly ring: KeyRing;
    readonly servers: () => Promise<readonly NamedServer[]>;
    readonly signal: AbortSignal;
  }): Promise<Moves> {
    const { users, ring, servers, signal } = what;
    const isFormer = ({ id, phase, isStrange }: RingKey): boolean =>
      id !== this.#options.inUse && phase !== "adding" && !isStrange;
    const former = ring.keys.filter(isFormer);
    const keys = former.map(({ key }) => key);
    const acceptance = keys.length > 0 ? await this.#gate.accepting(await servers(), keys, signal) : NOBODY;
    const sequenceInUse = sequenceOf(findKey(ring, this.#options.inUse ?? ""));
    const areOlder = former.every((key) => sequenceOf(key) < sequenceInUse);
    return users.moves({ ...acceptance, areOlder }, signal);
  }

  /** Another key would fare no better: what is wrong is with the servers. */
  #illness(what: string, objections: readonly Objection[], illSince: number): Illness {
    const told = worthTelling(objections, this.#options.clock.now() - illSince);
    const complaint = told.length > 0 && { complaint: objectionWords(what, told) };
    return { illSince, isHindered: true, ...complaint };
  }

  get #asksNobody(): boolean {
    return this.#options.mode.kind === "restart";
  }

  get #users(): KeyUsers | undefined {
    const { mode } = this.#options;
    return mode.kind === "restart" ? mode.users : undefined;
  }

  /** Who has moved on is told by the key that has taken its place: by a status that knows of none, nobody is. */
  #isPast({ id }: RingKey): boolean {
    const { inUse } = this.#options;
    return inUse === undefined || inUse === id;
  }

  /** Where somebody has taken the key in use out of the ring, another one may be the last that servers know. */
  #expectKeyInUse(ring: KeyRing, removed: string): void {
    const { inUse } = this.#options;
    if (inUse === undefined || inUse === removed || !findKey(ring, removed) || findKey(ring, inUse)) return;
    throw new ProviderError("ProviderBusy", "the key in use is not in the ring: none is taken out of it until one is");
  }

  /** With the last key the control channel goes too, and with it whoever could be asked. */
  #mustBeRefused(ring: KeyRing): boolean {
    return !this.#asksNobody && acceptableKeys(ring).length > 0;
  }

  #newKey(name: string, { algorithm = DEFAULT_ALGORITHM, key }: BindParameters): RndcKey {
    if (key) return key;
    if (!isRndcAlgorithm(algorithm)) throw new ProviderError("ProviderRefused", "the algorithm is not known");
    try {
      return generateRndcKey(name, algorithm, this.#options.random);
    } catch (error) {
      if (error instanceof RndcKeyInvalid) throw new ProviderError("ProviderRefused", error.message);
      throw error;
    }
  }

  #credentialsOf({ key }: RingKey): Credentials {
    const { mode } = this.#options;
    const given = mode.kind === "restart" ? { ...key, name: mode.keyName } : key;
    return new Redacted({ ...keyFields(given).reveal() });
  }

  #keyOf({ id, key, createdAt, marks }: RingKey, state: OutsideKey["state"]): OutsideKey {
    const { place, dates } = this.#options;
    const at = dates?.get(id) ?? createdAt;
    return { id, name: key.name, instanceId: place, state, createdAt: at, ...(marks && { marks }) };
  }
}

type Illness = Pick<OutsideKey, "illSince" | "isHindered" | "complaint">;

/** A key of a ring that is being looked at. */
interface Sight {
  readonly key: RingKey;
  readonly ring: KeyRing;
  readonly servers: () => Promise<readonly NamedServer[]>;
  readonly moves: (users: KeyUsers) => Promise<Moves>;
  readonly signal: AbortSignal;
}

/** Of one that bears no marks nobody can tell: it is older than none, and none is older than it. */
const sequenceOf = (key: RingKey | undefined): number => key?.marks?.sequence ?? Number.NaN;
const isBorn = ({ kind }: Objection): boolean => kind !== "unborn";
const FROM_THE_PAST: Objection = { server: "the status", why: "knows of no later key", kind: "behind" };
const NOT_MOVED = "not everybody runs on the new key";
const NOBODY: Acceptance = { accepting: new Set(), silent: new Set() };
