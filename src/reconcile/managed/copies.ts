import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ObjectReader } from "../../kube/port.ts";
import {
  fingerprintOf,
  keyIdOf,
  type SecretAddress,
  type SecretContent,
  secretType,
} from "../../publish/secret-publisher.ts";
import type { ManagedKind } from "./managed-kind.ts";
import { SpecProblem } from "./spec-problem.ts";

/**
 * Whether the parent of a resource still gives out what the resource published before: it copies what its children publish
 * into a Secret of its own, and those who use that are nobody's consumers here. Everything is read live. Must not: write.
 */
export class Copies {
  readonly #kube: ObjectReader;
  readonly #parent: ManagedKind;

  constructor(kube: ObjectReader, parent: ManagedKind) {
    this.#kube = kube;
    this.#parent = parent;
  }

  /** `secret` is what the resource publishes now. Where it cannot be told, a copy is behind: a key more does less harm. */
  async isBehind(child: KubeObject, secret: SecretContent, signal: AbortSignal): Promise<boolean> {
    const parent = await this.#parentOf(child, signal);
    if (!parent || parent.metadata.deletionTimestamp !== undefined) return false;
    const address = this.#secretOf(parent);
    if (!address) return address === undefined;
    const ref = { namespace: address.namespace, name: address.name };
    const copy = await ifFound(this.#kube.get(secretType, ref, { metadataOnly: true, signal }));
    const isOfChild = copy !== undefined && keyIdOf(copy.metadata) === child.metadata.uid;
    return isOfChild && fingerprintOf(copy.metadata) !== secret.fingerprint;
  }

  async #parentOf({ metadata }: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { type } = this.#parent;
    const isParent = (apiVersion: string, kind: string): boolean =>
      kind === type.kind && apiVersion.split("/")[0] === type.group;
    const owner = metadata.ownerReferences?.find(({ apiVersion, kind }) => isParent(apiVersion, kind));
    if (!owner) return undefined;
    const { namespace } = metadata;
    const ref = { name: owner.name, ...(type.namespaced && namespace !== undefined && { namespace }) };
    const found = await ifFound(this.#kube.get(type, ref, { signal }));
    return found?.metadata.uid === owner.uid ? found : undefined;
  }

  /** Null: it publishes nothing; undefined: nobody can tell where. */
  #secretOf(parent: KubeObject): SecretAddress | null | undefined {
    try {
      return this.#parent.readSpec(parent).secret ?? null;
    } catch (error) {
      if (error instanceof SpecProblem) return undefined;
      throw error;
    }
  }
}
