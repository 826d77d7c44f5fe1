import type { KeyMetadata } from "../../../providers/contract.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import type { Workpiece } from "../workpiece.ts";

/**
 * What people have put on the resource since its active key was made gets to the key with the next look at it. What they
 * have taken off stays there: nobody can tell whose it is by now. Nothing else waits for this: what the outside does not
 * take is left, and the making of the next key says so.
 */
export async function carryMetadata(piece: Workpiece): Promise<void> {
  const { outside, spec, logger, signal } = piece.options;
  const { active } = piece.state;
  const key = piece.keys.get(active?.id ?? "");
  const wanted = outside.extras?.metadata;
  if (!active || !wanted || !key?.metadata || !spec.may.create || hasAll(key.metadata, wanted)) return;
  // Marks go with it: only over the same ones.
  if (key.state !== "ready" || piece.see(key).sequence !== active.sequence) return;
  await piece.ensureUnchanged();
  try {
    await outside.connection.mark(key.id, piece.marks(active.sequence), signal, wanted);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    logger.warn("labels and annotations could not be put on the key", { keyId: key.id, error });
  }
}

function hasAll(there: KeyMetadata, wanted: KeyMetadata): boolean {
  const isThere = (part: keyof KeyMetadata): boolean =>
    Object.entries(wanted[part]).every(([name, value]) => there[part][name] === value);
  return isThere("labels") && isThere("annotations");
}
