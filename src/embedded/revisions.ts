import { messageOf } from "../base/errors.ts";
import { badRequest, StatusError } from "./status-error.ts";

/** resourceVersions as numbers, refused as the API server refuses them. To clients they are opaque. */
export function parseRevision(text: string): number {
  if (text === "") return 0;
  if (!/^\d+$/.test(text))
    throw new StatusError(500, "", `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** The same for lists, which the real server words otherwise. */
export function listRevision(text: string): number {
  try {
    return parseRevision(text);
  } catch (error) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${messageOf(error)}`,
    );
  }
}

export const tooLarge = (wanted: number, current: number): StatusError =>
  new StatusError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version", field: "" }],
    retryAfterSeconds: 1,
  });
