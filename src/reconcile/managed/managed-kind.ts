import { ownName } from "../../base/own-names.ts";
import type { Permissions, Policy, State } from "../../engine/model.ts";
import type { MaintenanceWindow } from "../../engine/windows.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { OutsideKey } from "../../providers/contract.ts";
import type { SecretLayout } from "../../publish/connection-data.ts";
import type { SecretTargetAddress } from "../../publish/secret-publisher.ts";

/**
 * What differs from one rotated kind to the next: where its fields are. Everything else, the whole protocol, is shared.
 * All functions are pure. Must not: decide or do anything.
 */
export interface ManagedKind {
  readonly type: ResourceType;
  /** The annotation that asks for a rotation now; upstream's own where there is one. */
  readonly forceAnnotation: string;
  /** How long a create that nobody hears of any more may still land outside. */
  readonly settleMs: number;
  /** What its keys are, where they are resources that somebody can look at: a kind. */
  childKindOf?(object: KubeObject): string | undefined;
  /** Throws `SpecProblem`. */
  readSpec(object: KubeObject): ManagedSpec;
  /** What is needed to let a resource go. Never throws: a mistake elsewhere in the spec must not keep it for ever. */
  readDeparture(object: KubeObject): DepartureSpec;
  /** Its status says which ProviderConfig its keys were made with, for as long as there are any. */
  readonly keepsConfig?: true;
  readState(object: KubeObject): State;
  /** The fields of `status` that hold the state; absent ones are removed. Conditions are the report's. */
  statusOf(state: State, policy: Policy, told?: Told): Readonly<Record<string, unknown>>;
}

/** What a status can tell of the active key beside the state. */
export interface Told {
  /** The key, where this pass has seen it. */
  readonly seen: OutsideKey | undefined;
  /** The status as it is stored: what was told stays until somebody looks again. */
  readonly stored: unknown;
}

export interface DepartureSpec {
  readonly providerConfig: string;
  readonly deletionPolicy: "delete" | "orphan";
  readonly may: Permissions;
}

export interface ManagedSpec extends DepartureSpec {
  /** What names of keys begin with. */
  readonly baseName: string;
  readonly policy: Policy;
  readonly windows: readonly MaintenanceWindow[];
  readonly secret: SecretTarget | undefined;
  /** What says that retired keys wait for those who use them; undefined where they do not. */
  readonly revokeField?: string | undefined;
  /** Accepted, but worth saying: shown in the condition. */
  readonly warnings: readonly string[];
}

interface SecretTarget extends SecretTargetAddress {
  readonly layout: LayoutSpec;
}

/** The layout as the spec asks for it; what it needs to know of the instance is found out when it is published. */
export type LayoutSpec =
  | Exclude<SecretLayout, { kind: "sap-kubernetes" }>
  | { readonly kind: "sap-kubernetes"; readonly key?: string };

/** Names a layout: a Secret that is laid out otherwise is written again. */
export const layoutName = ({ kind, ...rest }: LayoutSpec): string =>
  "key" in rest && rest.key !== undefined ? `${kind}/${rest.key}` : kind;

/** Marks and annotations that Keyturn itself puts on resources and Secrets. */
export const ANNOTATIONS = {
  externalName: "crossplane.io/external-name",
  paused: "crossplane.io/paused",
  compromised: ownName("compromised"),
  freeze: ownName("freeze"),
  revoke: ownName("revoke"),
  maxHold: ownName("max-hold"),
} as const;

export const FINALIZER = ownName("keys");
