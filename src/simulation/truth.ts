import type { Policy, State } from "../engine/model.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ManagedKind, ManagedSpec } from "../reconcile/managed/managed-kind.ts";
import type { LiveKey } from "./families/family.ts";

/** One resource as it is stored. */
export interface Subject {
  readonly name: string;
  readonly object: KubeObject;
  readonly state: State;
  /** Undefined where it cannot be read. */
  readonly spec: ManagedSpec | undefined;
  readonly policy: Policy | undefined;
}

/** What is true of one kind at one moment, whatever anybody believes. */
export interface Truth {
  readonly subjects: ReadonlyMap<string, Subject>;
  /** The key ids in Secrets of ours, by the Secret's name. */
  readonly published: ReadonlyMap<string, string>;
  readonly live: ReadonlyMap<string, LiveKey>;
}

/** What the truth is read from. */
export interface Evidence {
  readonly kind: ManagedKind;
  readonly resources: readonly KubeObject[];
  readonly secrets: readonly KubeObject[];
  readonly keys: readonly LiveKey[];
}

const OWNER_LABEL = "keyturn.dev/owner-uid";
const KEY_ID = "keyturn.dev/key-id";

/** Stored objects never change, so what was read out of one holds for good. */
const read = new WeakMap<KubeObject, Subject>();

export function truthOf({ kind, resources, secrets, keys }: Evidence): Truth {
  const published = new Map<string, string>();
  for (const secret of secrets) {
    const keyId = keyIdIn(secret);
    if (isOurs(secret) && keyId !== undefined) published.set(secret.metadata.name, keyId);
  }
  return {
    subjects: new Map(resources.map((object) => [object.metadata.name, subjectOf(kind, object)])),
    published,
    live: new Map(keys.map((key) => [key.id, key])),
  };
}

function subjectOf(kind: ManagedKind, object: KubeObject): Subject {
  const known = read.get(object);
  if (known) return known;
  const spec = specOf(kind, object);
  const state = kind.readState(object);
  const subject: Subject = { name: object.metadata.name, object, state, spec, policy: spec?.policy };
  read.set(object, subject);
  return subject;
}

function specOf(kind: ManagedKind, object: KubeObject): ManagedSpec | undefined {
  try {
    return kind.readSpec(object);
  } catch {
    return undefined;
  }
}

/** Whether the spec of a resource points to the Secret at this address. */
export const isTarget = ({ spec }: Subject, address: string): boolean =>
  address === `${spec?.secret?.namespace}/${spec?.secret?.name}`;

/** A Secret that the operator wrote. */
export const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.[OWNER_LABEL] !== undefined;

export const keyIdIn = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[KEY_ID];

/** The name of the resource of this kind that a Secret was written for. */
export const ownerNameOf = ({ metadata }: KubeObject, kind: string): string | undefined =>
  metadata.ownerReferences?.find((owner) => owner.kind === kind)?.name;

/** Whether a Secret has all that a consumer needs, in one piece, and lets it in. */
export function letsIn(
  secret: KubeObject,
  needed: readonly string[],
  authenticate: (credentials: Readonly<Record<string, unknown>>) => boolean,
): boolean {
  const entries = Object.entries((secret.data ?? {}) as Readonly<Record<string, string>>);
  const values = Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  if (needed.some((key) => !values[key])) return false;
  const { credentials } = values;
  const whole = credentials === undefined ? values : (JSON.parse(credentials) as Readonly<Record<string, unknown>>);
  const isWhole = Object.entries(whole).every(([key, value]) => String(value) === values[key]);
  return isWhole && authenticate(whole);
}
