import type { Transport, TransportRequest } from "../../kube/transport.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";

/**
 * The way to an API server in the same process: a function call, no sockets. What tests, the torture of the list-watch
 * and the simulation use. An aborted request rejects with the signal's reason, and so does a body that is being read
 * when its signal aborts, as a broken connection would.
 */
export function createLocalTransport(server: { handle(request: ApiRequest): Promise<ApiResponse> }): Transport {
  const open = new Set<StreamedBody>();
  let isClosed = false;
  return {
    async send(request) {
      const signal = request.signal ?? new AbortController().signal;
      signal.throwIfAborted();
      if (isClosed) throw closedError();
      const { status, headers, body } = await server.handle(toApiRequest(request, signal));
      signal.throwIfAborted();
      if (typeof body === "string") return { status, headers, body: wholeBody(body) };
      const stream = new StreamedBody(body, signal, () => open.delete(stream));
      open.add(stream);
      return { status, headers, body: stream };
    },
    async close() {
      isClosed = true;
      await Promise.all(Array.from(open, (stream) => stream.breakOff(closedError())));
    },
  };
}

const closedError = (): Error => new Error("the transport was closed");

function toApiRequest(request: TransportRequest, signal: AbortSignal): ApiRequest {
  const at = request.path.indexOf("?");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value;
  return {
    method: request.method,
    path: at < 0 ? request.path : request.path.slice(0, at),
    query: new URLSearchParams(at < 0 ? "" : request.path.slice(at + 1)),
    headers,
    ...(request.body !== undefined && { body: request.body }),
    signal,
  };
}

const encoder = new TextEncoder();

async function* wholeBody(body: string): AsyncGenerator<Uint8Array> {
  if (body !== "") yield encoder.encode(body);
}

/** By hand and not a generator, so that leaving a body that was never begun ends the stream behind it. */
class StreamedBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #chunks: AsyncIterator<string>;
  readonly #signal: AbortSignal;
  readonly #onEnd: () => void;
  #broken: Error | undefined;

  constructor(body: AsyncIterable<string>, signal: AbortSignal, onEnd: () => void) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const result = await this.#chunks.next();
    if (this.#signal.aborted || result.done) this.#onEnd();
    this.#signal.throwIfAborted();
    if (this.#broken) throw this.#broken;
    return result.done ? { done: true, value: undefined } : { done: false, value: encoder.encode(result.value) };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#onEnd();
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  async breakOff(reason: Error): Promise<void> {
    this.#broken = reason;
    await this.return();
  }
}
