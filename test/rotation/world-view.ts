import type { KubeObject } from "../../src/kube/objects.ts";
import { type ConnectionSecret, readConnectionSecret } from "./connection-secret.ts";

export interface RetiredKey {
  readonly id: string;
  readonly name: string;
  readonly createdDate: string;
  readonly retiredDate: string;
  readonly replacedDate?: string;
  readonly deletionDate: string;
  readonly cause?: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}

interface Status {
  readonly atProvider?: { readonly id?: string; readonly name?: string; readonly createdDate?: string };
  readonly sequence?: number;
  readonly pending?: { readonly name: string; readonly id?: string };
  readonly retiredKeys?: readonly RetiredKey[];
  readonly conditions?: readonly Condition[];
}

/** One binding, its Secret and its keys outside, as they are told side by side. Holds no key material when printed. */
export interface WorldView {
  readonly object: KubeObject | undefined;
  readonly uid: string | undefined;
  readonly externalName: string | undefined;
  readonly activeId: string | undefined;
  readonly activeName: string | undefined;
  /** When the active key was made; NaN where there is none. */
  readonly createdAt: number;
  readonly sequence: number;
  readonly isPending: boolean;
  readonly retired: readonly RetiredKey[];
  readonly secret: ConnectionSecret | undefined;
  /** Whether a workload could log in with the Secret now. */
  readonly works: boolean;
  /** The ids of all keys that live at the story's instances, sorted. */
  readonly outside: readonly string[];
  condition(type: string): string;
}

export interface Sighting {
  readonly object: KubeObject | undefined;
  readonly secret: KubeObject | undefined;
  readonly outside: readonly string[];
  readonly lets: (credentials: Readonly<Record<string, unknown>>) => boolean;
}

export function viewOf({ object, secret, outside, lets }: Sighting): WorldView {
  const status = (object?.status ?? {}) as Status;
  const published = secret && readConnectionSecret(secret);
  return {
    object,
    uid: object?.metadata.uid,
    externalName: object?.metadata.annotations?.["crossplane.io/external-name"],
    activeId: status.atProvider?.id,
    activeName: status.atProvider?.name,
    createdAt: Date.parse(status.atProvider?.createdDate ?? ""),
    sequence: status.sequence ?? 0,
    isPending: status.pending !== undefined,
    retired: status.retiredKeys ?? [],
    secret: published,
    works: published?.credentials !== undefined && lets(published.credentials),
    outside: [...outside].sort(),
    condition: (type) => {
      const found = status.conditions?.find((one) => one.type === type);
      return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message ?? ""}`;
    },
  };
}

/** The resource, the Secret and the outside agree, and a workload can log in. */
export function isCalm(view: WorldView): boolean {
  const known = [view.activeId, ...view.retired.map(({ id }) => id)].sort();
  return (
    view.activeId !== undefined &&
    !view.isPending &&
    view.externalName === view.activeId &&
    view.secret?.keyId === view.activeId &&
    view.works &&
    known.join() === view.outside.join()
  );
}

/** For the failure of a story: everything but the credentials. */
export function describeView({ object, secret, outside, works }: WorldView): string {
  const { annotations, finalizers, deletionTimestamp, uid } = object?.metadata ?? {};
  const shown = { uid, annotations, finalizers, deletionTimestamp, spec: object?.spec, status: object?.status };
  return JSON.stringify({ object: object && shown, secret: secret?.keyId, works, outside }, null, 1);
}
