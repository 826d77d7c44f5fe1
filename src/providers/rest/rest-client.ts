import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import type { Answer } from "./answer.ts";
import { startDeadline, unlessAborted } from "./deadline.ts";
import type { TokenSource } from "./token-source.ts";
import { parseRecord, type UnknownRecord } from "./wire.ts";

export interface Call<Purpose extends string> {
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Redacted<UnknownRecord>;
  /** What is asked for, in the words of the message when it is refused. */
  readonly purpose: Purpose;
}

export interface RestClientOptions<Purpose extends string> {
  /** Who answers, in the words of a message. */
  readonly system: string;
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly http: HttpPort;
  readonly clock: Clock;
  readonly tokens: Pick<TokenSource, "current" | "reject">;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  /** The error for an answer that is not the one hoped for. */
  refuse(answer: Answer, purpose: Purpose): ProviderError;
}

const MAX_BODY_CHARS = 16 * 1024 * 1024;

/**
 * One request with a token, and its answer as far as it can be understood. A 401 gets one new token and one replay.
 * Must not: know what the requests mean, or send anything twice for another reason.
 */
export class RestClient<Purpose extends string> {
  readonly #options: RestClientOptions<Purpose>;

  constructor(options: RestClientOptions<Purpose>) {
    this.#options = options;
  }

  async call(call: Call<Purpose>, signal: AbortSignal): Promise<Answer> {
    const { clock, readTimeoutMs, writeTimeoutMs } = this.#options;
    const deadline = startDeadline(clock, call.method === "GET" ? readTimeoutMs : writeTimeoutMs, signal);
    try {
      return await this.#authorized(call, deadline.signal);
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw this.#noAnswer(error, { isInterrupted: signal.aborted, isLate: deadline.isOver() });
    } finally {
      deadline.cancel();
    }
  }

  /** The body of a 200, or an error. */
  async read(call: Call<Purpose>, signal: AbortSignal): Promise<UnknownRecord> {
    const answer = await this.call(call, signal);
    if (answer.status !== 200) throw this.refusal(answer, call);
    if (!answer.body) throw this.garbled();
    return answer.body.reveal();
  }

  refusal(answer: Answer, { purpose }: Pick<Call<Purpose>, "purpose">): ProviderError {
    return this.#options.refuse(answer, purpose);
  }

  garbled(): ProviderError {
    return garbled(this.#options.system);
  }

  async #authorized(call: Call<Purpose>, signal: AbortSignal): Promise<Answer> {
    const { tokens } = this.#options;
    const token = await tokens.current(signal);
    const answer = await this.#send(call, token.value, signal);
    if (answer.status !== 401) return answer;
    tokens.reject(token);
    const renewed = await tokens.current(signal);
    return await this.#send(call, renewed.value, signal);
  }

  async #send(call: Call<Purpose>, token: Redacted<string>, signal: AbortSignal): Promise<Answer> {
    const { apiUrl, http } = this.#options;
    const query = call.query ? `?${encodeQuery(call.query)}` : "";
    const request: HttpRequest = {
      method: call.method,
      url: apiUrl + call.path + query,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${token.reveal()}`,
        ...(call.body && { "content-type": "application/json" }),
      },
      ...(call.body && { body: new Redacted(JSON.stringify(call.body.reveal())) }),
    };
    return understand(await unlessAborted(http.send(request, signal), signal));
  }

  #noAnswer(cause: unknown, how: { readonly isInterrupted: boolean; readonly isLate: boolean }): ProviderError {
    const { system, apiUrl } = this.#options;
    if (how.isInterrupted) return new ProviderError("ProviderUnavailable", `the call to ${system} was ended`);
    const { host } = new URL(apiUrl);
    return how.isLate
      ? new ProviderError("ProviderUnavailable", `${system} at ${host} does not answer in time`)
      : new ProviderError("ProviderUnavailable", `${system} cannot be reached at ${host}`, { cause });
  }
}

export const garbled = (system: string): ProviderError =>
  new ProviderError("ProviderUnavailable", `the answer of ${system} cannot be understood`);

export function understand(response: HttpResponse): Answer {
  const text = response.body.reveal();
  const body = text.length > MAX_BODY_CHARS ? undefined : parseRecord(text);
  return { status: response.status, headers: response.headers, body: body && new Redacted(body) };
}

/** Percent-encoded throughout: the `+` that forms use for a space is a plus to some routers. */
function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join("&");
}
