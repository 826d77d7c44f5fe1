import { nextLook } from "../../../engine/next-look.ts";
import { seenKeys } from "../../../engine/seen-keys.ts";
import type { CreateRequest, Credentials, OutsideKey } from "../../../providers/contract.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import type { Workpiece } from "../workpiece.ts";
import { missingInstance } from "./missing-instance.ts";

/**
 * Makes the key that is pending, under its name and with our marks on it from the start. Where there is no Secret yet, it
 * must be certain that there can be one.
 */
export async function createKey(piece: Workpiece): Promise<void> {
  const { outside, spec, publisher, asked, clock, signal } = piece.options;
  const { pending } = piece.state;
  if (!pending) return;
  if (spec.secret) await publisher.ensureWritable(spec.secret, piece.secret, signal);
  const { instanceId, parameters, extras } = outside;
  const marks = piece.marks(pending.sequence);
  const request: CreateRequest = { name: pending.name, instanceId, parameters, marks, ...extras };
  const created = await outside.connection.create(request, signal).catch((error: unknown) => {
    const isMissing = error instanceof ProviderError && error.code === "InstanceNotFound";
    throw isMissing ? missingInstance(outside, error) : error;
  });
  asked?.remember(piece.object.metadata, pending.sequence, clock.now());
  if (created.kind === "ready") piece.credentials.set(created.key.id, created.credentials);
  const key: OutsideKey =
    created.kind === "ready"
      ? created.key
      : { id: created.id, name: pending.name, instanceId, state: "creating", marks: request.marks };
  const others = (piece.observation.outside ?? []).filter((one) => one.id !== key.id);
  piece.learn({ outside: [...others, piece.see(key)] });
}

/** The credentials of a key; undefined when the outside does not give them. */
export async function readCredentials(piece: Workpiece, id: string): Promise<Credentials | undefined> {
  const known = piece.credentials.get(id);
  if (known) return known;
  const { outside, signal } = piece.options;
  try {
    const credentials = await outside.connection.readCredentials(id, signal);
    piece.credentials.set(id, credentials);
    return credentials;
  } catch (error) {
    if (error instanceof ProviderError && error.code === "CredentialsUnavailable") return undefined;
    throw error;
  }
}

/**
 * Removes a key whose creation failed. How long a create was not heard of is told by the clock too: not while it cannot be
 * trusted. When it was to be the next key, that is a failure like any other: said, and tried again with growing pauses.
 */
export async function removeFailedKey(piece: Workpiece, id: string): Promise<void> {
  const { outside, clock, signal } = piece.options;
  await piece.ensureUnchanged();
  piece.ensureClock();
  const failed = seenKeys(piece.observation).find((key) => key.id === id);
  await outside.connection.delete(id, signal);
  piece.learn({
    outside: piece.observation.outside?.filter((key) => key.id !== id),
    observed: new Map(piece.observation.observed).set(id, "gone"),
  });
  const { pending } = piece.state;
  if (!pending || failed?.sequence !== pending.sequence) return;
  const retryAfterMs = nextLook(pending.since, clock.now()) - clock.now();
  throw new ProviderError("KeyFailed", `the service could not make key ${pending.name}; it is tried again`, {
    retryAfterMs,
  });
}
