import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { CREATED_AT } from "../../api/bind/names.ts";
import { InvalidValue } from "../../base/errors.ts";
import { parseInstant } from "../../base/instant.ts";
import { ownName } from "../../base/own-names.ts";
import { Redacted } from "../../base/redacted.ts";
import {
  acceptKey,
  addKey,
  EMPTY_RING,
  findKey,
  type KeyRing,
  type RingMarks,
  ringFromJson,
} from "../../bind/key-ring.ts";
import { readKeySecret } from "../../bind/key-secret.ts";
import { MADE_BY_US } from "../../bind/ownership.ts";
import { RING_FILE, renderRing } from "../../bind/render-ring.ts";
import { AlreadyExists, Conflict, NotFound } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject, OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { RingStore, StoredRing } from "../../providers/bind/ports.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { keyIdOf, type SecretAddress, secretType, sequenceOf } from "../../publish/secret-publisher.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import { addOwner, hasOtherController, isOwnedBy } from "../parents/child-owner.ts";
import { ask, type ChildCall } from "../parents/child-problem.ts";
import { RING_SEALS, type RingSealing, sealsText, withStrangers } from "./ring-seals.ts";

/** By which rings are found, and watched. */
export const RING_LABEL = ownName("key-ring");

export interface KubeRingStoreOptions {
  readonly kube: Kube;
  readonly ring: SecretAddress;
  /** Where the active key is published. */
  readonly published: SecretAddress;
  /** The RndcKey. */
  readonly owner: OwnerReference;
  /** The marks of a key of the owner's. */
  readonly marksOf: (sequence: number) => RingMarks;
  readonly now: () => number;
  /**
   * What the published Secret may bring back into a ring that lacks it; absent for one whose keys are all on their way out.
   */
  readonly recovery?: Recovery;
  /** How keys of ours are told from those of others; absent: all are taken for ours. */
  readonly sealing?: RingSealing;
}

export interface Recovery {
  /**
   * Whether the RndcKey knows this key, which the ring lacks, for one that is to be accepted: a Secret may be from a backup,
   * with a dead one.
   */
  isWanted(key: { readonly id: string; readonly sequence: number }, ring: KeyRing): boolean;
  /** Whether somebody has changed the data of the Secret by hand. */
  isEdited(secret: KubeObject): boolean;
}

const MAX_ATTEMPTS = 5;

/**
 * The ring as a Secret that its RndcKey owns, with what named includes beside it. Reading puts right what is wrong with it:
 * files that are not what the ring says, an owner of before a restore, a published key that it lacks, keys that somebody
 * has written there. Must not: write over a Secret of somebody else, or what it has not read.
 */
export class KubeRingStore implements RingStore {
  readonly #options: KubeRingStoreOptions;

  constructor(options: KubeRingStoreOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<StoredRing> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const secret = await this.#get(this.#options.ring, signal);
      if (secret) this.#refuseForeign(secret);
      const found = secret && this.#ringIn(secret);
      // The ring first, then the Secret: what is published was in the ring before, and still is unless somebody took it.
      const ring = await this.#withPublished(found, signal);
      const version = secret?.metadata.resourceVersion;
      if (secret ? this.#isAsItShould(secret, ring) : ring.keys.length === 0) return { ring, version };
      const written = await this.#write(ring, secret, signal);
      if (written !== "changed") return written;
    }
    throw new ProviderError("ProviderBusy", `the Secret ${this.#options.ring.name} keeps changing`);
  }

  async replace(ring: KeyRing, over: StoredRing, signal: AbortSignal): Promise<StoredRing | "changed"> {
    const secret = over.version === undefined ? undefined : await this.#get(this.#options.ring, signal);
    if (secret?.metadata.resourceVersion !== over.version) return "changed";
    return this.#write(ring, secret, signal);
  }

  async #write(ring: KeyRing, over: KubeObject | undefined, signal: AbortSignal): Promise<StoredRing | "changed"> {
    const { kube, ring: ref } = this.#options;
    const object = this.#secretOf(ring, over);
    return ask(this.#call(over ? "update" : "create", ref, signal), async () => {
      try {
        const { metadata } = over
          ? await kube.replace<KubeObject>(secretType, object, { signal })
          : await kube.create<KubeObject>(secretType, object, { signal });
        return { ring, version: metadata.resourceVersion };
      } catch (error) {
        const isChanged =
          error instanceof Conflict || (over ? error instanceof NotFound : error instanceof AlreadyExists);
        if (isChanged) return "changed";
        throw error;
      }
    });
  }

  #ringIn(secret: KubeObject): KeyRing | "damaged" {
    const { sealing } = this.#options;
    const ring = ringIn(secret);
    return ring === "damaged" || !sealing ? ring : withStrangers(ring, secret.metadata, sealing);
  }

  #secretOf(ring: KeyRing, over: KubeObject | undefined): KubeObject {
    const { ring: ref, owner, sealing } = this.#options;
    const metadata = over?.metadata ?? ref;
    const labels = { ...over?.metadata.labels, ...MADE_BY_US, [RING_LABEL]: "true" };
    const annotations = { ...over?.metadata.annotations, ...(sealing && { [RING_SEALS]: sealsText(ring, sealing) }) };
    const ownerReferences = addOwner(metadata, owner);
    return {
      apiVersion: "v1",
      kind: "Secret",
      type: "Opaque",
      metadata: { ...metadata, labels, annotations, ownerReferences },
      data: dataOf(ring),
    };
  }

  #isAsItShould({ metadata, data }: KubeObject, ring: KeyRing): boolean {
    const { sealing } = this.#options;
    const isLabelled = metadata.labels?.[RING_LABEL] === "true";
    const isSealed = !sealing || metadata.annotations?.[RING_SEALS] === sealsText(ring, sealing);
    return (
      isLabelled &&
      isSealed &&
      isOwnedBy(metadata, this.#options.owner) &&
      isDeepStrictEqual(fieldsOf(data), dataOf(ring))
    );
  }

  /** Ours is what names the RndcKey, under whatever UID; and what bears our label and names nobody. */
  #refuseForeign({ metadata }: KubeObject): void {
    const { owner, ring } = this.#options;
    const { ownerReferences = [], labels = {} } = metadata;
    const isNamed = ownerReferences.some(
      ({ uid, kind, name }) => uid === owner.uid || (kind === owner.kind && name === owner.name),
    );
    const isLeft = ownerReferences.length === 0 && labels[RING_LABEL] === "true";
    if ((isNamed || isLeft) && !hasOtherController(metadata, owner)) return;
    throw new ProviderError(
      "ProviderRefused",
      `the Secret ${ring.namespace}/${ring.name} belongs to somebody else: choose another name`,
    );
  }

  /** Who uses the published key must not be locked out because somebody has lost or edited the ring. */
  async #withPublished(found: KeyRing | "damaged" | undefined, signal: AbortSignal): Promise<KeyRing> {
    const ring = found === "damaged" || !found ? EMPTY_RING : found;
    const { published, recovery } = this.#options;
    if (!recovery) return ring;
    const secret = await this.#get(published, signal);
    const key = secret && this.#keyIn(secret, recovery, ring);
    if (key) return withKey(ring, key);
    if (found !== "damaged") return ring;
    const { namespace, name } = this.#options.ring;
    throw new ProviderError(
      "ProviderRefused",
      `the Secret ${namespace}/${name} holds no ring that can be read, and ${published.name} no key: put one of them back, or delete both and restart the servers`,
    );
  }

  #keyIn(secret: KubeObject, recovery: Recovery, ring: KeyRing): Parameters<typeof addKey>[1] | undefined {
    const { metadata } = secret;
    const [id, sequence] = [keyIdOf(metadata), sequenceOf(metadata)];
    if (id === undefined || sequence === undefined || !this.#isPublishedByOwner(metadata)) return undefined;
    if (findKey(ring, id) || !recovery.isWanted({ id, sequence }, ring) || recovery.isEdited(secret)) return undefined;
    const read = readKeySecret(new Redacted(fieldsOf(secret.data) as Readonly<Record<string, string>>));
    if (read.kind === "damaged") return undefined;
    const now = this.#options.now();
    const createdAt = Math.min(parseInstant(metadata.annotations?.[CREATED_AT]) ?? now, now);
    return { id, key: read.key, createdAt, marks: this.#options.marksOf(sequence) };
  }

  #isPublishedByOwner({ ownerReferences = [] }: KubeObject["metadata"]): boolean {
    const { kind, name } = this.#options.owner;
    return ownerReferences.some((one) => one.kind === kind && one.name === name);
  }

  #get(ref: SecretAddress, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { kube } = this.#options;
    return ask(this.#call("get", ref, signal), () => ifFound(kube.get(secretType, ref, { signal })));
  }

  #call(verb: ChildCall["verb"], ref: SecretAddress, signal: AbortSignal): ChildCall {
    return { verb, type: secretType, ref, signal };
  }
}

/** A name that is taken by another key of the ring is of no use to this one. */
function withKey(ring: KeyRing, key: Parameters<typeof addKey>[1]): KeyRing {
  try {
    return acceptKey(addKey(ring, key), key.id);
  } catch (error) {
    if (error instanceof InvalidValue) return ring;
    throw error;
  }
}

function ringIn({ data }: KubeObject): KeyRing | "damaged" {
  const text = fieldsOf(data)[RING_FILE];
  if (typeof text !== "string") return "damaged";
  try {
    return ringFromJson(new Redacted(Buffer.from(text, "base64").toString()));
  } catch (error) {
    if (error instanceof InvalidValue) return "damaged";
    throw error;
  }
}

const dataOf = (ring: KeyRing): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(renderRing(ring).reveal()).map(([file, text]) => [file, Buffer.from(text).toString("base64")]),
  );
