import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../http-port.ts";

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export type ScriptedStep = ScriptedAnswer | Error | "silence" | ((request: HttpRequest) => ScriptedAnswer | Error);

export interface SeenRequest {
  readonly method: string;
  /** With the query, as it goes over the wire. */
  readonly path: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly hasCertificate: boolean;
  readonly believesAnybody: boolean;
}

const TOKEN_PATH = "/oauth/token";
const DISCOVERED: ScriptedAnswer = { status: 200, body: { links: { uaa: { href: "https://uaa.example" } } } };

/**
 * A service that answers by a list: token requests with tokens that count up, questions where those are to be had with an
 * address, everything else with the next step. What is asked beyond the list is an error of the test's.
 */
export class ScriptedHttp implements HttpPort {
  readonly requests: SeenRequest[] = [];
  readonly tokenRequests: SeenRequest[] = [];
  /** Questions where tokens are to be had, asked at the root. */
  readonly discoveries: SeenRequest[] = [];
  readonly #steps: ScriptedStep[];
  readonly #tokenSteps: ScriptedStep[];
  readonly #discoverySteps: ScriptedStep[];

  constructor(
    steps: readonly ScriptedStep[] = [],
    tokenSteps: readonly ScriptedStep[] = [],
    discoverySteps: readonly ScriptedStep[] = [],
  ) {
    this.#steps = [...steps];
    this.#tokenSteps = [...tokenSteps];
    this.#discoverySteps = [...discoverySteps];
  }

  get stepsLeft(): number {
    return this.#steps.length;
  }

  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const url = new URL(request.url);
    const seen: SeenRequest = {
      method: request.method,
      path: request.url.slice(url.origin.length),
      url,
      headers: request.headers,
      body: request.body?.reveal(),
      hasCertificate: request.clientCertificate !== undefined,
      believesAnybody: request.skipTlsVerification === true,
    };
    if (url.pathname === "/") {
      this.discoveries.push(seen);
      return this.#answer(this.#discoverySteps.shift() ?? DISCOVERED, request, signal);
    }
    const isToken = url.pathname.endsWith(TOKEN_PATH);
    (isToken ? this.tokenRequests : this.requests).push(seen);
    const step = isToken ? (this.#tokenSteps.shift() ?? this.#nextToken()) : this.#steps.shift();
    return this.#answer(step ?? new Error("the script is over"), request, signal);
  }

  #nextToken(): ScriptedAnswer {
    const body = { access_token: `token-canary-${this.tokenRequests.length}`, token_type: "bearer", expires_in: 3600 };
    return { status: 200, body };
  }

  #answer(step: ScriptedStep, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    if (step === "silence") {
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    }
    const answer = typeof step === "function" ? step(request) : step;
    if (answer instanceof Error) return Promise.reject(answer);
    const { status, headers = {}, body = "" } = answer;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return Promise.resolve({ status, headers, body: new Redacted(text) });
  }
}
