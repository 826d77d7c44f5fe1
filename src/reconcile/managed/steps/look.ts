import type { Decision } from "../../../engine/model.ts";
import type { OutsideKey } from "../../../providers/contract.ts";
import { findNamed } from "../named-keys.ts";
import type { Workpiece } from "../workpiece.ts";
import { carryMetadata } from "./carry-metadata.ts";
import { findFormerSecrets } from "./former-secrets.ts";
import { missingInstance } from "./missing-instance.ts";

/** The steps that find something out outside. They change nothing there but for what stands on a key of the resource's. */

/** Everything with our marks, and everything under the name that is to come. */
export async function lookOutside(piece: Workpiece): Promise<void> {
  const { outside, signal, clusterId } = piece.options;
  const { connection, instanceId } = outside;
  const marked = await connection.listMarked({ clusterId, owner: piece.owner }, signal);
  const { pending } = piece.state;
  const marks = piece.marks(pending?.sequence ?? 0);
  const named = pending ? await findNamed({ connection, instanceId, name: pending.name, marks, signal }) : [];
  const keys = new Map([...marked, ...named].map((key) => [key.id, piece.see(key)]));
  const former = await findFormerSecrets(piece);
  piece.learn({ outside: [...keys.values()], formerKeyIds: former.flatMap(({ keyId }) => keyId ?? []) });
  await carryMetadata(piece);
  piece.hasLooked = true;
  // Whether a Secret under another fingerprint key was edited nobody can tell: from time to time it is written again.
  const isUnknown = piece.secret?.isComparable === false && !pending;
  if (isUnknown) piece.learn({ secret: { keyId: undefined, sequence: undefined } });
}

/** "Gone" is believed only while the instance itself can be read. */
export async function observeKey(piece: Workpiece, id: string): Promise<void> {
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(id, signal);
  if (!key && (await outside.connection.observeInstance(outside.instanceId, signal)) === "gone") {
    throw missingInstance(outside);
  }
  const known = key && (await markedAgain(piece, key));
  piece.learn({ observed: new Map(piece.observation.observed).set(id, known ? piece.see(known) : "gone") });
}

/**
 * An active key that bears no marks any more gets them again, or nobody could delete it later: a resource that was on its
 * way out has set it free, and was then restored from a backup. One that somebody else has marked stays as it is.
 */
async function markedAgain(piece: Workpiece, key: OutsideKey): Promise<OutsideKey> {
  const { outside, signal } = piece.options;
  const { active, externalName } = piece.state;
  const isActive = active !== undefined && key.id === active.id && key.id === externalName && key.name === active.name;
  if (!isActive || key.marks || key.state === "deleting" || key.instanceId !== outside.instanceId) return key;
  // Not for a resource that is on its way out by now: it means to leave the key without.
  await piece.ensureUnchanged();
  const marks = piece.marks(active.sequence);
  await outside.connection.mark(key.id, marks, signal);
  return { ...key, marks };
}

/** Takes over a key that is there and nobody else's: marked first, so that it is never forgotten, then intended. */
export async function adoptKey(piece: Workpiece, { id, next }: Extract<Decision, { kind: "adopt" }>): Promise<void> {
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(id, signal);
  if (!key || key.state === "deleting") {
    piece.learn({ adoption: "absent" });
    return;
  }
  const isOurs = piece.see(key).sequence !== undefined;
  const isNobodys = key.marks === undefined && !outside.takesOverOnlyOwn;
  if (!(isOurs || isNobodys) || key.instanceId !== outside.instanceId) {
    piece.learn({ adoption: "foreign" });
    return;
  }
  await outside.connection.mark(id, piece.marks(next.sequence), signal, outside.extras?.metadata);
  await piece.write({ kind: "intend", next: { ...next, name: key.name }, retire: [] });
  piece.lookAfresh();
}
