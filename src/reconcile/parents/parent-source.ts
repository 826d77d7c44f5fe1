import { Redacted } from "../../base/redacted.ts";
import { sortedJson } from "../../base/sorted-json.ts";
import { ifFound } from "../../kube/if-found.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { UnpublishableCredentials } from "../../publish/connection-data.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { copyOf } from "../../publish/secret-data.ts";
import { isEdited } from "../../publish/secret-publisher.ts";
import type { FormerOutside } from "../managed/departure.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "../managed/managed-kind.ts";
import type { Outside } from "../managed/workpiece.ts";
import { createChildConnection, placeOf, type ReadSecret } from "./child-connection.ts";
import type { ChildPlan } from "./child-plan.ts";
import type { ParentFamily } from "./parent-family.ts";

export interface ParentSourceOptions {
  readonly kube: Kube;
  readonly fingerprinter: Fingerprinter;
  /**
   * The resourceVersion of a child's Secret as the watch knows it; undefined when it has not seen one. Absent: Secrets are
   * read every time.
   */
  readonly secretVersion?: (child: ObjectRef) => string | undefined;
}

interface Copied {
  readonly childId: string;
  readonly resourceVersion: string;
  readonly fingerprint: string;
}

/**
 * Finds what a parent needs: its children as a connection, and what its active child publishes now. What it remembers
 * saves requests; losing it costs nothing else. Must not: write anything.
 */
export class ParentSource {
  readonly #family: ParentFamily;
  readonly #options: ParentSourceOptions;
  /** By the parent's UID, the Secret that was read last. */
  readonly #copied = new Map<string, Copied>();

  constructor(family: ParentFamily, options: ParentSourceOptions) {
    this.#family = family;
    this.#options = options;
  }

  async resolve(object: KubeObject, spec: ManagedSpec, signal: AbortSignal): Promise<Outside> {
    const { fingerprinter } = this.#options;
    const plan = await this.#family.planOf(object, signal);
    const access = this.#family.accessOf?.(object);
    const connection = this.#connect(object, plan);
    const fingerprint = spec.secret && (await this.#fingerprintOf(object, { plan, connection, signal }));
    return {
      connection,
      instanceId: placeOf(plan),
      takesOverOnlyOwn: true,
      parameters: new Redacted({}),
      ...(access && { publisher: access.publisher }),
      fingerprint,
      // Keyed, because parameters may hold secrets.
      madeFrom: fingerprinter.ofData({ child: sortedJson(plan.madeFrom ?? essenceOf(plan)) }),
      isComparable: (madeFrom) => fingerprinter.isComparable(madeFrom),
    };
  }

  async resolveDeparture(object: KubeObject, _spec: DepartureSpec, signal: AbortSignal): Promise<FormerOutside> {
    this.#copied.delete(object.metadata.uid ?? "");
    const plan = await this.#family.planOf(object, signal);
    return { connection: this.#connect(object, plan), instanceId: undefined };
  }

  #connect(object: KubeObject, plan: ChildPlan): Connection {
    const { kind } = this.#family;
    const { kube } = this.#family.accessOf?.(object) ?? this.#options;
    return createChildConnection({
      kube,
      plan,
      owner: ownerReferenceOf(kind, object),
      isOwnerStill: (signal) => this.#isStill(object, signal),
      names: knownNames(kind, object),
      isEdited: (secret) => isEdited(secret, this.#options.fingerprinter),
      onRead: (read) => this.#remember(object, read),
    });
  }

  /** With the operator's own rights: what is asked is not about children. */
  async #isStill({ metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, uid } = metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    const parent = await ifFound(this.#options.kube.get(this.#family.kind.type, ref, { metadataOnly: true, signal }));
    return parent?.metadata.uid === uid;
  }

  /** Of the active child's Secret; undefined while nothing may be copied from it. */
  async #fingerprintOf(
    object: KubeObject,
    { plan, connection, signal }: { plan: ChildPlan; connection: Connection; signal: AbortSignal },
  ): Promise<string | undefined> {
    const { active } = this.#family.kind.readState(object);
    if (!active) return undefined;
    const { uid = "" } = object.metadata;
    const { namespace } = plan;
    const ref = { name: active.name, ...(namespace !== undefined && { namespace }) };
    const seen = this.#options.secretVersion?.(ref);
    const known = this.#copied.get(uid);
    if (known && known.childId === active.id && known.resourceVersion === seen) return known.fingerprint;
    try {
      await connection.readCredentials(active.id, signal);
    } catch (error) {
      if (error instanceof ProviderError && error.code === "ProviderUnavailable") return undefined;
      throw error;
    }
    const read = this.#copied.get(uid);
    return read?.childId === active.id ? read.fingerprint : undefined;
  }

  #remember({ metadata }: KubeObject, { id, resourceVersion, credentials }: ReadSecret): void {
    try {
      const fingerprint = this.#options.fingerprinter.ofData(copyOf(credentials.reveal()).values);
      this.#copied.set(metadata.uid ?? "", { childId: id, resourceVersion, fingerprint });
    } catch (error) {
      // Whoever is to copy it says what is wrong; here there is nothing to compare with.
      if (!(error instanceof UnpublishableCredentials)) throw error;
      this.#copied.delete(metadata.uid ?? "");
    }
  }
}

function ownerReferenceOf({ type }: ManagedKind, { metadata }: KubeObject): OwnerReference {
  const { name, uid = "" } = metadata;
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The status names the children that it knows. */
function knownNames(kind: ManagedKind, object: KubeObject): readonly (readonly [string, string])[] {
  const { active, pending, retired } = kind.readState(object);
  const keys = [active, pending, ...retired].flatMap((key) => (key ? [key] : []));
  return keys.flatMap(({ id, name }) => (id === undefined || name === "" ? [] : [[id, name] as const]));
}

function essenceOf(plan: ChildPlan): unknown {
  const { metadata: _, ...rest } = plan.childOf("child");
  return rest;
}
