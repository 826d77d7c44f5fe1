import { fieldAt } from "../../bind/fields.ts";
import { initialNameOf, ringNameOf } from "../../bind/key-plan.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { isOwnedBy } from "../../kube/ownership.ts";
import { addressOf } from "../managed/managed-caches.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { BindCaches } from "./bind-caches.ts";

export interface SurplusOptions {
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
  readonly owner: KubeObject;
  /** The instances whose pods may use its keys. */
  readonly users: readonly KubeObject[];
  /** The names of the RndcKeys that are wanted, by whomever. */
  readonly wanted: ReadonlySet<string>;
  /** One that has to go before anything else can be done. */
  readonly inTheWay?: string;
  readonly signal: AbortSignal;
}

/**
 * Lets go of RndcKeys that their owner wants no more, once no pod uses what they publish, and of the Secrets that held
 * their first keys. Must not: be asked while a setting cannot be followed.
 */
export async function removeSurplusKeys(options: SurplusOptions): Promise<void> {
  const { caches, objects, owner, users, wanted, inTheWay, signal } = options;
  for (const key of caches.rndcKeysOf(owner)) {
    const { name, deletionTimestamp } = key.metadata;
    const isOver = !wanted.has(name) && isOwnedBy(key, owner) && deletionTimestamp === undefined;
    if (!isOver || (name !== inTheWay && isUsed([name, ringNameOf(name)], users, caches))) continue;
    await objects.remove(key.kind, key.metadata, signal);
  }
  const maker = `${owner.kind}/${owner.metadata.name}`;
  for (const { key, uid, resourceVersion, record } of caches.secretsOf(owner)) {
    const { namespace, name } = addressOf(key);
    if (!name.endsWith(INITIAL) || record.maker !== maker) continue;
    const rndcKey = caches.rndcKey(keyOf({ namespace, name: keyNameOf(name) }));
    // What is about to be made has its first key in it.
    const isNeeded = rndcKey ? fieldAt(rndcKey, ["spec", "initialKey", "name"]) === name : wanted.has(keyNameOf(name));
    if (!isNeeded) await objects.remove("Secret", { namespace, name, uid, resourceVersion }, signal);
  }
}

const INITIAL = initialNameOf("");
const keyNameOf = (secretName: string): string => secretName.slice(0, -INITIAL.length);

/** Whether pods may have one of the Secrets mounted. */
export const isUsed = (secrets: readonly string[], users: readonly KubeObject[], caches: BindCaches): boolean =>
  users
    .flatMap((instance) => caches.workloadsOf(instance))
    .some(({ isRolledOut, secrets: used }) => !isRolledOut || secrets.some((name) => used.includes(name)));
