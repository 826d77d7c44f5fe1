import type { Clock } from "../../base/clock.ts";
import type { Redacted } from "../../base/redacted.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Connection, CreateRequest } from "../../providers/contract.ts";
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
  /** Whose keys its resources may be: it hands on what they publish. */
  readonly parent?: ManagedKind;
  readonly instances: TargetFields;
  /** The Secrets that a configuration names: the one with the credentials, and what else it takes to connect. */
  secretsOf(config: KubeObject): readonly [CredentialsReference, ...CredentialsReference[]];
  /** Throws what is wrong with the credentials, without quoting any of them. */
  open(access: Access): Connection;
  /** What a key is made from beside its name and its instance; Secrets are read through `references`. */
  parametersOf(forProvider: Fields, references: References, signal: AbortSignal): Promise<Fields>;
  /** What else a key is made with, where the system has more to say. */
  extrasOf?(object: KubeObject, references: References, signal: AbortSignal): Promise<KeyExtras>;
}

/** A key is replaced when it belongs to another app; what stands on it changes with the next one. */
export type KeyExtras = Pick<CreateRequest, "appId" | "metadata">;

/** The fields of `spec.forProvider` that say which object outside is meant, such as the service instance. */
export interface TargetFields {
  /** The kind that references mean; only read. */
  readonly type: ResourceType;
  readonly id: string;
  readonly ref: string;
  readonly selector: string;
  /** What that kind calls the id in its `status.atProvider`. */
  readonly statusId: string;
  /** Whether it can be an id there at all; absent: whatever it is. */
  readonly isId?: (id: string) => boolean;
}

export interface CredentialsReference {
  /** As people know it, for messages. */
  readonly field: string;
  readonly reference: Fields;
}

export interface Access {
  readonly config: KubeObject;
  readonly credentials: SecretContent;
  /** Of the other Secrets that the configuration names, in their order. */
  readonly others: readonly SecretContent[];
  readonly http: HttpPort;
  readonly clock: Clock;
}

export interface SecretContent {
  /** Decoded. */
  readonly data: Redacted<Readonly<Record<string, string>>>;
  /** The one key of it that counts, where the configuration says so. */
  readonly key: string | undefined;
}
