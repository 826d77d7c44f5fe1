import { isDeepStrictEqual } from "node:util";
import { CREATED_AT } from "../../api/bind/names.ts";
import { type CreatedAtView, keySecretMetadata, viewCreatedAt } from "../../bind/key-secret.ts";
import type { ActiveKey } from "../../engine/model.ts";
import type { ObjectMeta } from "../../kube/objects.ts";
import { keyIdOf, type Worn } from "../../publish/secret-publisher.ts";
import type { RndcKeySpec } from "./rndc-key-spec.ts";

/**
 * What stands on the published Secret, and what somebody says by it: `created-at` set to the past makes the key that old,
 * which is how people ask for a rotation. Pure. Must not: rotate for a date that means nothing.
 */
export const wearFor =
  ({ labels, annotations, rotateAfter }: RndcKeySpec) =>
  (worn: Worn, { createdAt, isSame = false }: { readonly createdAt: number; readonly isSame?: boolean }): Worn =>
    keySecretMetadata({
      // What somebody asked for by the date is not taken back when the same key is written again.
      createdAt: isSame ? earlierOf(createdAt, worn.annotations[CREATED_AT]) : createdAt,
      rotateAfter,
      labels: { ...worn.labels, ...labels },
      annotations: { ...worn.annotations, ...annotations },
    });

function earlierOf(createdAt: number, said: string | undefined): number {
  const view = viewCreatedAt(said, createdAt, createdAt);
  return view.kind === "moved" ? view.createdAt : createdAt;
}

export interface SeenDress {
  /** When the active key counts as made, where the Secret has a say in that. */
  readonly createdAt: number | undefined;
  /** What the Secret should wear and does not, in words. */
  readonly lack: string | undefined;
}

const NOTHING_SEEN: SeenDress = { createdAt: undefined, lack: undefined };

/** Of a Secret that holds the active key; any other is written again in any case. */
export function seenDress(
  spec: RndcKeySpec,
  what: { readonly metadata: ObjectMeta | undefined; readonly active: ActiveKey | undefined; readonly now: number },
): SeenDress {
  const { metadata, active, now } = what;
  if (!metadata || !active || keyIdOf(metadata) !== active.id) return NOTHING_SEEN;
  const { labels = {}, annotations = {} } = metadata;
  const view = viewCreatedAt(annotations[CREATED_AT], active.createdAt, now);
  if (view.kind === "damaged") return { createdAt: undefined, lack: `${CREATED_AT}: ${view.why}` };
  const createdAt = dateOf(view, active);
  const worn = { labels, annotations };
  const isDressed = isDeepStrictEqual(wearFor(spec)(worn, { createdAt }), worn);
  return { createdAt, lack: isDressed ? undefined : "its labels and annotations were others" };
}

const dateOf = (view: Exclude<CreatedAtView, { kind: "damaged" }>, active: ActiveKey): number =>
  view.kind === "moved" ? view.createdAt : active.createdAt;
