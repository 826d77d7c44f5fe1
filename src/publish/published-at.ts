import { parseInstant } from "../base/instant.ts";
import type { ObjectMeta } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";

/**
 * When what a Secret holds was put there, at the latest: as whoever wrote it says, in that annotation, or as the API server
 * says, whose clock may be ahead, and to which the write may have been long on its way (a machine that slept in the middle
 * of it). Until then people had what was there before, and pods have their dates from the server.
 */
export function publishedAtIn(metadata: ObjectMeta, annotation: string): number | undefined {
  const saidAt = parseInstant(metadata.annotations?.[annotation]);
  const writtenAt = writtenAtIn(metadata, annotation);
  return saidAt === undefined ? undefined : Math.max(saidAt, writtenAt ?? saidAt);
}

/** When the manager of that annotation changed the object last, by the server's clock. */
function writtenAtIn({ managedFields }: ObjectMeta, annotation: string): number | undefined {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  const owning = entries.map(recordOf).find(({ fieldsV1 }) => {
    const { "f:annotations": annotations } = recordOf(recordOf(fieldsV1)["f:metadata"]);
    return Object.hasOwn(recordOf(annotations), `f:${annotation}`);
  });
  return parseInstant(owning?.time);
}
