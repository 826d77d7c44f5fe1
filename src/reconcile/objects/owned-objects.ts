import { backoff, KeyturnError } from "../../base/errors.ts";
import { AlreadyExists, BadRequest, Forbidden, Invalid, NotFound } from "../../kube/errors.ts";
import { type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../kube/objects.ts";
import { isOwnedBy } from "../../kube/ownership.ts";
import type { Kube } from "../../kube/port.ts";
import { isRecord } from "../../kube/record.ts";
import type { Entry } from "../../kube/resource-cache.ts";
import { differs, digestOf, withDigest } from "./difference.ts";

/** What is to be made is there already, and somebody else's. */
export class ObjectNotOurs extends KeyturnError {
  constructor({ kind, metadata }: KubeObject) {
    const message = `there is a ${kind} ${keyOf(metadata)} that somebody else has made: it is left alone; delete it, or choose another name`;
    super("ObjectNotOurs", message, { retry: backoff });
  }
}

/** The API server, or an admission policy, does not want what is to be made. */
export class ObjectRefused extends KeyturnError {
  constructor({ kind, metadata }: KubeObject, cause: Error) {
    super("ObjectRefused", `${kind} ${keyOf(metadata)} is refused: ${cause.message}`, { retry: backoff, cause });
  }
}

/** What became of one object. */
export interface Put {
  /** As it was seen or stored last; undefined while the watch has not brought what we wrote ourselves. */
  readonly object: KubeObject | undefined;
  readonly isWritten: boolean;
}

export interface PutOptions {
  readonly owner: KubeObject;
  readonly signal: AbortSignal;
  /** Whether one that has another owner may be taken over, by that very version of it. */
  readonly mayTake?: (live: KubeObject) => boolean;
}

/** What the watches know of the objects. */
export interface MadeObjects {
  /** What is kept of an object that we make; undefined of a Secret. */
  made(wanted: KubeObject): KubeObject | undefined;
  secret(key: string): Entry<unknown> | undefined;
  noteWrite(object: KubeObject): void;
  /** False while the cache may be older than our own last write. */
  isCurrent(object: KubeObject): boolean;
}

export interface OwnedObjectsOptions {
  readonly kube: Kube;
  readonly caches: MadeObjects;
  /** The kinds that are made. */
  readonly types: readonly ResourceType[];
  /** Who writes the fields of what is made. */
  readonly fieldManager: string;
}

const UNSEEN: Put = { object: undefined, isWritten: false };
const REFUSALS = [Invalid, Forbidden, BadRequest];

/**
 * The objects that are made for others, by server-side apply and only where something differs. What is not there is
 * created, since an apply would write into what somebody else makes in the same moment; who has created it is then the one
 * who has applied it. Must not: write to anything that is not its owner's.
 */
export class OwnedObjects {
  readonly #kube: Kube;
  readonly #caches: MadeObjects;
  readonly #types: ReadonlyMap<string, ResourceType>;
  readonly #fieldManager: string;
  /** What an apply could not bring about (somebody puts it back), so that it is not tried again and again. */
  readonly #asGood = new Map<string, string>();
  /** The versions of Secrets that were read and were as they should be. */
  readonly #sound = new Map<string, string>();

  constructor({ kube, caches, types, fieldManager }: OwnedObjectsOptions) {
    this.#kube = kube;
    this.#caches = caches;
    this.#types = new Map(types.map((type) => [type.kind, type]));
    this.#fieldManager = fieldManager;
  }

  async put(wanted: KubeObject, options: PutOptions): Promise<Put> {
    if (!this.#caches.isCurrent(wanted)) return UNSEEN;
    const body = withDigest(wanted);
    try {
      const seen = this.#caches.made(wanted);
      if (wanted.kind === "Secret") return await this.#putSecret(body, options);
      if (!seen) return await this.#create(body, options);
      this.#assertOurs(seen, options);
      if (seen.metadata.deletionTimestamp !== undefined) return UNSEEN;
      if (!differs(body, seen) || this.#isAsGood(body, seen)) return { object: seen, isWritten: false };
      return await this.#apply(body, options);
    } catch (error) {
      if (REFUSALS.some((refusal) => error instanceof refusal)) throw new ObjectRefused(wanted, error as Error);
      throw error;
    }
  }

  /** Deletes the very version that was seen, and nothing that has become somebody else's since. */
  async remove(
    kind: string,
    { namespace, name, uid, resourceVersion }: SeenObject,
    signal: AbortSignal,
  ): Promise<void> {
    const conditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
    try {
      await this.#kube.delete(
        this.#typeOf(kind),
        { ...(namespace !== undefined && { namespace }), name },
        { ...conditions, signal },
      );
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Its values are not watched: one is read when it has changed, or what it is to be has. */
  async #putSecret(body: KubeObject, options: PutOptions): Promise<Put> {
    const entry = this.#caches.secret(keyOf(body.metadata));
    if (!entry) return this.#create(body, options);
    const signature = `${entry.uid} ${entry.resourceVersion} ${digestOf(body)}`;
    if (this.#sound.get(entry.key) === signature) return { object: body, isWritten: false };
    const live = await this.#read(body, options.signal);
    if (!live || live.metadata.deletionTimestamp !== undefined) return UNSEEN;
    this.#assertOurs(live, options);
    if (differs(body, live) && !this.#isAsGood(body, live)) return this.#apply(body, options, live);
    if (live.metadata.resourceVersion === entry.resourceVersion) this.#sound.set(entry.key, signature);
    return { object: live, isWritten: false };
  }

  async #create(body: KubeObject, options: PutOptions): Promise<Put> {
    const { signal } = options;
    try {
      const made = await this.#kube.create<KubeObject>(this.#typeOf(body.kind), body, {
        fieldManager: this.#fieldManager,
        signal,
      });
      this.#caches.noteWrite(made);
      return { object: made, isWritten: true };
    } catch (error) {
      // The namespace is missing: nothing else is needed for a create.
      if (error instanceof NotFound) throw new ObjectRefused(body, error);
      if (!(error instanceof AlreadyExists)) throw error;
    }
    return this.#apply(body, options);
  }

  async #apply(body: KubeObject, options: PutOptions, read?: KubeObject): Promise<Put> {
    const { signal } = options;
    const live = read ?? (await this.#read(body, signal));
    if (!live || live.metadata.deletionTimestamp !== undefined) return UNSEEN;
    this.#assertOurs(live, options);
    const version = await this.#asApplied(live, signal);
    const { uid = "", resourceVersion = "" } = version;
    const precise = { ...body, metadata: { ...body.metadata, uid, resourceVersion } };
    const applied: KubeObject = await this.#kube.patch(
      this.#typeOf(body.kind),
      refOf(body),
      { type: "apply", body: precise, force: true },
      { fieldManager: this.#fieldManager, signal },
    );
    this.#caches.noteWrite(applied);
    if (differs(body, applied)) this.#asGood.set(nameOf(body), signatureOf(body, applied));
    return { object: applied, isWritten: applied.metadata.resourceVersion !== live.metadata.resourceVersion };
  }

  /**
   * What was created counts as updated by us, and an apply would leave all of that there which is wanted no more: the entry
   * of who owns which fields is made one of an apply.
   */
  async #asApplied(
    live: KubeObject,
    signal: AbortSignal,
  ): Promise<{ readonly uid?: string; readonly resourceVersion?: string }> {
    const fields = live.metadata.managedFields ?? [];
    const isOurCreation = (entry: unknown): boolean =>
      isRecord(entry) && entry.manager === this.#fieldManager && entry.operation === "Update" && !entry.subresource;
    if (!fields.some(isOurCreation)) return live.metadata;
    const managedFields = fields.map((entry) =>
      isOurCreation(entry) ? { ...(entry as object), operation: "Apply" } : entry,
    );
    const body = [
      { op: "replace", path: "/metadata/managedFields", value: managedFields },
      // Only of the version that was read.
      { op: "replace", path: "/metadata/resourceVersion", value: live.metadata.resourceVersion },
    ];
    const { metadata }: KubeObject = await this.#kube.patch(
      this.#typeOf(live.kind),
      refOf(live),
      { type: "json", body },
      { fieldManager: this.#fieldManager, signal },
    );
    return metadata;
  }

  async #read(body: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await this.#kube.get(this.#typeOf(body.kind), refOf(body), { signal });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  #assertOurs(live: KubeObject, { owner, mayTake }: PutOptions): void {
    if (!isOwnedBy(live, owner) && mayTake?.(live) !== true) throw new ObjectNotOurs(live);
  }

  #isAsGood(body: KubeObject, live: KubeObject): boolean {
    return this.#asGood.get(nameOf(body)) === signatureOf(body, live);
  }

  #typeOf(kind: string): ResourceType {
    const type = this.#types.get(kind);
    if (!type) throw new RangeError(`${kind} is made by nobody here`);
    return type;
  }
}

interface SeenObject extends ObjectRef {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${keyOf(metadata)}`;

/** Of what is wanted and of what is there, but for what changes by itself. */
function signatureOf(body: KubeObject, { status: _, metadata, ...fields }: KubeObject): string {
  const { uid, labels, annotations, ownerReferences } = metadata;
  return `${digestOf(body)} ${digestOf({ ...fields, metadata: { uid, labels, annotations, ownerReferences } })}`;
}

function refOf({ metadata: { namespace, name } }: KubeObject): ObjectRef {
  return { ...(namespace !== undefined && { namespace }), name };
}
