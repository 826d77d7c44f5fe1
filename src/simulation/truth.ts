import type { Policy, State } from "../engine/model.ts";
import type { KubeObject } from "../kube/objects.ts";
import { serviceBindingKind } from "../reconcile/btp/service-binding-kind.ts";
import type { ManagedSpec } from "../reconcile/managed/managed-kind.ts";
import type { LiveBinding } from "../sandbox/service-manager/sandbox-service-manager.ts";

/** One resource as it is stored. */
export interface Subject {
  readonly name: string;
  readonly object: KubeObject;
  readonly state: State;
  /** Undefined where it cannot be read. */
  readonly spec: ManagedSpec | undefined;
  readonly policy: Policy | undefined;
}

/** What is true at one moment, whatever anybody believes. */
export interface Truth {
  readonly subjects: ReadonlyMap<string, Subject>;
  /** The key ids in Secrets of ours, by the Secret's name. */
  readonly published: ReadonlyMap<string, string>;
  readonly live: ReadonlyMap<string, LiveBinding>;
}

/** What the truth is read from. */
export interface Evidence {
  readonly resources: readonly KubeObject[];
  readonly secrets: readonly KubeObject[];
  readonly bindings: readonly LiveBinding[];
}

const OWNER_LABEL = "keyturn.dev/owner-uid";
const KEY_ID = "keyturn.dev/key-id";

/** Stored objects never change, so what was read out of one holds for good. */
const read = new WeakMap<KubeObject, Subject>();

export function truthOf({ resources, secrets, bindings }: Evidence): Truth {
  const published = new Map<string, string>();
  for (const secret of secrets) {
    const keyId = keyIdIn(secret);
    if (isOurs(secret) && keyId !== undefined) published.set(secret.metadata.name, keyId);
  }
  return {
    subjects: new Map(resources.map((object) => [object.metadata.name, subjectOf(object)])),
    published,
    live: new Map(bindings.map((binding) => [binding.id, binding])),
  };
}

function subjectOf(object: KubeObject): Subject {
  const known = read.get(object);
  if (known) return known;
  const spec = specOf(object);
  const state = serviceBindingKind.readState(object);
  const subject: Subject = { name: object.metadata.name, object, state, spec, policy: spec?.policy };
  read.set(object, subject);
  return subject;
}

function specOf(object: KubeObject): ManagedSpec | undefined {
  try {
    return serviceBindingKind.readSpec(object);
  } catch {
    return undefined;
  }
}

/** A Secret that the operator wrote. */
export const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.[OWNER_LABEL] !== undefined;

export const keyIdIn = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[KEY_ID];

/** The name of the resource that a Secret was written for. */
export const ownerNameOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.ownerReferences?.find(({ kind }) => kind === "ServiceBinding")?.name;

/** What a key's marks say. */
export const sequenceOf = ({ labels }: LiveBinding): number => Number(labels.keyturn_sequence?.at(-1) ?? 0);
export const clusterOf = ({ labels }: LiveBinding): string | undefined => labels.keyturn_cluster?.[0];
export const holderOf = ({ labels }: LiveBinding): string | undefined => labels.keyturn_name?.[0];
