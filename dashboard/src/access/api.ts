import type {
  Action,
  ActionAnswer,
  ActionRequest,
  ConsumersView,
  CredentialId,
  CredentialView,
  EvidenceView,
  FuturesAnswer,
  FuturesRequest,
  LastFailureView,
  Preview,
  Refusal,
  SessionAnswer,
  WayIn,
  WorkloadsView,
} from "../../../src/dashboard/wire.ts";
import type { PageClock } from "../base/clock.ts";

/** A request that was not answered as hoped: one line for people, and what kind of failure it was. */
export class RequestFailed extends Error {
  /** Left out: there was no answer at all. */
  readonly status: number | undefined;
  readonly code: string;

  constructor(message: string, code: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const NO_ANSWER = "NoAnswer";
/** Longer than the server itself waits for a cluster that does not answer. The report is made of all there is. */
const ANSWER_MS = 30_000;
const REPORT_MS = 60_000;
const LATE =
  "There was no answer in time. The server may hang, or too many pages of this dashboard are open in this browser: close some.";

const LINES: Readonly<Record<number, string>> = {
  400: "The server does not understand this request. Is the page as old as the server? Reload it.",
  401: "Your token is not valid, or not any more.",
  403: "You may not do this.",
  404: "This is not there, or not any more.",
  409: "It has changed meanwhile: nothing was done. Look at it again, and decide anew.",
  421: "The server does not answer to this address. Open the page by the address that it was given.",
  429: "Too many requests. Wait a moment.",
  503: "The cluster cannot be reached at the moment.",
};

/** What programs say begins small and ends without a stop. */
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** One clear line for whatever came back. */
export function failureOf(status: number, body: unknown): RequestFailed {
  const { error } = (typeof body === "object" && body !== null ? body : {}) as Partial<Refusal>;
  const told = typeof error?.message === "string" && error.message !== "" ? sentence(error.message) : undefined;
  const line = LINES[status] ?? `The server has answered with ${status}.`;
  return new RequestFailed(told ?? line, typeof error?.code === "string" ? error.code : `Status${status}`, status);
}

/** Whether who asks is not, or no longer, known: another attempt with the same token is in vain. */
export const isUnknownViewer = (error: unknown): boolean => error instanceof RequestFailed && error.status === 401;

/** Whether what was asked for may have happened all the same. */
export const isUnanswered = (error: unknown): boolean => error instanceof RequestFailed && error.code === NO_ANSWER;

export const wordsOf = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : "Something went wrong in this page.";

/** Why a stream has ended: what browsers say of that is for nobody. */
export const streamWordsOf = (error: unknown): string =>
  error instanceof RequestFailed ? error.message : "The connection is lost.";

/** All that the page asks of its server. Every request but the first two bears the token. */
export class Api {
  readonly #fetch: typeof fetch;
  readonly #token: () => string | undefined;
  readonly #onUnknown: () => void;
  readonly #clock: PageClock;

  constructor(options: ApiOptions) {
    this.#clock = options.clock;
    this.#fetch = options.fetch;
    this.#token = options.token;
    this.#onUnknown = options.onUnknown;
  }

  wayIn = (): Promise<WayIn> => this.#json("GET", "/api/way-in");
  session = (token: string): Promise<SessionAnswer> => this.#json("POST", "/api/session", { body: { token } });
  credential = (id: CredentialId, signal?: AbortSignal): Promise<CredentialView> =>
    this.#json("GET", `/api/credential?${new URLSearchParams({ id })}`, { signal });

  lastFailure = (id: CredentialId): Promise<LastFailureView> =>
    this.#json("GET", `/api/last-failure?${new URLSearchParams({ id })}`);
  preview = (id: CredentialId, action: Action, until: number): Promise<Preview> =>
    this.#json("GET", `/api/preview?${new URLSearchParams({ id, action, until: String(Math.round(until)) })}`);
  act = (request: ActionRequest): Promise<ActionAnswer> => this.#json("POST", "/api/action", { body: request });
  futures = (request: FuturesRequest): Promise<FuturesAnswer> => this.#json("POST", "/api/futures", { body: request });
  consumers = (namespace: string, name: string): Promise<ConsumersView> =>
    this.#json("GET", `/api/consumers?${new URLSearchParams({ namespace, name })}`);
  workloads = (namespace: string): Promise<WorkloadsView> =>
    this.#json("GET", `/api/workloads?${new URLSearchParams({ namespace })}`);
  evidence = (maxPeriod?: string): Promise<EvidenceView> =>
    this.#json("GET", `/api/evidence${maxPeriod ? `?${new URLSearchParams({ maxPeriod })}` : ""}`, {
      withinMs: REPORT_MS,
    });

  async live(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#ask("GET", "/api/live", { signal });
    if (!answer.body) throw new RequestFailed("The server has sent nothing.", NO_ANSWER);
    return answer.body;
  }

  async #json<T>(method: string, path: string, options: AskOptions = {}): Promise<T> {
    const late = new AbortController();
    const takeBack = this.#clock.after(options.withinMs ?? ANSWER_MS, () => late.abort());
    const signals = options.signal ? [options.signal, late.signal] : [late.signal];
    try {
      const answer = await this.#ask(method, path, { ...options, signal: AbortSignal.any(signals) });
      return (await answer.json().catch(brokenOff)) as T;
    } catch (error) {
      throw late.signal.aborted ? new RequestFailed(LATE, NO_ANSWER) : error;
    } finally {
      takeBack();
    }
  }

  async #ask(method: string, path: string, { body, signal }: AskOptions): Promise<Response> {
    const token = this.#token();
    const headers: Record<string, string> = { accept: path === "/api/live" ? "text/event-stream" : "application/json" };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await this.#fetch(path, {
      method,
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new RequestFailed("The server cannot be reached. Is it running?", NO_ANSWER);
    });
    if (answer.ok) return answer;
    const failure = failureOf(answer.status, await answer.json().catch(() => undefined));
    if (failure.status === 401 && token !== undefined && token === this.#token()) this.#onUnknown();
    throw failure;
  }
}

function brokenOff(): never {
  throw new RequestFailed("The connection was lost before the answer was whole.", NO_ANSWER);
}

interface ApiOptions {
  readonly fetch: typeof fetch;
  readonly clock: PageClock;
  token(): string | undefined;
  onUnknown(): void;
}

interface AskOptions {
  readonly withinMs?: number;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}
