import { unfulfilled } from "../../../engine/advance.ts";
import type { KnownKey } from "../../../engine/model.ts";
import { keyName } from "../key-name.ts";
import { ANNOTATIONS } from "../managed-kind.ts";
import { nextRotation } from "../next-rotation.ts";
import type { Workpiece } from "../workpiece.ts";

/**
 * External-name moves to the key that is published, and the request that it fulfils leaves in the same write. Where nothing
 * is published nobody has asked for its credentials, which would have marked it.
 */
export async function activateKey(piece: Workpiece, id: string): Promise<void> {
  const { outside, kind, signal } = piece.options;
  const { pending } = piece.state;
  if (pending && piece.keys.get(id)?.isUnmarkedYet)
    await outside.connection.mark(id, piece.marks(pending.sequence), signal);
  const fulfilled = { [kind.forceAnnotation]: null, [ANNOTATIONS.compromised]: null };
  const annotations = {
    [ANNOTATIONS.externalName]: id,
    ...(unfulfilled(piece.state) === undefined && fulfilled),
  };
  await piece.patchMetadata({ annotations });
}

/** The last write of a rotation. Its event comes first: whoever dies in between tells of it again, under the same name. */
export async function commitKey(piece: Workpiece, id: string): Promise<void> {
  const { clock, reporter, spec, signal } = piece.options;
  const now = clock.now();
  const seen = piece.keys.get(id);
  const before = piece.state;
  const { pending } = before;
  const key: KnownKey = {
    id,
    name: seen?.name ?? pending?.name ?? "",
    createdAt: seen?.createdAt ?? pending?.since ?? now,
  };
  const { uid = "" } = piece.object.metadata;
  const isAdopted = pending?.name !== keyName(spec.baseName, uid, pending?.sequence ?? 0);
  const activation = { before, key, rule: spec, isAdopted };
  await reporter.keyActivated(piece.object, activation, signal);
  await piece.write({ kind: "commit", key, replacedAt: piece.publishedAt ?? now, committedAt: now });
  reporter.keyCommitted(piece.object, activation, nextRotation(piece.state, spec));
  piece.lookAfresh({ hasCommitted: true });
}
