import { Redacted } from "../../../base/redacted.ts";
import type { ActiveKey, Pending } from "../../../engine/model.ts";
import { Conflict } from "../../../kube/errors.ts";
import type { Credentials, DescribedInstance } from "../../../providers/contract.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import { connectionData } from "../../../publish/connection-data.ts";
import { copyOf, encodeTexts, type SecretData } from "../../../publish/secret-data.ts";
import type { Publication, PublishedSecret } from "../../../publish/secret-publisher.ts";
import { layoutName } from "../managed-kind.ts";
import type { Workpiece } from "../workpiece.ts";
import { readCredentials } from "./make-key.ts";
import { missingInstance } from "./missing-instance.ts";

/**
 * Read the Secret, then the resource live, then replace the Secret at the version that was read: whoever published in
 * between makes this fail, and whoever moved the resource on is seen. A key of this intent in the Secret has won.
 */
export async function publishKey(piece: Workpiece, id: string): Promise<void> {
  const { spec, publisher, reporter, signal } = piece.options;
  const { pending, active } = piece.state;
  if (!pending || !spec.secret) return;
  const present = await publisher.read(spec.secret, piece.owner, signal);
  const isWon = await isWinner(piece, { present, id, sequence: pending.sequence });
  if (isWon && present?.keyId !== undefined) {
    // What is published needs no credentials any more, and must not be given up for want of them.
    await ensureStillPending(piece, pending.sequence);
    piece.secret = present;
    published(piece, present.keyId, present.publishedAt);
    return;
  }
  const credentials = await readCredentials(piece, id);
  if (!credentials) {
    piece.learn({ unreadable: id });
    return;
  }
  const data = await dataOf(piece, credentials);
  await ensureStillPending(piece, pending.sequence);
  const isSame =
    present?.isSound && present.keyId === active?.id && present.fingerprint === publisher.fingerprintOf(data);
  if (isSame && active && active.id !== id && (await couldStay(piece, active, pending))) {
    piece.learn({ ineffective: id });
    return;
  }
  await writeSecret(piece, { id, sequence: pending.sequence, data, over: present });
  reporter.keyPublished(piece.object, { id, name: pending.name }, spec.secret);
  published(piece, id, piece.publishedAt);
}

/** The Secret was damaged or lost: the active key's credentials again, under the same rules. */
export async function republishKey(piece: Workpiece, id: string): Promise<void> {
  const { spec, publisher, reporter, signal } = piece.options;
  const { active } = piece.state;
  if (!active || !spec.secret) return;
  if (piece.observation.unreadable === id) {
    throw new ProviderError(
      "CredentialsUnavailable",
      "the Secret is damaged, the service does not give the credentials again, and no other key may be made now: it is frozen, managementPolicies does not allow it, or too many were replaced early",
    );
  }
  const credentials = await readCredentials(piece, id);
  if (!credentials) {
    // The next key, on its way or to be made for this, brings what this one no longer gives.
    piece.learn({ unreadable: id });
    return;
  }
  const data = await dataOf(piece, credentials);
  const present = await publisher.read(spec.secret, piece.owner, signal);
  await piece.ensureUnchanged();
  await writeSecret(piece, { id, sequence: active.sequence, data, over: present });
  piece.learn({ secret: { keyId: id, sequence: active.sequence, publishedAt: piece.publishedAt } });
  const why = piece.options.outside.dress?.lack;
  const version = piece.secret?.resourceVersion;
  await reporter.secretRestored(piece.object, { secret: spec.secret, version, why }, signal);
}

/** Whether the Secret holds a key of this intent already, and one that lives: a Secret may be from a backup too. */
async function isWinner(
  piece: Workpiece,
  what: { readonly present: PublishedSecret | undefined; readonly id: string; readonly sequence: number },
): Promise<boolean> {
  const { present, id, sequence } = what;
  const { keyId, sequence: publishedSequence = -1 } = present?.isSound ? present : { keyId: undefined };
  if (keyId === undefined || publishedSequence < sequence) return false;
  if (keyId === id) return true;
  const { outside, signal } = piece.options;
  const key = await outside.connection.observe(keyId, signal);
  if (!key || piece.see(key).sequence !== publishedSequence || key.state !== "ready") return false;
  if (publishedSequence > sequence) throw new Conflict("a later key is published: the status is from the past");
  return true;
}

/**
 * Whether the old key would do as well: it is there, of the present spec, and the one that external-name means. Otherwise
 * the reason for the rotation would stand after it was given up, and keys would be made without end.
 */
async function couldStay(piece: Workpiece, active: ActiveKey, pending: Pending): Promise<boolean> {
  if (piece.state.externalName !== active.id || active.madeFrom !== pending.madeFrom) return false;
  const { outside, signal } = piece.options;
  return (await outside.connection.observe(active.id, signal))?.state === "ready";
}

async function ensureStillPending(piece: Workpiece, sequence: number): Promise<void> {
  const live = await piece.readLive();
  const state = piece.options.kind.readState(live);
  const { uid, generation } = piece.object.metadata;
  // A spec that was edited may name another Secret: what was decided on the old one does not hold.
  const isSame = live.metadata.uid === uid && live.metadata.generation === generation;
  if (state.isDeleting || state.pending?.sequence !== sequence || !isSame) {
    throw new Conflict(`${live.metadata.name} has moved on`);
  }
}

function published(piece: Workpiece, id: string, at: number | undefined): void {
  piece.publishedAt = at;
  const { sequence } = piece.state.pending ?? {};
  piece.learn({ published: id, secret: { keyId: id, sequence, publishedAt: at } });
}

async function dataOf(piece: Workpiece, credentials: Credentials): Promise<Redacted<SecretData>> {
  const layout = piece.options.spec.secret?.layout ?? { kind: "flat" };
  if (layout.kind === "copy") return new Redacted(copyOf(credentials.reveal()));
  const whole = layout.kind === "sap-kubernetes" ? { ...layout, instance: await describeInstance(piece) } : layout;
  const { type, values } = encodeTexts(connectionData(credentials.reveal(), whole));
  const extra = piece.options.outside.dress?.extraData.reveal();
  return new Redacted({ ...(type !== undefined && { type }), values: { ...extra, ...values } });
}

/** By when the key was made, as far as is known. */
function dressOf(
  { options, keys, state }: Workpiece,
  keyId: string,
  over: PublishedSecret | undefined,
): Publication["dress"] {
  const { dress } = options.outside;
  const known = state.active?.id === keyId ? state.active.createdAt : keys.get(keyId)?.createdAt;
  const createdAt = known ?? state.pending?.since ?? options.clock.now();
  return dress && ((worn) => dress.wear(worn, { createdAt, isSame: over?.keyId === keyId }));
}

async function describeInstance({ options }: Workpiece): Promise<DescribedInstance> {
  const { connection, instanceId } = options.outside;
  const described = await connection.describeInstance(instanceId, options.signal);
  if (described) return described;
  throw missingInstance(options.outside);
}

async function writeSecret(
  piece: Workpiece,
  what: {
    readonly id: string;
    readonly sequence: number;
    readonly data: Redacted<SecretData>;
    readonly over: PublishedSecret | undefined;
  },
): Promise<void> {
  const { publisher, spec, clock, signal } = piece.options;
  if (!spec.secret) return;
  const { namespace, name } = spec.secret;
  const { id: keyId, sequence, data, over } = what;
  // Another key than the decision was made on has users by now, who are to be thought of first.
  if (over?.keyId !== piece.secret?.keyId) throw new Conflict(`the Secret ${namespace}/${name} has changed`);
  // When the old key was replaced is written down now: not by a clock that has jumped since the decision.
  piece.ensureClock();
  const publishedAt = clock.now();
  const owner = piece.ownerReference;
  const address = { namespace, name };
  const layout = layoutName(spec.secret.layout);
  const dress = dressOf(piece, keyId, over);
  const publication = { address, owner, keyId, sequence, publishedAt, layout, data, dress, over };
  piece.secret = await publisher.write(publication, signal);
  // The old key was in the Secret until now, however long the write took, and for as long as the server says.
  piece.publishedAt = Math.max(clock.now(), piece.secret.publishedAt ?? -Infinity);
}
