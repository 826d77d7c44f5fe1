import { Redacted } from "../base/redacted.ts";
import type { HttpPort } from "../providers/http-port.ts";
import type { Outside } from "./families/family.ts";
import { partsOf } from "./process.ts";

/** Nobody ever gives up waiting here: a lost answer is a fault of its own. */
export function sandboxPort(outside: Outside): HttpPort {
  return {
    send: async (request) => {
      const { path, search } = partsOf(request.url);
      const { status, headers, body } = await outside.handle({
        method: request.method,
        path,
        query: new URLSearchParams(search),
        headers: request.headers,
        ...(request.body && { body: request.body.reveal() }),
      });
      return { status, headers, body: new Redacted(body) };
    },
  };
}
