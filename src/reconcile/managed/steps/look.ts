import type { Decision, Pending } from "../../../engine/model.ts";
import type { OutsideKey } from "../../../providers/contract.ts";
import type { Workpiece } from "../workpiece.ts";
import { findFormerSecrets } from "./former-secrets.ts";
import { missingInstance } from "./missing-instance.ts";

/** The steps that find something out outside. They change nothing there but for the marks of a key that is taken over. */

/** Everything with our marks, and everything under the name that is to come. */
export async function lookOutside(piece: Workpiece): Promise<void> {
  const { outside, signal, clusterId } = piece.options;
  const marked = await outside.connection.listMarked({ clusterId, owner: piece.owner }, signal);
  const { pending } = piece.state;
  const named = pending ? await findNamed(piece, pending) : [];
  const keys = new Map([...marked, ...named].map((key) => [key.id, piece.see(key)]));
  const former = await findFormerSecrets(piece);
  piece.learn({ outside: [...keys.values()], formerKeyIds: former.flatMap(({ keyId }) => keyId ?? []) });
  piece.hasLooked = true;
  // Whether a Secret under another fingerprint key was edited nobody can tell: from time to time it is written again.
  const isUnknown = piece.secret?.isComparable === false && !pending;
  if (isUnknown) piece.learn({ secret: { keyId: undefined, sequence: undefined } });
}

/**
 * Everything under the name that is to come. Where a system takes no marks with the request, a key of ours may still be
 * without: its name follows from our UID, so it is nobody else's.
 */
async function findNamed(piece: Workpiece, { name, sequence }: Pending): Promise<readonly OutsideKey[]> {
  const { connection, instanceId } = piece.options.outside;
  const { signal } = piece.options;
  const found = await connection.findByName(instanceId, name, signal);
  const marks = piece.marks(sequence);
  return Promise.all(
    found.map(async (key) => {
      if (!key.isUnmarkedYet || key.instanceId !== instanceId) return key;
      await connection.mark(key.id, marks, signal);
      return { ...key, marks };
    }),
  );
}

/** "Gone" is believed only while the instance itself can be read. */
export async function observeKey(piece: Workpiece, id: string): Promise<void> {
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(id, signal);
  if (!key && (await outside.connection.observeInstance(outside.instanceId, signal)) === "gone") {
    throw missingInstance(outside);
  }
  piece.learn({ observed: new Map(piece.observation.observed).set(id, key ? piece.see(key) : "gone") });
}

/** Takes over a key that is there and nobody else's: marked first, so that it is never forgotten, then intended. */
export async function adoptKey(piece: Workpiece, { id, next }: Extract<Decision, { kind: "adopt" }>): Promise<void> {
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(id, signal);
  if (!key || key.state === "deleting") {
    piece.learn({ adoption: "absent" });
    return;
  }
  const { sequence } = piece.see(key);
  if ((key.marks && sequence === undefined) || key.instanceId !== outside.instanceId) {
    piece.learn({ adoption: "foreign" });
    return;
  }
  await outside.connection.mark(id, piece.marks(next.sequence), signal);
  await piece.write({ kind: "intend", next: { ...next, name: key.name }, retire: [] });
  piece.lookAfresh();
}
