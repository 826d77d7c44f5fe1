/** One request and its answer, as the API server sees them: already off the wire, with no socket in sight. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream ends by itself, on abort of the request's signal, or when its reader leaves. */
  readonly body: string | AsyncIterable<string>;
}
