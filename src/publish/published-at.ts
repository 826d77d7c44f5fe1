import { parseInstant } from "../base/instant.ts";
import type { ObjectMeta } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";

/** Clocks may differ by as much, and a write may take as long. */
const USUAL_MS = 60_000;

/**
 * When what a Secret holds was put there: as whoever wrote it says, in that annotation, and that was before the write. One
 * that was held up for longer than writes ever are (a machine that slept in the middle of it) took place when the API
 * server says: until then people had what was there before.
 */
export function publishedAtIn(metadata: ObjectMeta, annotation: string): number | undefined {
  const saidAt = parseInstant(metadata.annotations?.[annotation]);
  const writtenAt = writtenAtIn(metadata, annotation);
  if (saidAt === undefined || writtenAt === undefined) return saidAt;
  return writtenAt - saidAt > USUAL_MS ? writtenAt : saidAt;
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
