import { DERIVED_FROM, DERIVED_LABEL, SERVICES_OF } from "../../api/korifi/names.ts";
import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { SecretView } from "../../korifi/model.ts";
import { dataDigest, type SecretWrite } from "../../korifi/plan.ts";
import { viewSecret } from "../../korifi/read-objects.ts";
import { AlreadyExists, BadRequest, Conflict, Forbidden, Invalid, NotFound } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf, type OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { addressOf } from "../managed/managed-caches.ts";
import { ObjectRefused } from "../objects/owned-objects.ts";
import { type ReadMark, SharedReads } from "../restart/shared-reads.ts";
import { KeptReads } from "./kept-reads.ts";
import type { KorifiCaches } from "./korifi-caches.ts";
import { FIELD_MANAGER } from "./korifi-sources.ts";

export interface SecretPlace {
  readonly namespace: string;
  /** Absent where nobody takes it along. */
  readonly owner: OwnerReference | undefined;
  /** What is written over, as it was read. */
  readonly present: SecretView | undefined;
  /** What else it is to say of itself. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface LiveSecretsOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly caches: Pick<KorifiCaches, "secret" | "isCurrent" | "noteWrite">;
}

const READS_AT_A_TIME = 32;
/** Before every read. */
const ANY_READ: ReadMark = -1;
/** So many more are no reason to look for those that are over. */
const FIRST_TIDYING = 4096;
const REFUSALS = [Invalid, Forbidden, BadRequest];

/**
 * The way to Secrets whose values count: read live, written as one and only over what was read. What many are made from is
 * kept for a moment. Must not: keep any other value, or let one into an error.
 */
export class LiveSecrets {
  readonly #kube: Kube;
  readonly #caches: LiveSecretsOptions["caches"];
  readonly #reads = new SharedReads<SecretView | undefined>(READS_AT_A_TIME);
  readonly #kept: KeptReads;
  /** What this process has written, by `namespace/name`. */
  readonly #written = new Map<string, Written>();
  #tidyAt = FIRST_TIDYING;

  constructor({ kube, clock, caches }: LiveSecretsOptions) {
    this.#kube = kube;
    this.#caches = caches;
    this.#kept = new KeptReads(clock);
  }

  /** The moment of now: a read that is shared has begun after it. */
  mark(): ReadMark {
    return this.#reads.mark();
  }

  /** One that many are made from: by a read that began after the mark. */
  shared(namespace: string, name: string, after: ReadMark, signal: AbortSignal): Promise<SecretView | undefined> {
    const key = keyOf({ namespace, name });
    return this.#reads.read(key, after, async () => {
      const view = await this.read(namespace, name, signal);
      // Reads of one Secret do not overlap, so what is kept only ever gets newer.
      this.#kept.keep(key, view ? versionWord(view.uid, view.version) : "", view);
      return view;
    });
  }

  /**
   * The same in the version that the watch tells of, where that was read already: only for whoever writes over nothing but
   * what this process wrote, which was made from the same or from an older one. Others may have made theirs from a newer one.
   */
  async watched(namespace: string, name: string, signal: AbortSignal): Promise<SecretView | undefined> {
    const key = keyOf({ namespace, name });
    const mark = this.mark();
    const word = this.#watchedWord(key);
    if (word === undefined) return this.shared(namespace, name, mark, signal);
    const view = this.#kept.of(key, word) ?? (await this.shared(namespace, name, ANY_READ, signal));
    const isIt = view && versionWord(view.uid, view.version) === this.#watchedWord(key);
    return isIt ? view : this.shared(namespace, name, mark, signal);
  }

  /** Undefined where the watch knows of none, or this process has written a newer one. */
  #watchedWord(key: string): string | undefined {
    const entry = this.#caches.secret(key);
    const isCurrent = this.#caches.isCurrent({ apiVersion: "v1", kind: "Secret", metadata: addressOf(key) });
    return entry && isCurrent ? versionWord(entry.uid, entry.resourceVersion) : undefined;
  }

  /** The watch has told of it: another version is of no use any more. */
  heard({ key }: Delta<unknown>): void {
    this.#kept.forget(key, this.#watchedWord(key));
  }

  /** Whether the watch tells of nothing but what this process wrote over what was there. */
  isEcho(delta: Delta<unknown>): boolean {
    if (delta.type !== "updated") return false;
    const { key, uid, resourceVersion } = delta.entry;
    return this.#written.get(key)?.word === versionWord(uid, resourceVersion);
  }

  async read(namespace: string, name: string, signal: AbortSignal): Promise<SecretView | undefined> {
    const secret = await ifFound(this.#kube.get(secretType, { namespace, name }, { signal }));
    return secret && viewSecret(secret);
  }

  /** Whether there may be such a Secret, as far as the watch knows. */
  mayBe(namespace: string, name: string): boolean {
    const metadata = { namespace, name };
    const isKnown = this.#caches.secret(keyOf(metadata)) !== undefined;
    return isKnown || !this.#caches.isCurrent({ apiVersion: "v1", kind: "Secret", metadata });
  }

  /**
   * Whether this process has written it, and nobody since. What it was made from then is no newer than what the caches know
   * now; of any other, it may be.
   */
  isOurs(namespace: string, { name, uid, version }: SecretView): boolean {
    return this.#written.get(keyOf({ namespace, name }))?.word === versionWord(uid, version);
  }

  /** Without its values, where the watch knows of nothing newer than what this process wrote: it need not be read. */
  remembered(namespace: string, name: string): SecretView | undefined {
    const key = keyOf({ namespace, name });
    const [written, entry] = [this.#written.get(key), this.#caches.secret(key)];
    const isSame = written && entry && written.word === versionWord(entry.uid, entry.resourceVersion);
    return isSame ? written.view : undefined;
  }

  /** Throws `Conflict` where something else is there than what was read, and `ObjectRefused`. */
  async write(write: SecretWrite, place: SecretPlace, signal: AbortSignal): Promise<SecretVersion> {
    const { namespace } = place;
    const object = secretObject(write, place);
    try {
      const { metadata } = await this.#send(object, write, place, signal);
      const { uid = "", resourceVersion: version = "" } = metadata;
      this.#caches.noteWrite({ ...object, metadata });
      const view = writtenView(write, place, { uid, version });
      this.#written.set(keyOf({ namespace, name: write.name }), { word: versionWord(uid, version), view });
      if (this.#written.size > this.#tidyAt) this.#tidy();
      return { uid, version };
    } catch (error) {
      if (error instanceof AlreadyExists || (error instanceof NotFound && write.over)) throw changed(object, error);
      throw asRefusal(object, error);
    }
  }

  /** The very one that was seen: it is not marked as made from others any more. Throws as a write does. */
  async release(
    namespace: string,
    { name, uid, version }: SecretVersion & { readonly name: string },
    signal: AbortSignal,
  ): Promise<void> {
    const body = { metadata: { uid, resourceVersion: version, labels: { [DERIVED_LABEL]: null } } };
    const ref = { namespace, name };
    const secret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: ref };
    try {
      const how = { fieldManager: FIELD_MANAGER, signal };
      const { metadata } = await this.#kube.patch(secretType, ref, { type: "merge", body }, how);
      this.#caches.noteWrite({ ...secret, metadata });
      this.#written.delete(keyOf(ref));
    } catch (error) {
      throw error instanceof NotFound ? changed(secret, error) : asRefusal(secret, error);
    }
  }

  #send(object: KubeObject, { over, data }: SecretWrite, place: SecretPlace, signal: AbortSignal): Promise<KubeObject> {
    const options = { fieldManager: FIELD_MANAGER, signal };
    if (!over) return this.#kube.create<KubeObject>(secretType, object, options);
    const { name, labels, annotations } = object.metadata;
    const values = data.reveal();
    // All of the data and nothing else: whatever others have put on it stays.
    const gone = Object.keys(place.present?.data.reveal() ?? {}).filter((key) => !Object.hasOwn(values, key));
    const body = {
      metadata: { uid: over.uid, resourceVersion: over.version, labels, annotations },
      data: Object.fromEntries([...Object.entries(values), ...gone.map((key) => [key, null] as const)]),
    };
    return this.#kube.patch(secretType, { namespace: place.namespace, name }, { type: "merge", body }, options);
  }

  /** The very one that was seen. */
  async remove(
    namespace: string,
    { name, uid, version }: SecretVersion & { readonly name: string },
    signal: AbortSignal,
  ) {
    await ifFound(this.#kube.delete(secretType, { namespace, name }, { uid, resourceVersion: version, signal }));
    this.#written.delete(keyOf({ namespace, name }));
  }

  #tidy(): void {
    for (const key of this.#written.keys()) if (!this.#caches.secret(key)) this.#written.delete(key);
    this.#tidyAt = Math.max(FIRST_TIDYING, this.#written.size * 2);
  }
}

const changed = ({ metadata }: KubeObject, cause: Error): Conflict =>
  new Conflict(`the Secret ${keyOf(metadata)} has changed`, { cause });

const asRefusal = (object: KubeObject, error: unknown): unknown =>
  [NotFound, ...REFUSALS].some((refusal) => error instanceof refusal)
    ? new ObjectRefused(object, error as Error)
    : error;

interface Written {
  readonly word: string;
  /** Without its values. */
  readonly view: SecretView;
}

function writtenView(write: SecretWrite, place: SecretPlace, version: SecretVersion): SecretView {
  const { owner, present, annotations } = place;
  const { name, type, data, derivedFrom } = write;
  const servicesOf = annotations?.[SERVICES_OF];
  const keys = Object.keys(data.reveal()).map((key) => [key, ""] as const);
  const ownerUids = present?.ownerUids ?? (owner ? [owner.uid] : []);
  const known = new Redacted<Readonly<Record<string, string>>>(Object.fromEntries(keys));
  const said = { ownerUids, derivedFrom, isMarked: true as const, ...(servicesOf !== undefined && { servicesOf }) };
  return { name, ...version, type, data: known, digest: dataDigest(data), ...said };
}

export interface SecretVersion {
  readonly uid: string;
  readonly version: string;
}

export const versionWord = (uid: string, version: string): string => `${uid}@${version}`;

function secretObject({ name, type, data, derivedFrom }: SecretWrite, place: SecretPlace): KubeObject {
  const { namespace, owner, annotations } = place;
  return {
    apiVersion: "v1",
    kind: "Secret",
    type,
    metadata: {
      name,
      namespace,
      labels: { [DERIVED_LABEL]: "true" },
      annotations: { ...annotations, [DERIVED_FROM]: derivedFrom },
      ...(owner && { ownerReferences: [owner] }),
    },
    data: data.reveal(),
  };
}

/** By which a Secret goes with what it was made for. Nobody's deletion waits for it. */
export const takenAlongBy = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
});
