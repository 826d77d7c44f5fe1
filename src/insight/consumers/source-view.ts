import { parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { lastWrittenAt } from "../../restart/managed-fields.ts";
import type { SourceId } from "../../restart/model.ts";
import { type SourceMarks, sourceMarksOf } from "../../restart/opt-in.ts";
import { publishedAtOf } from "../../restart/source-digests.ts";

/** A source as it is now, by its metadata. */
export interface SourceView {
  readonly source: SourceId;
  readonly marks: SourceMarks;
  /** Undefined: it is not there, or may not be looked at. */
  readonly publishedAt: number | undefined;
  /** It holds what it was created with. */
  readonly isFirstValue: boolean;
}

/** Both dates are the server's, taken one after the other. */
const TOLERANCE_MS = 1000;

export function viewOf(source: SourceId, object: KubeObject | undefined, now: number): SourceView {
  const marks = sourceMarksOf(annotationsOf(object?.metadata.annotations), { reloader: true });
  if (!object) return { source, marks, publishedAt: undefined, isFirstValue: false };
  const createdAt = parseInstant(object.metadata.creationTimestamp);
  const writtenAt = lastWrittenAt(object, ["data", "binaryData"]);
  const isFirstValue = createdAt !== undefined && writtenAt !== undefined && writtenAt <= createdAt + TOLERANCE_MS;
  return { source, marks, publishedAt: publishedAtOf(object, now), isFirstValue };
}
