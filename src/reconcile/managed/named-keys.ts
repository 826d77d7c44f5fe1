import type { Connection, Marks, OutsideKey } from "../../providers/contract.ts";

export interface NamedQuery {
  readonly connection: Connection;
  readonly instanceId: string;
  /** The name that is to come. */
  readonly name: string;
  /** Of the key that is to bear it. */
  readonly marks: Marks;
  readonly signal: AbortSignal;
}

/**
 * Everything under the name that is to come. Where a system takes no marks with the request, a key of ours may still be
 * without: its name follows from our UID, so it is nobody else's.
 */
export async function findNamed(query: NamedQuery): Promise<readonly OutsideKey[]> {
  const { connection, instanceId, name, marks, signal } = query;
  const found = await connection.findByName(instanceId, name, signal);
  return Promise.all(
    found.map(async (key) => {
      if (!key.isUnmarkedYet || key.instanceId !== instanceId) return key;
      await connection.mark(key.id, marks, signal);
      return { ...key, marks };
    }),
  );
}
