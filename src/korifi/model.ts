import type { SecretValues } from "./credentials.ts";

/** What is known of the objects, in the words that the decisions need. */
export interface Instance {
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  readonly displayName: string;
  readonly label: string;
  readonly tags: readonly string[];
  readonly source: CredentialsSource;
  /** What its status says: the Secret with the credentials, and the version of their source. */
  readonly credentialsName?: string;
  readonly observedVersion?: string;
}

export type CredentialsSource =
  /** Of a service broker: not ours. */
  | { readonly kind: "managed" }
  /** A Secret of the instance's own. */
  | { readonly kind: "own"; readonly secretName: string }
  /** Somebody else's, which is followed. */
  | { readonly kind: "followed"; readonly secretName: string; readonly keys?: readonly string[] };

export interface Binding {
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  readonly displayName?: string;
  readonly instanceName: string;
  /** Absent for a key. */
  readonly appName?: string;
  /** What its status says: the Secret to project, and the one for VCAP_SERVICES. */
  readonly mountName?: string;
  readonly envName?: string;
  /** Whether it says so under the names of the document and under the later ones. */
  readonly isSaidTwice: boolean;
}

export interface SecretView {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly type: string;
  readonly data: SecretValues;
  /** Where what it holds is known without being kept: `dataDigest` of it. The data has the keys alone then. */
  readonly digest?: string;
  /** Nobody can write it; it can only go. */
  readonly isImmutable?: boolean;
  /** Those that it goes with. */
  readonly ownerUids: readonly string[];
  /** What it says it was made from. */
  readonly derivedFrom?: string;
  /** It bears the label of what is made from others. */
  readonly isMarked?: true;
  /** The application whose services are in it. */
  readonly servicesOf?: string;
  /** Which key it holds, where it is one that Keyturn publishes. */
  readonly keyId?: string;
}
