import { NotFound } from "../../kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectMeta, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { kindOf, podType, replicaSetType, type WorkloadKind } from "../../restart/workload-kinds.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import type { RestartCaches, Workload } from "./restart-caches.ts";
import { readWorkloadKey } from "./workload-key.ts";
import type { WorkloadReader, WorkloadRecord } from "./workload-record.ts";

export interface BareWorkloadsOptions {
  readonly kube: Kube;
  readonly caches: RestartCaches;
  readonly reader: WorkloadReader;
}

/** What a watch of metadata does not show. */
interface Body {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly spec: unknown;
}

/**
 * ReplicaSets that no Deployment made, and pods that stand alone. Of those the watch brings metadata; what else is needed
 * is read once, and again when the generation says that it has changed. Must not: read those that others answer for.
 */
export class BareWorkloads {
  readonly #options: BareWorkloadsOptions;
  readonly #bodies = new Map<string, Body>();

  constructor(options: BareWorkloadsOptions) {
    this.#options = options;
  }

  /** Undefined where it is not there, or takes no part. */
  async take(key: string, signal: AbortSignal): Promise<Workload | undefined> {
    const { caches } = this.#options;
    const seen = caches.bareMetadata(key);
    const body = seen && (await this.#bodyOf(key, seen, signal));
    // As it is by now: what is compared with the sources must not be older than it has to be.
    const metadata = caches.bareMetadata(key);
    if (body && metadata && metadata.uid === body.uid) return this.#workload(key, metadata, body.spec);
    this.forget(key);
    return undefined;
  }

  /** From an object that was just read. */
  of(key: string, { metadata, spec }: KubeObject): Workload | undefined {
    this.#keep(key, metadata, spec);
    return this.#workload(key, metadata, spec);
  }

  /** How many pods a ReplicaSet is to have. */
  replicasOf(key: string): number {
    const { replicas } = fieldsOf(this.#bodies.get(key)?.spec);
    return typeof replicas === "number" ? replicas : 1;
  }

  forget(key: string): void {
    this.#bodies.delete(key);
    this.#options.caches.noteBare(key, undefined);
  }

  async #bodyOf(key: string, { uid, generation }: ObjectMeta, signal: AbortSignal): Promise<Body | undefined> {
    const known = this.#bodies.get(key);
    if (known && known.uid === uid && known.generation === generation) return known;
    const { kind, namespace, name } = readWorkloadKey(key);
    try {
      const object = await this.#options.kube.get(typeOf(kind), { namespace, name }, { signal });
      return this.#keep(key, object.metadata, object.spec);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  #keep(key: string, { uid = "", generation }: ObjectMeta, spec: unknown): Body {
    const body: Body = { uid, generation, spec };
    this.#bodies.set(key, body);
    return body;
  }

  #workload(key: string, metadata: ObjectMeta, spec: unknown): Workload | undefined {
    const { reader, caches } = this.#options;
    const { kind: name } = readWorkloadKey(key);
    const kind = name === podType.kind ? undefined : kindOf(name);
    const object = { apiVersion: apiVersionOf(typeOf(name)), kind: name, metadata, spec };
    const record = recordOf(reader, kind, object);
    caches.noteBare(key, record);
    return record && { key, kind, metadata, record };
  }
}

const recordOf = (
  reader: WorkloadReader,
  kind: WorkloadKind | undefined,
  object: KubeObject,
): WorkloadRecord | undefined => (kind ? reader.workload(kind, object) : reader.pod(object));

const typeOf = (kind: string): ResourceType => (kind === podType.kind ? podType : replicaSetType);
