import { isObject } from "./json.ts";
import { badRequest } from "./status-error.ts";

/** Where a paged list goes on: at which revision it is read, and after which key. Opaque to clients. */
export interface PageToken {
  readonly revision: number;
  readonly after: string;
}

export const encodePageToken = (token: PageToken): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after })).toString("base64url");

export function decodePageToken(text: string): PageToken {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isObject(value) && Number.isSafeInteger(value.rv) && typeof value.start === "string") {
      return { revision: Number(value.rv), after: value.start };
    }
  } catch {
    // Falls through to the refusal: whatever it is, it is not a token of this server.
  }
  throw badRequest("invalid continue token: continue key is not valid: it was not made by this server");
}
