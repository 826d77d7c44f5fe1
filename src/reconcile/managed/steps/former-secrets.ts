import type { MarkedSecret } from "../../../publish/secret-publisher.ts";
import type { Workpiece } from "../workpiece.ts";

/** The Secrets that the resource has left, and that hold none of the keys it knows; those that are leaving do not count. */
export function findFormerSecrets(piece: Workpiece, leaving: readonly string[] = []): Promise<readonly MarkedSecret[]> {
  const { publisher, spec, signal } = piece.options;
  const { active, pending, retired } = piece.state;
  const used = [active?.id, pending?.id, ...retired.map((key) => key.id)].filter((id) => id !== undefined);
  const keyIds = new Set(used.filter((id) => !leaving.includes(id)));
  return publisher.findFormer(piece.owner, { current: spec.secret, keyIds }, signal);
}
