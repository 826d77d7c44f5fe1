import type { Clock } from "../../base/clock.ts";
import type { Redacted } from "../../base/redacted.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Connection } from "../../providers/contract.ts";
import type { HttpPort } from "../../providers/http-port.ts";
import type { ManagedKind } from "./managed-kind.ts";
import type { Fields } from "./read-fields.ts";
import type { References } from "./references.ts";

/**
 * A managed kind whose keys are made at an external system that a ProviderConfig leads to: where things are said, and how
 * to connect. Watches, references, connections, finalizers, sweeps and the reconcile itself are shared. Must not: decide
 * or do anything but connect.
 */
export interface ManagedFamily {
  /** The controller's name; also what the Secrets with its credentials are labelled with. */
  readonly name: string;
  /** The external system, as metrics name it. */
  readonly provider: string;
  readonly kind: ManagedKind;
  readonly configType: ResourceType;
  readonly instances: InstanceFields;
  /** The Secret that a configuration names. */
  credentialsOf(config: KubeObject): CredentialsReference;
  /** Throws what is wrong with the credentials, without quoting any of them. */
  open(access: Access): Connection;
  /** What a key is made from beside its name and its instance; Secrets are read through `references`. */
  parametersOf(forProvider: Fields, references: References, signal: AbortSignal): Promise<Fields>;
}

/** The fields of `spec.forProvider` that say which service instance is meant. */
export interface InstanceFields {
  /** The kind that references mean; only read. */
  readonly type: ResourceType;
  readonly id: string;
  readonly ref: string;
  readonly selector: string;
}

interface CredentialsReference {
  /** As people know it, for messages. */
  readonly field: string;
  readonly reference: Fields;
}

interface Access {
  readonly config: KubeObject;
  /** The data of the Secret, decoded. */
  readonly credentials: Redacted<Readonly<Record<string, string>>>;
  /** The one key of it that holds everything, where the configuration says so. */
  readonly key: string | undefined;
  readonly http: HttpPort;
  readonly clock: Clock;
}
