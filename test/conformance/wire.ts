import type { Transport, TransportRequest } from "../../src/kube/transport.ts";

/** An answer as it came over the wire: for behaviours that the port hides. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body, or undefined where it is not JSON. */
  readonly body: unknown;
}

export interface WireRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when a string, else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Plain HTTP requests with the target's credentials. */
export class Wire {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get(path: string, request: WireRequest = {}): Promise<Answer> {
    return this.#send("GET", path, request);
  }

  post(path: string, body: unknown, request: WireRequest = {}): Promise<Answer> {
    return this.#send("POST", path, { ...request, body });
  }

  put(path: string, body: unknown, request: WireRequest = {}): Promise<Answer> {
    return this.#send("PUT", path, { ...request, body });
  }

  patch(path: string, contentType: string, body: unknown): Promise<Answer> {
    return this.#send("PATCH", path, { body, headers: { "content-type": contentType } });
  }

  delete(path: string, request: WireRequest = {}): Promise<Answer> {
    return this.#send("DELETE", path, request);
  }

  async #send(method: TransportRequest["method"], path: string, request: WireRequest): Promise<Answer> {
    const { body } = request;
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const response = await this.#transport.send({
      method,
      path,
      headers: { accept: "application/json", "content-type": "application/json", ...request.headers },
      ...(text !== undefined && { body: text }),
      ...(request.signal && { signal: request.signal }),
    });
    const decoder = new TextDecoder();
    let received = "";
    for await (const chunk of response.body) received += decoder.decode(chunk, { stream: true });
    return { status: response.status, headers: response.headers, text: received, body: parse(received) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
