import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import { type Answer, garbled, type Purpose, type RefusalContext, refusalOf } from "./answer.ts";
import type { ServiceManagerCredentials } from "./credentials.ts";
import { startDeadline, unlessAborted } from "./deadline.ts";
import { TokenSource } from "./token-source.ts";
import { parseRecord, type UnknownRecord } from "./wire.ts";

export interface Call {
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Redacted<UnknownRecord>;
  readonly purpose: Purpose;
}

export interface ClientOptions {
  readonly credentials: ServiceManagerCredentials;
  readonly http: HttpPort;
  readonly clock: Clock;
}

const READ_TIMEOUT_MS = 30_000;
/** The Service Manager itself waits up to a minute for a synchronous broker; who leaves earlier leaves a mess. */
const WRITE_TIMEOUT_MS = 75_000;
const MAX_BODY_CHARS = 16 * 1024 * 1024;

/**
 * One request with a token, and its answer as far as it can be understood. A 401 gets one new token and one replay.
 * Must not: know what the requests mean, or send anything twice for another reason.
 */
export class ServiceManagerClient {
  readonly #options: ClientOptions;
  readonly #tokens: TokenSource;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#tokens = new TokenSource(options.credentials, options.http, options.clock);
  }

  async call(call: Call, signal: AbortSignal): Promise<Answer> {
    const timeoutMs = call.method === "GET" ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS;
    const deadline = startDeadline(this.#options.clock, timeoutMs, signal);
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
  async read(call: Call, signal: AbortSignal): Promise<UnknownRecord> {
    const answer = await this.call(call, signal);
    if (answer.status !== 200) throw this.refusal(answer, call);
    if (!answer.body) throw garbled();
    return answer.body.reveal();
  }

  refusal(answer: Answer, call: Pick<Call, "purpose">): ProviderError {
    const context: RefusalContext = {
      purpose: call.purpose,
      plan: this.#options.credentials.plan,
      now: this.#options.clock.now(),
    };
    return refusalOf(answer, context);
  }

  async #authorized(call: Call, signal: AbortSignal): Promise<Answer> {
    const token = await this.#tokens.current(signal);
    const answer = await this.#send(call, token.value, signal);
    if (answer.status !== 401) return answer;
    this.#tokens.reject(token);
    const renewed = await this.#tokens.current(signal);
    return await this.#send(call, renewed.value, signal);
  }

  async #send(call: Call, token: Redacted<string>, signal: AbortSignal): Promise<Answer> {
    const { credentials, http } = this.#options;
    const query = call.query ? `?${encodeQuery(call.query)}` : "";
    const request: HttpRequest = {
      method: call.method,
      url: credentials.apiUrl + call.path + query,
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
    if (how.isInterrupted) return new ProviderError("ProviderUnavailable", "the call to the Service Manager was ended");
    const { host } = new URL(this.#options.credentials.apiUrl);
    return how.isLate
      ? new ProviderError("ProviderUnavailable", `the Service Manager at ${host} does not answer in time`)
      : new ProviderError("ProviderUnavailable", `the Service Manager cannot be reached at ${host}`, { cause });
  }
}

function understand(response: HttpResponse): Answer {
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
