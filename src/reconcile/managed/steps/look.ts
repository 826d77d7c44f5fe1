import type { Decision } from "../../../engine/model.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import type { Workpiece } from "../workpiece.ts";

/** The steps that find something out outside. They change nothing there but for the marks of a key that is taken over. */

/** Everything with our marks, and everything under the name that is to come. */
export async function lookOutside(piece: Workpiece): Promise<void> {
  const { outside, signal, clusterId } = piece.options;
  const marked = await outside.connection.listMarked({ clusterId, owner: piece.owner }, signal);
  const { pending } = piece.state;
  const named = pending ? await outside.connection.findByName(outside.instanceId, pending.name, signal) : [];
  const keys = new Map([...marked, ...named].map((key) => [key.id, piece.see(key)]));
  piece.learn({ outside: [...keys.values()] });
  piece.hasLooked = true;
}

/** "Gone" is believed only while the instance itself can be read. */
export async function observeKey(piece: Workpiece, id: string): Promise<void> {
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(id, signal);
  if (!key && (await outside.connection.observeInstance(outside.instanceId, signal)) === "gone") {
    throw new ProviderError("InstanceNotFound", `the service instance ${outside.instanceId} does not exist any more`);
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
