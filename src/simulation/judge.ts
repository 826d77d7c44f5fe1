import { overlapOf } from "../engine/dates.ts";
import type { Policy, State } from "../engine/model.ts";
import type { KubeObject } from "../kube/objects.ts";
import { serviceBindingKind } from "../reconcile/btp/service-binding-kind.ts";
import type { LiveBinding } from "../sandbox/service-manager/sandbox-service-manager.ts";
import type { Call, Process } from "./process.ts";
import { CANARY, CLUSTER_ID, RESOURCE } from "./scene.ts";
import type { World } from "./world.ts";

/** What is true at one moment, whatever anybody believes. */
interface Truth {
  readonly resource: KubeObject | undefined;
  readonly state: State | undefined;
  readonly policy: Policy | undefined;
  /** The key ids in Secrets of ours, by the Secret's name. */
  readonly published: ReadonlyMap<string, string>;
  readonly live: ReadonlyMap<string, LiveBinding>;
}

/** What the judge remembers by itself. */
export interface Books {
  lastPublished: string | undefined;
  readonly publications: Map<string, number>;
  readonly replacedAt: Map<string, number>;
  readonly overlaps: Map<string, number>;
  readonly compromised: Set<string>;
  /** Keys that the outside or a person took away. */
  readonly takenAway: Set<string>;
  /** How often a person did something that may call for a key of its own. */
  personActs: number;
}

const NO_BOOKS: Books = {
  lastPublished: undefined,
  publications: new Map(),
  replacedAt: new Map(),
  overlaps: new Map(),
  compromised: new Set(),
  takenAway: new Set(),
  personActs: 0,
};

const OWNER_LABEL = "keyturn.dev/owner-uid";
const KEY_ID = "keyturn.dev/key-id";
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
  readonly #world: World;
  #truth: Truth | undefined;
  readonly #books: Books;
  #personStep = -1;

  constructor(world: World, books: Books = NO_BOOKS) {
    this.#world = world;
    this.#books = structuredClone(books);
  }

  copyBooks(): Books {
    return structuredClone(this.#books);
  }

  /** Somebody who is not the operator has changed something: what was read before does not hold any more. */
  personActed(takenAway?: string): void {
    this.#personStep = this.#world.stepCount;
    this.#books.personActs++;
    if (takenAway !== undefined) this.#books.takenAway.add(takenAway);
  }

  /**
   * Between its publication and the commit, the Secret alone tells that a key was published. Who takes that away there
   * leaves nobody who could know that it has users.
   */
  recordLost(): void {
    const { lastPublished } = this.#books;
    if (lastPublished !== undefined && this.look().state?.active?.id !== lastPublished)
      this.#books.publications.delete(lastPublished);
  }

  /** S6: key material is nowhere but in the data of Secrets. */
  heard(text: string): void {
    if (text.includes(CANARY) || text.includes(BASE64_CANARY)) this.accuse("S6 key material was said aloud");
  }

  before(_process: Process, call: Call): void {
    if (call.isWrite) this.#truth = this.look();
  }

  after(process: Process, call: Call): void {
    const before = this.#truth;
    this.#truth = undefined;
    if (!call.isWrite || !before) return;
    if (call.port === "kube") this.#afterKubeWrite(before, process, call);
    else if (call.verb === "DELETE") this.#afterDelete(before, process, call);
  }

  look(): Truth {
    const resource = this.#world.stored("servicebindings.account.btp.sap.crossplane.io", RESOURCE);
    const published = new Map<string, string>();
    for (const { metadata } of this.#world.storedSecrets()) {
      const keyId = metadata.annotations?.[KEY_ID];
      if (metadata.labels?.[OWNER_LABEL] !== undefined && keyId !== undefined) published.set(metadata.name, keyId);
    }
    return {
      resource,
      state: resource && serviceBindingKind.readState(resource),
      policy: resource && policyOf(resource),
      published,
      live: new Map(this.#world.sandbox.liveBindings().map((binding) => [binding.id, binding])),
    };
  }

  #afterKubeWrite(before: Truth, process: Process, call: Call): void {
    const now = this.look();
    if (call.target.startsWith("Secret")) this.#afterSecretWrite(now, process, call);
    if (call.target.startsWith("ServiceBinding")) this.#afterResourceWrite(before, now);
  }

  #afterSecretWrite(now: Truth, process: Process, call: Call): void {
    const [, address = ""] = call.target.split(" ");
    const secret = this.#world.stored("secrets", address.includes("/") ? address : `default/${address}`);
    if (!secret) {
      this.#afterSecretRemoval(now, process, address);
      return;
    }
    this.heard(JSON.stringify({ ...secret, data: undefined }));
    const keyId = secret.metadata.annotations?.[KEY_ID] ?? "";
    const isExcused = this.#isExcused(process);
    if (!this.#works(secret) && !this.#books.takenAway.has(keyId) && !isExcused) {
      this.accuse(`S1 the Secret was written with a key that does not work: ${keyId}`);
    }
    const at = this.#world.clock.now();
    const last = this.#books.lastPublished;
    if (last !== undefined && last !== keyId && !isExcused) this.#notOlder(now, last, keyId);
    if (last !== undefined && last !== keyId) this.#books.replacedAt.set(last, at);
    this.#books.replacedAt.delete(keyId);
    this.#books.publications.set(keyId, at);
    this.#books.lastPublished = keyId;
  }

  /** Only Secrets that the resource has left may go. */
  #afterSecretRemoval({ resource, state }: Truth, process: Process, address: string): void {
    if (!resource || state?.isDeleting || this.#isExcused(process)) return;
    const target = serviceBindingKind.readSpec(resource).secret;
    if (address === `${target?.namespace}/${target?.name}`) this.accuse(`S1 the Secret ${address} was removed`);
  }

  /** A key that was replaced does not come back while its successor lives. */
  #notOlder(now: Truth, last: string, keyId: string): void {
    const [old, fresh] = [now.live.get(last), now.live.get(keyId)];
    if (!old || !fresh || sequenceOf(fresh) >= sequenceOf(old)) return;
    this.accuse(`S1 an older key was published again: ${keyId} over ${last}`);
  }

  #works(secret: KubeObject): boolean {
    const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
    const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
    if (COMPLETE.some((key) => text(key) === "")) return false;
    const whole = JSON.parse(text("credentials")) as Readonly<Record<string, unknown>>;
    return this.#world.sandbox.authenticate(whole) && whole.password === text("password");
  }

  #afterResourceWrite(before: Truth, now: Truth): void {
    if (now.resource) this.heard(JSON.stringify(now.resource));
    const { state } = now;
    const active = before.state?.active?.id;
    if (before.state?.request?.isCompromised && active !== undefined) this.#books.compromised.add(active);
    if (!state?.pending || state.pending.sequence === before.state?.pending?.sequence || active === undefined) return;
    if (!this.#books.overlaps.has(active) && now.policy) this.#books.overlaps.set(active, overlapOf(now.policy));
  }

  #afterDelete(before: Truth, process: Process, call: Call): void {
    const id = BINDING_PATH.exec(call.target)?.[1] ?? "";
    const binding = before.live.get(id);
    if (!binding || !before.state || before.state.isDeleting) return;
    if (binding.labels.keyturn_cluster?.[0] !== CLUSTER_ID) this.accuse(`S2 a key of somebody else was deleted: ${id}`);
    if (this.#isExcused(process)) return;
    const { state } = before;
    const sequence = sequenceOf(binding);
    const holders = [...before.published].filter(([, keyId]) => keyId === id);
    if (holders.length > 0) this.accuse(`S1 the key in the Secret ${holders[0]?.[0]} was deleted: ${id}`);
    if (state.active?.id === id && binding.credentialsWork) this.accuse(`S2 the active key was deleted: ${id}`);
    if (state.pending?.sequence === sequence && binding.credentialsWork && binding.isReady) {
      this.accuse(`S2 a key of the pending intent was deleted: ${id}`);
    }
    this.#inTime(before, id, binding);
  }

  /** S3 by true time and our own books. Only keys that were ever published have users to be waited for. */
  #inTime({ policy }: Truth, id: string, { createdAt }: LiveBinding): void {
    if (!this.#books.publications.has(id) || this.#books.compromised.has(id)) return;
    const replacedAt = this.#books.replacedAt.get(id);
    if (replacedAt === undefined) return;
    const overlapEnd = replacedAt + (this.#books.overlaps.get(id) ?? 0);
    const lifeEnd = policy?.ttlMs === undefined ? 0 : createdAt + policy.ttlMs;
    const early = Math.max(overlapEnd, lifeEnd) - this.#world.clock.now();
    if (early > 0) this.accuse(`S3 a key was deleted ${Math.ceil(early / 1000)} s before its time: ${id}`);
  }

  /** What a person changes after the last live read nobody can see: that is not the operator's doing. */
  #isExcused(process: Process): boolean {
    const [resource = -1, secret = Infinity] = [
      process.readAt.get(`ServiceBinding ${RESOURCE}`),
      process.readAt.get("Secret default/orders-secret"),
    ];
    return this.#personStep >= Math.min(resource, secret);
  }

  accuse(violation: string): void {
    this.violations.push(violation);
    this.#world.trace(`      !!! ${violation}`);
  }

  /** What must hold once everything has come to rest. */
  atRest(): void {
    const truth = this.look();
    const ours = [...truth.live.values()].filter(({ labels }) => labels.keyturn_cluster?.[0] === CLUSTER_ID);
    const { state } = truth;
    if (!state) {
      if (ours.length > 0) this.accuse(`S4 the resource is gone, and ${ours.length} key(s) are left outside`);
      return;
    }
    if (state.isDeleting) {
      this.accuse("L1 the resource is being deleted and does not go");
      return;
    }
    const known = new Set([state.active?.id, ...state.retired.map((key) => key.id)]);
    const unknown = ours.filter(({ id }) => !known.has(id));
    if (unknown.length > 0) this.accuse(`S4 ${unknown.length} key(s) outside are unknown to the resource`);
    if (state.pending) this.accuse("L1 an intent is still pending");
    if (!state.active || !truth.live.get(state.active.id)?.credentialsWork) {
      this.accuse("L1 there is no active key that works");
      return;
    }
    if (state.externalName !== state.active.id) this.accuse("L1 external-name is not the active key");
    this.#secretAtRest(truth, state.active.id);
    this.#boundAtRest(truth, state);
  }

  #secretAtRest({ resource, policy }: Truth, activeId: string): void {
    if (!policy?.publishes || !resource) return;
    const secrets = this.#world.storedSecrets().filter(({ metadata }) => metadata.labels?.[OWNER_LABEL] !== undefined);
    const target = serviceBindingKind.readSpec(resource).secret;
    const secret = secrets.find(({ metadata }) => metadata.name === target?.name);
    if (!secret || !this.#works(secret)) {
      this.accuse("L1 the Secret does not work");
      return;
    }
    if (secret.metadata.annotations?.[KEY_ID] !== activeId) this.accuse("L1 the Secret does not hold the active key");
    for (const { metadata } of secrets) {
      const keyId = metadata.annotations?.[KEY_ID];
      if (keyId !== undefined && !this.#world.sandbox.liveBindings().some(({ id }) => id === keyId))
        this.accuse(`L1 the Secret ${metadata.name} holds a dead key`);
    }
  }

  /** S5. */
  #boundAtRest({ policy }: Truth, { retired }: State): void {
    if (policy?.ttlMs === undefined) return;
    const forced = retired.filter(({ cause }) => cause === "forced" || cause === "compromised").length;
    const wanted = Math.floor(overlapOf(policy) / policy.frequencyMs) + 1 + Math.min(forced, policy.maxForced);
    // A spec or an annotation that was changed calls for a key outside the rhythm, and so may each such change.
    const bound = wanted + this.#books.personActs;
    const counted = retired.filter(({ cause }) => cause === "rotated" || cause === "forced" || cause === "compromised");
    if (counted.length > bound) this.accuse(`S5 ${counted.length} retired keys, at most ${bound} are allowed`);
  }
}

const sequenceOf = ({ labels }: LiveBinding): number => Number(labels.keyturn_sequence?.at(-1) ?? 0);

function policyOf(resource: KubeObject): Policy | undefined {
  try {
    return serviceBindingKind.readSpec(resource).policy;
  } catch {
    return undefined;
  }
}
