import type { KubeObject, ObjectRef, ResourceType } from "../../src/kube/objects.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import type { Account } from "../support/operator-access.ts";
import type { StandInName } from "./stand-in.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface Rotation {
  readonly ttl: string;
  readonly frequency: string;
  /** Null in a patch: none any more. */
  readonly windows?: readonly { readonly schedule: string; readonly duration: string }[] | null;
}

/** What a manifest is made from. */
export interface ManifestWishes {
  readonly name: string;
  readonly instanceId: string;
  /** The ProviderConfig. */
  readonly config: string;
  readonly secretRef: ObjectRef;
  readonly rotation?: Rotation | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** What is added to, and goes before, what the manifest would say otherwise. */
  readonly forProvider?: Fields | undefined;
  readonly spec?: Fields | undefined;
}

/**
 * A kind whose keys are rotated, as people write it and read it: all in which one differs from the next, so that one
 * story is told of every kind. Must not: ask the product what its own fields mean.
 */
export interface Family {
  /** What the resources are called, in the title of a test. */
  readonly title: string;
  /** The controller that looks after them; short enough to be part of a name. */
  readonly controller: string;
  readonly type: ResourceType;
  readonly configType: ResourceType;
  /** What its keys are, where they are not those of the external system: children of its own. */
  readonly children?: ChildKind;
  /** Who stands in for the external system. */
  readonly standIn: StandInName;
  readonly forceAnnotation: string;
  manifest(wishes: ManifestWishes): Draft<KubeObject>;
  /** What changes in a spec that is given another policy, or none. */
  rotationSpec(rotation: Rotation | null): Fields;
  /** What changes in a spec that names another service instance. */
  instanceSpec(instanceId: string): Fields;
  /** A ProviderConfig whose credentials are one JSON object in this key of a Secret. */
  config(name: string, secretRef: ObjectRef & { readonly key: string }): Draft<KubeObject>;
  readRotation(object: KubeObject): Rotation | undefined;
  readStatus(object: KubeObject | undefined): KeyStatus;
  /** Makes what has to be there besides; what it returns ends that. */
  surround?(surroundings: Surroundings): Promise<() => Promise<void>>;
}

/** What is known of the children of a family: how each tells of its own key. */
export type ChildKind = Pick<Family, "type" | "readStatus">;

/** Where resources of a family are to be. */
export interface Surroundings {
  readonly kube: Kube;
  readonly namespace: string;
  /** At the sandbox Cloud Foundry. */
  readonly login: IssuedLogin;
  /** Who looks after them, where rights are enforced. */
  readonly operator: Account | undefined;
}

/** What a status says, in words that are the same for all. */
export interface KeyStatus {
  readonly activeId: string | undefined;
  readonly activeName: string | undefined;
  /** When the active key was made; NaN where there is none. */
  readonly createdAt: number;
  readonly sequence: number;
  readonly isPending: boolean;
  readonly retired: readonly RetiredKey[];
  /** `True Available: message` of a condition; empty where it is not there. */
  condition(type: string): string;
  /** Everything that is said was said of this generation of the spec. */
  readonly isOfThisSpec: boolean;
}

export interface RetiredKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** NaN until its successor is published. */
  readonly replacedAt: number;
  readonly deletionAt: number;
  /** Who has not moved on from it, though its time is over. */
  readonly heldFor: string | undefined;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** What fields are called where kinds differ. */
export interface StatusWords {
  readonly id: string;
  readonly createdAt: string;
  readonly retiredKeysIn: "status" | "atProvider";
}

export const statusReader =
  (words: StatusWords) =>
  (object: KubeObject | undefined): KeyStatus => {
    const status = fieldsOf(object?.status);
    const atProvider = fieldsOf(status.atProvider);
    const { retiredKeys } = words.retiredKeysIn === "status" ? status : atProvider;
    const conditions = (status.conditions ?? []) as readonly Condition[];
    return {
      activeId: textOf(atProvider[words.id]),
      activeName: textOf(atProvider.name),
      createdAt: instantOf(atProvider[words.createdAt]),
      sequence: Number(status.sequence ?? 0),
      isPending: status.pending !== undefined,
      isOfThisSpec: conditions.every(({ observedGeneration }) => observedGeneration === object?.metadata.generation),
      retired: ((retiredKeys ?? []) as readonly Fields[]).map((key) => ({
        id: textOf(key[words.id]) ?? "",
        name: textOf(key.name) ?? "",
        createdAt: instantOf(key[words.createdAt]),
        replacedAt: instantOf(key.replacedDate),
        deletionAt: instantOf(key.deletionDate),
        heldFor: textOf(key.heldFor),
      })),
      condition: (type) => {
        const found = conditions.find((one) => one.type === type);
        return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message ?? ""}`;
      },
    };
  };

/** The policy under `rotation`, in the spec or deeper in it. */
export const rotationIn =
  (...path: readonly string[]) =>
  ({ spec }: KubeObject): Rotation | undefined =>
    [...path, "rotation"].reduce<unknown>((value, key) => fieldsOf(value)[key], spec) as Rotation | undefined;

const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const instantOf = (value: unknown): number => Date.parse(textOf(value) ?? "");
