import type { RetiredKey } from "../../../engine/model.ts";
import type { SecretAddress } from "../../../publish/secret-publisher.ts";
import { type ConsumersQuestion, heldForWords } from "../consumers.ts";
import type { Workpiece } from "../workpiece.ts";

/**
 * Asks who has not moved on from keys whose time is over, and writes down for whom they are kept where that has changed.
 * The event comes first: whoever dies in between tells of it again, under the same name.
 */
export async function askConsumers(piece: Workpiece, ids: readonly string[]): Promise<void> {
  const { consumers, spec, reporter, signal } = piece.options;
  if (!consumers) return leaveUnasked(piece, ids);
  const asked = piece.state.retired.filter((key) => ids.includes(key.id));
  const behind = await consumers.behind(await questionOf(piece, asked), signal);
  const found = new Map(ids.map((id) => [id, (behind.get(id) ?? []).map(({ workload }) => workload)]));
  piece.learn({ consumers: new Map([...(piece.observation.consumers ?? []), ...found]) });
  const wordsOf = (id: string): string | undefined => heldForWords(behind.get(id) ?? []);
  const changed = asked.filter((key) => wordsOf(key.id) !== key.heldFor);
  if (changed.length === 0) return;
  for (const key of changed) {
    const heldFor = wordsOf(key.id);
    // Told once for each key: who of many is left is in the status.
    if (heldFor === undefined || key.heldFor !== undefined) continue;
    await reporter.consumersBehind(piece.object, { key, heldFor, policy: spec.policy }, signal);
  }
  const heldFor = new Map(changed.map(({ id }) => [id, wordsOf(id)]));
  await piece.write({ kind: "hold", heldFor });
}

/**
 * There is nobody to ask: the pass runs for the sake of a key that is compromised, and must not end for these. They are
 * kept, and the next pass says what is wrong.
 */
function leaveUnasked(piece: Workpiece, ids: readonly string[]): void {
  const unknown = ids.map((id) => [id, ["somebody that the restart controller, which is off, would know"]] as const);
  piece.learn({ consumers: new Map([...(piece.observation.consumers ?? []), ...unknown]) });
}

async function questionOf(piece: Workpiece, asked: readonly RetiredKey[]): Promise<ConsumersQuestion> {
  const lastAt = Math.max(...piece.state.retired.map(({ replacedAt = -Infinity }) => replacedAt));
  const keys = asked.flatMap(({ id, replacedAt }) =>
    replacedAt === undefined ? [] : [{ id, replacedAt, isLast: replacedAt === lastAt }],
  );
  return { secrets: await secretsOf(piece), keys };
}

/** Whatever they hold by now, the keys may have been in any of them. */
async function secretsOf(piece: Workpiece): Promise<readonly SecretAddress[]> {
  const { spec, publisher, signal } = piece.options;
  const former = await publisher.findFormer(piece.owner, { current: spec.secret, keyIds: new Set() }, signal);
  const current = spec.secret ? [{ namespace: spec.secret.namespace, name: spec.secret.name }] : [];
  return [...current, ...former.map(({ address }) => address)];
}
