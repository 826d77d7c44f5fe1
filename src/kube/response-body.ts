import type { CallScope } from "./call-scope.ts";
import { Unavailable, Unreachable } from "./errors.ts";
import type { TransportResponse } from "./transport.ts";

/**
 * Reads answers inside the limits of their call: bounded in size, whole or not at all, and the connection always given
 * back, read to its end or cancelled.
 */
export async function readText(scope: CallScope, response: TransportResponse, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(scope, response)) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new Unavailable(`the answer is larger than ${maxBytes} bytes`, { status: response.status });
    chunks.push(chunk);
  }
  const announced = Number(response.headers["content-length"] ?? Number.NaN);
  if (announced > size) throw new Unreachable(`the answer broke off after ${size} of ${announced} bytes`);
  const [only] = chunks;
  return (chunks.length === 1 && only ? asBuffer(only) : Buffer.concat(chunks)).toString("utf8");
}

/** The chunks of a body; leaving the loop early, by `break` or by an error, cancels the body. */
export async function* chunksOf(scope: CallScope, response: TransportResponse): AsyncGenerator<Uint8Array> {
  const iterator = response.body[Symbol.asyncIterator]();
  let ended = false;
  try {
    while (true) {
      const step = await scope.wait(iterator.next());
      if (step.done) {
        ended = true;
        return;
      }
      yield step.value;
    }
  } catch (error) {
    throw scope.failureOr(error);
  } finally {
    if (!ended) cancel(iterator);
  }
}

/** For answers nobody wants any more. */
export function discard(response: TransportResponse): void {
  cancel(response.body[Symbol.asyncIterator]());
}

/** Not awaited: a body that is stuck in a read would hold its caller; the aborted signal frees the connection anyway. */
function cancel(iterator: AsyncIterator<Uint8Array>): void {
  iterator.return?.().catch(() => {});
}

const asBuffer = (chunk: Uint8Array): Buffer => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
