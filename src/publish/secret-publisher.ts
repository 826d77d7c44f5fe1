import { backoff, KeyturnError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import { ownName } from "../base/own-names.ts";
import type { Redacted } from "../base/redacted.ts";
import { AlreadyExists, Conflict, Forbidden, Invalid, type KubeError, NotFound } from "../kube/errors.ts";
import type { KubeObject, ObjectMeta, OwnerReference, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Fingerprinter } from "./fingerprint.ts";
import { publishedAtIn } from "./published-at.ts";
import { type SecretData, WRITABLE_TYPES } from "./secret-data.ts";

export const secretType: ResourceType = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};

/** What a published Secret says of itself. The label makes it findable, the annotations tell what it holds. */
const SECRET_MARKS = {
  ownerLabel: ownName("owner-uid"),
  keyId: ownName("key-id"),
  sequence: ownName("sequence"),
  publishedAt: ownName("published-at"),
  fingerprint: ownName("fingerprint"),
  layout: ownName("layout"),
} as const;

/** What names a Secret in most kinds. */
const USUAL_FIELD = "writeConnectionSecretToRef";

/** The Secret under that name belongs to somebody else, or is of a type that we do not write. */
class SecretNotOurs extends KeyturnError {
  constructor(message: string) {
    super("SecretNotOurs", message, { retry: backoff });
  }
}

/** There is no such namespace to publish in. */
class SecretNamespaceMissing extends KeyturnError {
  constructor(namespace: string, cause: unknown) {
    const message = `there is no namespace ${namespace} to publish in: create it, or choose another one in writeConnectionSecretToRef`;
    super("SecretNamespaceMissing", message, { retry: backoff, cause });
  }
}

/** The API server does not let us make the Secret: a right, a quota, a name, a namespace on its way out. */
class SecretRefused extends KeyturnError {
  constructor({ namespace, name, field = USUAL_FIELD }: SecretTargetAddress, cause: KubeError) {
    const message = `the Secret ${namespace}/${name} of ${field} cannot be made: ${cause.message}`;
    super("SecretRefused", message, { retry: backoff, cause });
  }
}

/** No write can change it: a key that nobody can be given must not be made either. */
class SecretImmutable extends KeyturnError {
  constructor({ namespace, name, field = USUAL_FIELD }: SecretTargetAddress) {
    const message = `the Secret ${namespace}/${name} of ${field} is immutable, so that no other key can be put into it: delete it, and it is made again`;
    super("SecretRefused", message, { retry: backoff });
  }
}

/** What a Secret holds, without the credentials themselves. */
export interface SecretContent {
  readonly resourceVersion: string;
  readonly keyId: string | undefined;
  readonly sequence: number | undefined;
  readonly publishedAt: number | undefined;
  /** How the data is laid out. */
  readonly layout: string | undefined;
  /** A keyed digest of the data, as it says of itself. */
  readonly fingerprint: string | undefined;
  /** The data is what its fingerprint says, and the owner is the one of now; false where somebody has edited it. */
  readonly isSound: boolean;
  /** The fingerprint is under our key; one under another says nothing of the data, which then counts as sound. */
  readonly isComparable: boolean;
  readonly isImmutable?: true;
}

/** A Secret as it was read. */
export interface PublishedSecret extends SecretContent {
  /** What others have put on it, and what cannot be changed: kept by a write over it. */
  readonly others: OthersMetadata;
}

/** Labels and annotations. */
export interface Worn {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface OthersMetadata extends Worn {
  readonly type: string;
  readonly finalizers: readonly string[];
  readonly ownerReferences: readonly OwnerReference[];
}

const NOBODYS: OthersMetadata = { type: "Opaque", labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };

export interface SecretAddress {
  readonly namespace: string;
  readonly name: string;
}

/** The same, with the field that names it, for messages. */
export interface SecretTargetAddress extends SecretAddress {
  readonly field?: string;
}

/** Whose Secret it is. */
export interface SecretOwner {
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  /** Where a kind with namespaces has it: its Secrets are nowhere else. */
  readonly namespace?: string;
}

/** A Secret that its owner has left, as it was seen. */
export interface FormerSecret {
  readonly address: SecretAddress;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A Secret with our marks, as a watch has seen it. */
export interface MarkedSecret extends FormerSecret {
  readonly keyId: string | undefined;
}

/** Finds the Secrets of an owner without asking the server; it may be behind. */
export type SecretIndex = (ownerUid: string) => readonly MarkedSecret[];

/** What stays when former Secrets are removed. */
export interface FormerFilter {
  /** Where the key is published now. */
  readonly current: SecretAddress | undefined;
  /** Keys that somebody may still log in with. */
  readonly keyIds: ReadonlySet<string>;
}

export interface Publication {
  readonly address: SecretAddress;
  readonly owner: OwnerReference;
  readonly keyId: string;
  readonly sequence: number;
  readonly publishedAt: number;
  readonly layout: string;
  readonly data: Redacted<SecretData>;
  /** What the Secret is to wear beside our marks, from what others have put on it; absent: just that. */
  readonly dress?: ((worn: Worn) => Worn) | undefined;
  /** The Secret as it was read; undefined when there was none. */
  readonly over: PublishedSecret | undefined;
}

/**
 * Reads and writes the Secrets that keys are published in: as a whole, by compare-and-swap, and only those that are ours.
 * Must not: decide what to publish or when; whoever calls has read the resource after the Secret.
 */
export class SecretPublisher {
  readonly #kube: Kube;
  readonly #fingerprinter: Fingerprinter;

  readonly #index: SecretIndex | undefined;

  /** Without an index the server is asked for the Secrets of an owner, which costs it a look at every Secret. */
  constructor(kube: Kube, fingerprinter: Fingerprinter, index?: SecretIndex) {
    this.#kube = kube;
    this.#fingerprinter = fingerprinter;
    this.#index = index;
  }

  /** Undefined when there is none. Throws `SecretNotOurs`. */
  async read(
    address: SecretTargetAddress,
    owner: SecretOwner,
    signal: AbortSignal,
  ): Promise<PublishedSecret | undefined> {
    let secret: KubeObject;
    try {
      secret = await this.#kube.get(secretType, address, { signal });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
    refuseForeign(secret, owner, address);
    const { annotations = {}, resourceVersion = "" } = secret.metadata;
    const fingerprint = annotations[SECRET_MARKS.fingerprint];
    const isComparable = fingerprint === undefined || this.#fingerprinter.isComparable(fingerprint);
    return {
      resourceVersion,
      keyId: annotations[SECRET_MARKS.keyId],
      sequence: sequenceOf(secret.metadata),
      publishedAt: publishedAtIn(secret.metadata, SECRET_MARKS.publishedAt),
      fingerprint,
      layout: annotations[SECRET_MARKS.layout],
      isSound: isOwned(secret, owner) && fingerprint !== undefined && !isEdited(secret, this.#fingerprinter),
      isComparable,
      ...(secret.immutable === true && { isImmutable: true }),
      others: othersMetadata(secret, owner),
    };
  }

  /**
   * The Secrets that the owner's key was published in before its reference moved, unless what they hold is still in use:
   * a Secret must never outlive the key in it.
   */
  async findFormer(owner: SecretOwner, kept: FormerFilter, signal: AbortSignal): Promise<readonly MarkedSecret[]> {
    const marked = this.#index?.(owner.uid) ?? (await this.#listOf(owner, signal));
    return marked.filter(({ address, keyId }) => {
      const isCurrent = address.namespace === kept.current?.namespace && address.name === kept.current.name;
      return !isCurrent && !kept.keyIds.has(keyId ?? "");
    });
  }

  async #listOf(owner: SecretOwner, signal: AbortSignal): Promise<readonly MarkedSecret[]> {
    const labelSelector = `${SECRET_MARKS.ownerLabel}=${owner.uid}`;
    const within = owner.namespace === undefined ? {} : { namespace: owner.namespace };
    const { items } = await this.#kube.list(secretType, { ...within, labelSelector, metadataOnly: true, signal });
    return items.map(({ metadata }) => markedSecret(metadata));
  }

  /** Exactly the one that was read: one that has changed since is looked at again. */
  async remove({ address, uid, resourceVersion }: FormerSecret, signal: AbortSignal): Promise<void> {
    try {
      await this.#kube.delete(secretType, address, { uid, resourceVersion, signal });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /**
   * Makes sure that the Secret can be written, and one that is not there yet could be made, without making it: a key that
   * nobody can be given must not be made either. Throws `SecretNamespaceMissing`, `SecretRefused` and `SecretImmutable`.
   */
  async ensureWritable(
    address: SecretTargetAddress,
    known: Pick<SecretContent, "isImmutable"> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (known?.isImmutable) throw new SecretImmutable(address);
    if (known) return;
    const { namespace, name } = address;
    const secret: KubeObject = { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: { namespace, name } };
    try {
      await this.#kube.create(secretType, secret, { dryRun: true, signal });
    } catch (error) {
      if (error instanceof NotFound) throw new SecretNamespaceMissing(namespace, error);
      if (error instanceof Forbidden || error instanceof Invalid) throw new SecretRefused(address, error);
      // Somebody was faster: whoever publishes reads it first.
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  fingerprintOf(data: Redacted<SecretData>): string {
    return this.#fingerprinter.ofData(data.reveal().values);
  }

  /** Throws `Conflict` when the Secret has changed since it was read. */
  async write(publication: Publication, signal: AbortSignal): Promise<SecretContent> {
    const { address, owner, over, keyId, sequence, layout } = publication;
    if (over?.isImmutable) throw new SecretImmutable(address);
    const object = this.#secretOf(publication);
    try {
      const { metadata } =
        over === undefined
          ? await this.#kube.create<KubeObject>(secretType, object, { signal })
          : await this.#kube.replace<KubeObject>(
              secretType,
              { ...object, metadata: { ...object.metadata, resourceVersion: over.resourceVersion } },
              { signal },
            );
      return {
        resourceVersion: metadata.resourceVersion ?? "",
        keyId,
        sequence,
        publishedAt: publishedAtIn(metadata, SECRET_MARKS.publishedAt),
        layout,
        fingerprint: this.fingerprintOf(publication.data),
        isSound: true,
        isComparable: true,
      };
    } catch (error) {
      if (error instanceof NotFound && over === undefined) throw new SecretNamespaceMissing(address.namespace, error);
      // Somebody was faster: read again and decide again.
      if (error instanceof AlreadyExists || error instanceof NotFound) {
        throw new Conflict(`the Secret ${address.namespace}/${address.name} of ${owner.name} has changed`);
      }
      throw error;
    }
  }

  #secretOf(publication: Publication): KubeObject {
    const { address, owner, keyId, sequence, publishedAt, layout, data } = publication;
    const others = publication.over?.others ?? NOBODYS;
    const { finalizers, ownerReferences } = others;
    const { labels, annotations } = publication.dress?.(others) ?? others;
    const type = typeOf(publication);
    return {
      apiVersion: "v1",
      kind: "Secret",
      type,
      metadata: {
        ...address,
        labels: { ...labels, [SECRET_MARKS.ownerLabel]: owner.uid },
        annotations: {
          ...annotations,
          [SECRET_MARKS.keyId]: keyId,
          [SECRET_MARKS.sequence]: String(sequence),
          [SECRET_MARKS.publishedAt]: formatInstant(publishedAt),
          [SECRET_MARKS.fingerprint]: this.fingerprintOf(data),
          [SECRET_MARKS.layout]: layout,
        },
        ...(finalizers.length > 0 && { finalizers }),
        ownerReferences: [...ownerReferences, owner],
      },
      data: data.reveal().values,
    };
  }
}

/** The label by which published Secrets are found, and watched. */
export const PUBLISHED_SELECTOR: string = SECRET_MARKS.ownerLabel;

/** What the metadata of a published Secret tells of it. */
export function markedSecret(metadata: ObjectMeta): MarkedSecret {
  const { namespace = "", name, uid = "", resourceVersion = "" } = metadata;
  return { address: { namespace, name }, uid, resourceVersion, keyId: keyIdOf(metadata) };
}

/** Whether the data is not what was published; one that is not ours, or under another fingerprint key, cannot be told. */
export function isEdited(secret: KubeObject, fingerprinter: Fingerprinter): boolean {
  const fingerprint = secret.metadata.annotations?.[SECRET_MARKS.fingerprint];
  if (fingerprint === undefined || !fingerprinter.isComparable(fingerprint)) return false;
  return fingerprint !== fingerprinter.ofData(dataOf(secret));
}

/** Which key a Secret holds, where it was published by us. */
export const fingerprintOf = ({ annotations = {} }: ObjectMeta): string | undefined =>
  annotations[SECRET_MARKS.fingerprint];

export const keyIdOf = ({ annotations = {} }: ObjectMeta): string | undefined => annotations[SECRET_MARKS.keyId];

/** Which of the intended keys that is. */
export function sequenceOf({ annotations = {} }: ObjectMeta): number | undefined {
  const sequence = annotations[SECRET_MARKS.sequence];
  return sequence === undefined ? undefined : Number(sequence);
}

/** Whose Secret it says it is. */
export const ownerUidOf = ({ labels = {} }: ObjectMeta): string | undefined => labels[SECRET_MARKS.ownerLabel];

/**
 * Ours is what names our owner, by UID or by kind and name: there is one object of that name, so another UID is one it had
 * before it was restored. An empty Secret that nobody owns may be taken.
 */
function refuseForeign(secret: KubeObject, owner: SecretOwner, { field = USUAL_FIELD }: SecretTargetAddress): void {
  const { labels = {}, ownerReferences = [], namespace, name } = secret.metadata;
  const type = typeof secret.type === "string" ? secret.type : "Opaque";
  if (!WRITABLE_TYPES.has(type)) {
    throw new SecretNotOurs(
      `the Secret ${namespace}/${name} is of type ${type}, which is not written: choose another name`,
    );
  }
  const isNamed = labels[SECRET_MARKS.ownerLabel] === owner.uid || ownerReferences.some((one) => isOwner(one, owner));
  const isFree = ownerReferences.length === 0 && labels[SECRET_MARKS.ownerLabel] === undefined && isEmpty(secret.data);
  if (!isNamed && !isFree) {
    throw new SecretNotOurs(
      `the Secret ${namespace}/${name} belongs to somebody else: choose another name in ${field}`,
    );
  }
}

const isOwner = ({ uid, kind, name }: OwnerReference, owner: SecretOwner): boolean =>
  uid === owner.uid || (kind === owner.kind && name === owner.name);

/** By UID: a Secret that names an earlier one is about to be collected as garbage, unless it is written again. */
const isOwned = ({ metadata }: KubeObject, { uid }: SecretOwner): boolean =>
  metadata.labels?.[SECRET_MARKS.ownerLabel] === uid &&
  metadata.ownerReferences?.some((one) => one.uid === uid) === true;

const OURS: ReadonlySet<string> = new Set(Object.values(SECRET_MARKS));

function othersMetadata({ metadata, type }: KubeObject, owner: SecretOwner): OthersMetadata {
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  const foreign = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => !OURS.has(key)));
  return {
    type: typeof type === "string" ? type : "Opaque",
    labels: foreign(labels),
    annotations: foreign(annotations),
    finalizers,
    ownerReferences: ownerReferences.filter((one) => !isOwner(one, owner)),
  };
}

const isEmpty = (data: unknown): boolean => typeof data !== "object" || data === null || Object.keys(data).length === 0;

const dataOf = ({ data }: KubeObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries((data ?? {}) as object).map(([key, value]) => [key, String(value)]));

/** A Secret keeps its type for life: what asks for another one does not fit into it. */
function typeOf({ address, data, over }: Publication): string {
  const { type = over?.others.type ?? "Opaque" } = data.reveal();
  if (over && over.others.type !== type) {
    const { namespace, name } = address;
    throw new SecretNotOurs(
      `the Secret ${namespace}/${name} is of type ${over.others.type}, and what it is to hold of type ${type}: delete it, or choose another name`,
    );
  }
  return type;
}
