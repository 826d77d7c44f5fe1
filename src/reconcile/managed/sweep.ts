import type { Kube } from "../../kube/port.ts";
import type { Connection, Marks } from "../../providers/contract.ts";
import type { ManagedKind } from "./managed-kind.ts";

export interface SweepOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly connection: Connection;
  readonly clusterId: string;
  readonly signal: AbortSignal;
}

/** How many keys were removed, and what went wrong with the others. */
export interface SweepResult {
  readonly removed: number;
  readonly problems: readonly unknown[];
}

/**
 * Removes keys with our cluster's mark whose resource is gone: a request that landed after everybody had left, a
 * finalizer that somebody took off. The keys are listed before the resources: a key whose resource is missing from the
 * later list has lost it, because no key is made before its resource is there. A resource of that name counts whatever
 * its UID, since a restore changes it and the keys are its own again. Must not: touch keys of a resource that exists.
 */
export async function sweep({ kind, kube, connection, clusterId, signal }: SweepOptions): Promise<SweepResult> {
  const keys = await connection.listMarked({ clusterId }, signal);
  const suspects = keys.filter(({ marks, state }) => marks?.ownerKind === kind.type.kind && state !== "deleting");
  if (suspects.length === 0) return { removed: 0, problems: [] };
  const owners = await livingOwners({ kind, kube, signal });
  const problems: unknown[] = [];
  let removed = 0;
  for (const { id, marks } of suspects) {
    if (!marks || owners.has(marks.ownerUid) || owners.has(addressOf(marks))) continue;
    try {
      await connection.delete(id, signal);
      removed++;
    } catch (error) {
      problems.push(error);
    }
  }
  return { removed, problems };
}

const addressOf = ({ ownerNamespace, ownerName }: Pick<Marks, "ownerNamespace" | "ownerName">): string =>
  `${ownerNamespace ?? ""}/${ownerName}`;

/** UIDs and addresses of all there are, page by page. */
async function livingOwners({
  kind,
  kube,
  signal,
}: Pick<SweepOptions, "kind" | "kube" | "signal">): Promise<ReadonlySet<string>> {
  const owners = new Set<string>();
  let next: string | undefined;
  do {
    const page = await kube.list(kind.type, {
      metadataOnly: true,
      limit: 500,
      ...(next !== undefined && { continue: next }),
      signal,
    });
    for (const { metadata } of page.items) {
      const { uid = "", namespace, name } = metadata;
      owners.add(uid);
      owners.add(addressOf({ ...(namespace !== undefined && { ownerNamespace: namespace }), ownerName: name }));
    }
    next = page.continue;
  } while (next !== undefined);
  return owners;
}
