/**
 * Bytes to an API server and back: undici in production, a function call into the embedded server in tests and in the
 * simulation, either with faults in between. Must not: know Kubernetes beyond "a path and a body".
 */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end or returned from (`for await` with `break`), else the connection stays taken. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  close(): Promise<void>;
}
