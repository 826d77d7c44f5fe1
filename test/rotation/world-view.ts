import type { KubeObject } from "../../src/kube/objects.ts";
import type { KeyStatus } from "../families/family.ts";
import { type ConnectionSecret, readConnectionSecret } from "./connection-secret.ts";

/** One binding, its Secret and its keys outside, as they are told side by side. Holds no key material when printed. */
export interface WorldView extends KeyStatus {
  readonly object: KubeObject | undefined;
  readonly uid: string | undefined;
  readonly externalName: string | undefined;
  readonly secret: ConnectionSecret | undefined;
  /** Whether a workload could log in with the Secret now. */
  readonly works: boolean;
  /** The ids of all keys that live at the story's instances, sorted. */
  readonly outside: readonly string[];
}

export interface Sighting {
  readonly object: KubeObject | undefined;
  readonly status: KeyStatus;
  readonly secret: KubeObject | undefined;
  readonly outside: readonly string[];
  readonly lets: (credentials: Readonly<Record<string, unknown>>) => boolean;
}

export function viewOf({ object, status, secret, outside, lets }: Sighting): WorldView {
  const published = secret && readConnectionSecret(secret);
  return {
    ...status,
    object,
    uid: object?.metadata.uid,
    externalName: object?.metadata.annotations?.["crossplane.io/external-name"],
    secret: published,
    works: published?.credentials !== undefined && lets(published.credentials),
    outside: [...outside].sort(),
  };
}

/**
 * The resource, the Secret and the outside agree, a workload can log in, and what is said is said of this spec: a pass that read an
 * earlier one may have had the last word.
 */
export function isCalm(view: WorldView): boolean {
  const known = [view.activeId, ...view.retired.map(({ id }) => id)].sort();
  return (
    view.activeId !== undefined &&
    !view.isPending &&
    view.externalName === view.activeId &&
    view.secret?.keyId === view.activeId &&
    view.works &&
    known.join() === view.outside.join() &&
    view.isOfThisSpec
  );
}

/** For the failure of a story: everything but the credentials. */
export function describeView({ object, secret, outside, works }: WorldView): string {
  const { annotations, finalizers, deletionTimestamp, uid } = object?.metadata ?? {};
  const shown = { uid, annotations, finalizers, deletionTimestamp, spec: object?.spec, status: object?.status };
  return JSON.stringify({ object: object && shown, secret: secret?.keyId, works, outside }, null, 1);
}
