import { parseInstant } from "../../base/instant.ts";
import { isObjectName } from "../../base/object-names.ts";
import { Redacted } from "../../base/redacted.ts";
import { AlreadyExists, Conflict, NotFound } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import {
  apiVersionOf,
  describeType,
  type KubeObject,
  type ObjectRef,
  type OwnerReference,
} from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type {
  Connection,
  Created,
  CreateRequest,
  Credentials,
  MarkFilter,
  Marks,
  OutsideKey,
} from "../../providers/contract.ts";
import { matchesFilter } from "../../providers/mark-filter.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { markMetadata, markPatch, markSelector, readMarks } from "./child-marks.ts";
import { addOwner, hasOtherController, isOwnedBy, withoutOwner } from "./child-owner.ts";
import type { ChildPlan } from "./child-plan.ts";
import { ask, type ChildCall } from "./child-problem.ts";
import { obstacleTo } from "./copyable.ts";

export interface ChildConnectionOptions {
  readonly kube: Kube;
  readonly plan: ChildPlan;
  /** The parent, as its children name it. */
  readonly owner: OwnerReference;
  /** Whether the parent is still that one: asked, live, before a child is taken over from another. */
  readonly isOwnerStill: (signal: AbortSignal) => Promise<boolean>;
  /** Names by UID, as far as they are known: saves a list. */
  readonly names?: Iterable<readonly [uid: string, name: string]>;
  /** Whether somebody has changed the data of a Secret by hand: its own controller puts that right. */
  readonly isEdited?: (secret: KubeObject) => boolean;
  /** Hears of every child's Secret that was read to be copied. */
  readonly onRead?: (read: ReadSecret) => void;
  readonly pageSize?: number;
}

export interface ReadSecret {
  /** The child's UID. */
  readonly id: string;
  readonly resourceVersion: string;
  readonly credentials: Credentials;
}

/** What children of this plan belong to, as the contract has it: one place of one kind. */
export const placeOf = ({ type, namespace }: ChildPlan): string =>
  namespace === undefined ? describeType(type) : `${describeType(type)} in ${namespace}`;

/** Why a Secret may not become its child's at the moment. */
const CAN_WAIT: ReadonlySet<string> = new Set(["ProviderForbidden", "ProviderBusy", "ProviderRefused"]);

const PAGE_SIZE = 500;
const MAX_ATTEMPTS = 5;

/**
 * Children of one parent as the protocol sees keys: made, found by their marks, asked for by UID, copied from, deleted. A
 * child is ready when it says that it is well and its Secret holds what it says it does. Everything is asked of the API
 * server, now. Must not: decide anything, or change a child that is there but for its marks and its owner.
 */
export function createChildConnection(options: ChildConnectionOptions): Connection {
  return new ChildConnection(options);
}

class ChildConnection implements Connection {
  readonly #kube: Kube;
  readonly #plan: ChildPlan;
  readonly #owner: OwnerReference;
  readonly #options: ChildConnectionOptions;
  /** An object keeps its name for life, so this is never wrong; what it does not know is searched for. */
  readonly #names: Map<string, string>;

  constructor(options: ChildConnectionOptions) {
    this.#options = options;
    this.#kube = options.kube;
    this.#plan = options.plan;
    this.#owner = options.owner;
    this.#names = new Map(options.names ?? []);
  }

  async listMarked(filter: MarkFilter, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const keys: OutsideKey[] = [];
    for (const found of await this.#list({ labelSelector: markSelector(filter) }, signal)) {
      const marks = readMarks(found.metadata);
      if (!marks || !matchesFilter(marks, filter)) continue;
      const child = filter.owner?.uid === this.#owner.uid ? await this.#keep(found, marks, signal) : found;
      if (child) keys.push(await this.#keyOf(child, signal));
    }
    return keys;
  }

  async findByName(instanceId: string, name: string, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    if (instanceId !== placeOf(this.#plan) || !isObjectName(name)) return [];
    const child = await this.#get(name, signal);
    return child ? [await this.#keyOf(child, signal)] : [];
  }

  async observe(id: string, signal: AbortSignal): Promise<OutsideKey | undefined> {
    const child = await this.#find(id, signal);
    return child && this.#keyOf(child, signal);
  }

  async create({ name, instanceId, marks }: CreateRequest, signal: AbortSignal): Promise<Created> {
    const place = placeOf(this.#plan);
    if (instanceId !== place) throw new ProviderError("InstanceNotFound", `children are made as ${place}`);
    const draft = this.#plan.childOf(name);
    const { labels, annotations } = markMetadata(marks);
    const metadata = {
      ...draft.metadata,
      ...this.#refOf(name),
      labels: { ...draft.metadata.labels, ...labels },
      annotations: { ...draft.metadata.annotations, ...annotations },
      ownerReferences: [this.#owner],
    };
    const child = await ask(this.#call("create", name, signal), async () => {
      try {
        return await this.#kube.create<KubeObject>(this.#plan.type, { ...draft, metadata }, { signal });
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        throw new ProviderError("NameTaken", `there is a ${describeType(this.#plan.type)} ${name} already`);
      }
    });
    const { uid = "" } = child.metadata;
    this.#names.set(uid, name);
    return { kind: "accepted", id: uid };
  }

  /** The child first, then its Secret: what the child says of itself is true of a Secret that is read later. */
  async readCredentials(id: string, signal: AbortSignal): Promise<Credentials> {
    const child = await this.#find(id, signal);
    if (!child) throw new ProviderError("ProviderUnavailable", `the child ${id} is not there`);
    const address = this.#secretOf(child);
    const secret = address && (await this.#readSecret(address, { signal }));
    const isEdited = secret !== undefined && this.#options.isEdited?.(secret) === true;
    const obstacle = obstacleTo(this.#plan, child, { address, metadata: secret?.metadata });
    if (obstacle !== undefined || !secret || isEdited) {
      const why = obstacle ?? (isEdited ? "somebody has edited its Secret" : "it publishes nothing");
      throw new ProviderError("ProviderUnavailable", `nothing is copied from ${child.metadata.name}: ${why}`);
    }
    const { type, data } = secret;
    const credentials: Credentials = new Redacted({ type, data });
    this.#options.onRead?.({ id, resourceVersion: secret.metadata.resourceVersion ?? "", credentials });
    return credentials;
  }

  async delete(id: string, signal: AbortSignal): Promise<"gone" | "accepted"> {
    const child = await this.#find(id, signal);
    if (!child) return "gone";
    const { name } = child.metadata;
    if (child.metadata.deletionTimestamp !== undefined) return "accepted";
    await this.#claimSecret(child, signal);
    return ask(this.#call("delete", name, signal), async () => {
      try {
        const options = { uid: id, propagationPolicy: "Background", signal } as const;
        return (await this.#kube.delete(this.#plan.type, this.#refOf(name), options)) ? "accepted" : "gone";
      } catch (error) {
        const isGone =
          error instanceof NotFound || (error instanceof Conflict && (await this.#isAnother(name, id, signal)));
        if (isGone) return "gone";
        throw error;
      }
    });
  }

  /** Whether what bears that name now, if anything does, is not the child that is meant: a conflict alone does not tell. */
  async #isAnother(name: string, id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#get(name, signal))?.metadata.uid !== id;
  }

  async mark(id: string, marks: Marks | undefined, signal: AbortSignal): Promise<void> {
    const child = await this.#find(id, signal);
    if (child && (await this.#writeMarks(child, marks, signal))) return;
    if (marks) throw new ProviderError("ProviderRefused", `the child ${id} is not there`);
  }

  /** There is no such thing as an instance here: the kind itself is there, or nothing can be asked at all. */
  async observeInstance(instanceId: string): Promise<"present" | "gone"> {
    return instanceId === placeOf(this.#plan) ? "present" : "gone";
  }

  async describeInstance(): Promise<undefined> {
    return undefined;
  }

  async #keyOf(child: KubeObject, signal: AbortSignal): Promise<OutsideKey> {
    const { uid = "", name, creationTimestamp, deletionTimestamp } = child.metadata;
    this.#names.set(uid, name);
    const health = this.#plan.healthOf(child);
    const isLeaving = deletionTimestamp !== undefined;
    const obstacle = isLeaving || health.kind !== "well" ? undefined : await this.#obstacleTo(child, signal);
    const isReady = !isLeaving && health.kind === "well" && obstacle === undefined;
    const complaint = health.kind === "ill" ? health.complaint : obstacle && this.#plan.complaintOf?.(child, obstacle);
    const createdAt = this.#plan.createdAt(child) ?? parseInstant(creationTimestamp);
    const leavingSince = parseInstant(deletionTimestamp);
    const marks = readMarks(child.metadata);
    return {
      id: uid,
      name,
      instanceId: placeOf(this.#plan),
      state: isLeaving ? "deleting" : isReady ? "ready" : "creating",
      ...(createdAt !== undefined && { createdAt }),
      ...(leavingSince !== undefined && { leavingSince }),
      ...(marks && { marks }),
      ...(!isLeaving && health.kind === "ill" && { illSince: health.since }),
      ...(!isLeaving && health.kind === "ill" && health.isHindered && { isHindered: true }),
      ...(!isLeaving && complaint && { complaint: `${name}: ${complaint}` }),
    };
  }

  /** What keeps a child that is well from being copied. */
  async #obstacleTo(child: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const address = this.#secretOf(child);
    const secret = address && (await this.#readSecret(address, { metadataOnly: true, signal }));
    const obstacle = obstacleTo(this.#plan, child, { address, metadata: secret?.metadata });
    if (obstacle === undefined && secret) await this.#claimEarly(child, secret, signal);
    return obstacle;
  }

  /**
   * The Secret of a child of ours becomes the child's as soon as it is ready: by the time that it is to go, nobody may be
   * allowed to any more. What does not work now is tried again at the next look, and before the child is deleted.
   */
  async #claimEarly(child: KubeObject, secret: KubeObject, signal: AbortSignal): Promise<void> {
    if (this.#plan.ownsSecrets || !isOwnedBy(child.metadata, this.#owner)) return;
    try {
      await this.#claim(child, secret, signal);
    } catch (error) {
      if (!(error instanceof ProviderError) || !CAN_WAIT.has(error.code)) throw error;
    }
  }

  /**
   * A child of ours that names an earlier UID of the parent, or none, is about to be collected as garbage, or would stay
   * behind: it is made ours again. Undefined when it is gone meanwhile. Which of two UIDs is the earlier one only the parent
   * itself can tell: whoever has slept through its being made anew would give the child to one that is gone.
   */
  async #keep(child: KubeObject, marks: Marks, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { metadata } = child;
    const isKept = marks.ownerUid === this.#owner.uid && isOwnedBy(metadata, this.#owner);
    if (isKept || metadata.deletionTimestamp !== undefined || hasOtherController(metadata, this.#owner)) return child;
    if (!(await this.#options.isOwnerStill(signal))) throw new Conflict(`${this.#owner.name} has been made anew`);
    return this.#writeMarks(child, { ...marks, ownerUid: this.#owner.uid }, signal);
  }

  /** Labels, annotations and the owner reference, at the version that was read; read again when it has changed since. */
  async #writeMarks(child: KubeObject, marks: Marks | undefined, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { name, uid } = child.metadata;
    if (marks && hasOtherController(child.metadata, this.#owner)) {
      throw new ProviderError("ProviderRefused", `${name} is controlled by somebody else`);
    }
    return ask(this.#call("patch", name, signal), async () => {
      let current = child;
      for (let attempt = 1; ; attempt++) {
        const { resourceVersion } = current.metadata;
        const ownerReferences = (marks ? addOwner : withoutOwner)(current.metadata, this.#owner);
        const body = { metadata: { ...markPatch(marks), ownerReferences, resourceVersion } };
        try {
          return await this.#kube.patch(this.#plan.type, this.#refOf(name), { type: "merge", body }, { signal });
        } catch (error) {
          if (error instanceof NotFound) return undefined;
          if (!(error instanceof Conflict) || attempt >= MAX_ATTEMPTS) throw error;
        }
        const next = await this.#get(name, signal);
        if (!next || next.metadata.uid !== uid) return undefined;
        current = next;
      }
    });
  }

  /** A Secret that says nothing of the child would outlive it. */
  async #claimSecret(child: KubeObject, signal: AbortSignal): Promise<void> {
    const address = this.#plan.ownsSecrets ? undefined : this.#secretOf(child);
    const secret = address && (await this.#readSecret(address, { metadataOnly: true, signal }));
    if (secret) await this.#claim(child, secret, signal);
  }

  async #claim(child: KubeObject, secret: KubeObject, signal: AbortSignal): Promise<void> {
    const { name, uid = "" } = child.metadata;
    const owner: OwnerReference = { apiVersion: apiVersionOf(this.#plan.type), kind: this.#plan.type.kind, name, uid };
    if (isOwnedBy(secret.metadata, owner)) return;
    const { resourceVersion, ownerReferences = [], namespace = "" } = secret.metadata;
    const ref = { namespace, name: secret.metadata.name };
    const body = { metadata: { resourceVersion, ownerReferences: [...ownerReferences, owner] } };
    await ask({ verb: "patch", type: secretType, ref, signal }, async () => {
      try {
        await this.#kube.patch(secretType, ref, { type: "merge", body }, { signal });
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
      }
    });
  }

  #secretOf(child: KubeObject): SecretAddress | undefined {
    return this.#plan.secretOf(child.metadata.name, child);
  }

  #readSecret(
    address: SecretAddress,
    options: { readonly metadataOnly?: boolean; readonly signal: AbortSignal },
  ): Promise<KubeObject | undefined> {
    const call: ChildCall = { verb: "get", type: secretType, ref: address, signal: options.signal };
    return ask(call, () => ifFound(this.#kube.get(secretType, address, options)));
  }

  #get(name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const ref = this.#refOf(name);
    return ask(this.#call("get", name, signal), () => ifFound(this.#kube.get(this.#plan.type, ref, { signal })));
  }

  /** By its name where that is known; else everything is looked through. */
  async #find(id: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const name = this.#names.get(id) ?? (await this.#searchName(id, signal));
    const child = name === undefined ? undefined : await this.#get(name, signal);
    return child?.metadata.uid === id ? child : undefined;
  }

  async #searchName(id: string, signal: AbortSignal): Promise<string | undefined> {
    const all = await this.#list({ metadataOnly: true }, signal);
    return all.find(({ metadata }) => metadata.uid === id)?.metadata.name;
  }

  /** All pages. */
  async #list(
    selection: { readonly labelSelector?: string; readonly metadataOnly?: boolean },
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const { type, namespace } = this.#plan;
    const options = {
      ...selection,
      ...(namespace !== undefined && { namespace }),
      limit: this.#options.pageSize ?? PAGE_SIZE,
      signal,
    };
    const items: KubeObject[] = [];
    let next: string | undefined;
    do {
      const more = next === undefined ? options : { ...options, continue: next };
      const page = await ask({ verb: "list", type, signal }, () => this.#kube.list(type, more));
      items.push(...page.items);
      next = page.continue;
    } while (next !== undefined);
    return items;
  }

  #refOf(name: string): ObjectRef {
    const { namespace } = this.#plan;
    return { name, ...(namespace !== undefined && { namespace }) };
  }

  #call(verb: ChildCall["verb"], name: string, signal: AbortSignal): ChildCall {
    return { verb, type: this.#plan.type, ref: this.#refOf(name), signal };
  }
}
