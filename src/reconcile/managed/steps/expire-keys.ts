import { deletionInstant, latestDeletion } from "../../../engine/dates.ts";
import type { SeenKey } from "../../../engine/model.ts";
import { isKnownGone } from "../../../engine/seen-keys.ts";
import { Conflict } from "../../../kube/errors.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import type { SecretContent } from "../../../publish/secret-publisher.ts";
import { united } from "../united.ts";
import type { Workpiece } from "../workpiece.ts";
import { findFormerSecrets } from "./former-secrets.ts";

/**
 * Deletes retired keys whose time has come. The list outside was read in this pass; the resource and the Secret are
 * read live, now. All are tried: one that cannot be deleted does not keep the others.
 */
export async function expireKeys(piece: Workpiece, ids: readonly string[]): Promise<void> {
  const { spec, publisher, signal } = piece.options;
  await removeFormerSecrets(piece, ids);
  const secret = spec.secret && (await publisher.read(spec.secret, piece.owner, signal));
  if (secret) await ensureHandedOn(piece, ids, secret);
  await piece.ensureUnchanged();
  ensureStillDue(piece, ids);
  const { active, externalName, pending } = piece.state;
  // Whoever still means to publish one of these has read another Secret than this, and fails.
  const holdsActive = !spec.secret || secret?.keyId === active?.id || isKnownGone(piece.observation, active?.id ?? "");
  if (!holdsActive) throw new Conflict("the Secret does not hold the active key");
  const needed = new Set([active?.id, externalName, secret?.keyId, pending?.id]);
  if (ids.some((id) => needed.has(id))) throw new Conflict("a retired key is in use again");
  const { gone, leaving, problems } = await removeEach(piece, ids);
  const others = piece.observation.outside?.filter((key) => !ids.includes(key.id)) ?? [];
  piece.learn({ outside: [...others, ...leaving] });
  if (gone.length > 0) await forgetKeys(piece, gone);
  if (problems.length > 0) throw united(problems);
}

/** Drops keys that are gone outside; the Secrets that held them under a name that was left go first. */
export async function forgetVanished(piece: Workpiece, ids: readonly string[]): Promise<void> {
  await removeFormerSecrets(piece, ids);
  await piece.write({ kind: "forget", ids });
}

/** The events come before the write: whoever dies in between tells of them again, under the same names. */
async function forgetKeys(piece: Workpiece, ids: readonly string[]): Promise<void> {
  const { reporter, spec, clock, signal } = piece.options;
  const keys = piece.state.retired.filter((key) => ids.includes(key.id));
  for (const key of keys) {
    const isHoldOver = spec.policy.maxHoldMs !== undefined && latestDeletion(spec.policy, key) <= clock.now();
    if (isHoldOver && key.heldFor !== undefined) await reporter.holdEnded(piece.object, key, signal);
    await reporter.keyDeleted(piece.object, key, signal);
  }
  await piece.write({ kind: "forget", ids });
}

interface Removal {
  readonly gone: readonly string[];
  /** Their deletion is under way. */
  readonly leaving: readonly SeenKey[];
  readonly problems: readonly unknown[];
}

async function removeEach(piece: Workpiece, ids: readonly string[]): Promise<Removal> {
  const gone: string[] = [];
  const leaving: SeenKey[] = [];
  const problems: unknown[] = [];
  for (const id of ids) {
    try {
      const rest = await remove(piece, id);
      if (rest) leaving.push(rest);
      else gone.push(id);
    } catch (error) {
      problems.push(error);
    }
  }
  return { gone, leaving, problems };
}

/**
 * Deletes a key that is ours; what comes back is not gone yet. One that the list does not show is asked for by id: lists
 * may lag behind.
 */
async function remove(piece: Workpiece, id: string): Promise<SeenKey | undefined> {
  const { outside, clock, signal } = piece.options;
  const listed = piece.observation.outside?.find((key) => key.id === id);
  const asked = listed ? undefined : await outside.connection.observe(id, signal);
  const seen = listed ?? (asked && piece.see(asked));
  if (!seen) return undefined;
  if (seen.sequence === undefined) {
    throw new ProviderError(
      "ProviderRefused",
      `key ${seen.name} (${id}) does not bear our marks, so it is left alone: delete it outside, or remove the entry with that id from the retired keys in the status (kubectl edit --subresource=status)`,
    );
  }
  const result = await outside.connection.delete(id, signal);
  return result === "gone" ? undefined : { ...seen, state: "deleting", leavingSince: clock.now() };
}

/** The Secrets that hold these keys under a name that the resource has left; read first, then the resource, live. */
async function removeFormerSecrets(piece: Workpiece, ids: readonly string[]): Promise<void> {
  const former = await findFormerSecrets(piece, ids);
  if (former.length === 0) return;
  await piece.ensureUnchanged();
  piece.ensureClock();
  for (const secret of former) await piece.options.publisher.remove(secret, piece.options.signal);
  piece.learn({ formerKeyIds: [] });
}

/** Whoever slept through an overlap may find it over before the parent has handed on what took its place. */
async function ensureHandedOn(piece: Workpiece, ids: readonly string[], secret: SecretContent): Promise<void> {
  const { copies, signal } = piece.options;
  const isLost = piece.state.retired.every((key) => !ids.includes(key.id) || key.cause === "compromised");
  if (copies && !isLost && (await copies.isBehind(piece.object, secret, signal)))
    throw new Conflict("the parent still gives out what was published before");
}

/** Time may have jumped since the decision: the clock counts as of the live read. */
function ensureStillDue(piece: Workpiece, ids: readonly string[]): void {
  const { spec, clock } = piece.options;
  piece.ensureClock();
  const named = piece.state.retired.filter((key) => ids.includes(key.id));
  if (named.some((key) => deletionInstant(spec.policy, key) > clock.now())) throw new Conflict("the clock has changed");
}
