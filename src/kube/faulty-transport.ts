import { type Clock, delay } from "../base/clock.ts";
import { integerBetween, pick, type Random } from "../base/random.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";

/** What happens to one request or its answer. `afterBytes` counts bytes of the answer's body. */
export type Fault =
  /** It never reaches the server. */
  | { readonly kind: "refuse" }
  /** The server does it, and the answer is lost. */
  | { readonly kind: "lose" }
  /** Nothing ever comes back. */
  | { readonly kind: "hang" }
  | { readonly kind: "delay"; readonly delayMs: number }
  /** Something else answers in the server's place. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The connection breaks. */
  | { readonly kind: "reset"; readonly afterBytes: number }
  /** The body ends as if that were all of it. */
  | { readonly kind: "truncate"; readonly afterBytes: number }
  /** The body goes silent without an end: a connection whose other side is gone. */
  | { readonly kind: "stall"; readonly afterBytes: number }
  /** A byte that no JSON may hold turns up. */
  | { readonly kind: "garble"; readonly afterBytes: number }
  /** No fault: the body comes in pieces of this size, wherever that cuts it. */
  | { readonly kind: "slice"; readonly size: number };

/** Decides about each request; undefined lets it pass. */
export type FaultPlan = (request: TransportRequest) => Fault | undefined;

export interface FaultyTransport extends Transport {
  /** Breaks every open connection at once, as a restart of the server does. */
  breakAll(): void;
  /** Bodies that were handed out and neither read to their end nor left. */
  readonly openBodies: number;
}

/**
 * Any transport with faults in between, so that what is built on it can be shown to survive them. Which faults come is
 * the plan's affair. Must not: change a byte in a way that could pass for sound, which real connections do not do either.
 */
export function createFaultyTransport(options: {
  readonly inner: Transport;
  readonly plan: FaultPlan;
  readonly clock: Clock;
}): FaultyTransport {
  const { inner, plan, clock } = options;
  const open = new Set<FaultyBody>();
  const wrap = (response: TransportResponse, fault: Fault | undefined): TransportResponse => {
    const body = new FaultyBody(response.body[Symbol.asyncIterator](), fault, () => open.delete(body));
    open.add(body);
    return { ...response, body: { [Symbol.asyncIterator]: () => body } };
  };
  return {
    async send(request) {
      const fault = plan(request);
      switch (fault?.kind) {
        case "refuse":
          throw networkError("ECONNREFUSED");
        case "hang":
          return new Promise<never>(() => {});
        case "answer":
          return wrap({ status: fault.status, headers: fault.headers, body: once(fault.body) }, undefined);
        case "lose": {
          const lost = await inner.send(request);
          await lost.body[Symbol.asyncIterator]().return?.();
          throw networkError("ECONNRESET");
        }
        case "delay":
          await delay(clock, fault.delayMs, request.signal);
          return wrap(await inner.send(request), undefined);
        default:
          return wrap(await inner.send(request), fault);
      }
    },
    breakAll: () => {
      for (const body of [...open]) body.breakOff();
    },
    get openBodies() {
      return open.size;
    },
    close: () => inner.close(),
  };
}

export interface SeededFaultsOptions {
  readonly random: Random;
  /** The share of requests that something happens to, from 0 to 1. */
  readonly rate: number;
  /** Faults that hit inside the body hit before this many bytes. */
  readonly reach?: number;
}

export interface SeededFaults {
  readonly plan: FaultPlan;
  /** From now on nothing happens any more. */
  stop(): void;
}

/** Every kind of fault, drawn from a seed. */
export function seededFaults(options: SeededFaultsOptions): SeededFaults {
  const { random, rate, reach = 3000 } = options;
  let active = true;
  return {
    plan: () => {
      if (!active) return undefined;
      return random.next() < rate ? drawFault(random, reach) : drawHarmless(random);
    },
    stop: () => {
      active = false;
    },
  };
}

function drawHarmless(random: Random): Fault | undefined {
  return random.next() < 0.3 ? { kind: "slice", size: integerBetween(random, 1, 700) } : undefined;
}

function drawFault(random: Random, reach: number): Fault {
  const afterBytes = random.next() < 0.1 ? 0 : integerBetween(random, 0, reach);
  const draws: readonly (() => Fault)[] = [
    () => ({ kind: "refuse" }),
    () => ({ kind: "lose" }),
    () => ({ kind: "hang" }),
    () => ({ kind: "delay", delayMs: integerBetween(random, 1, 40_000) }),
    () => drawAnswer(random),
    () => drawAnswer(random),
    () => ({ kind: "reset", afterBytes }),
    () => ({ kind: "reset", afterBytes }),
    () => ({ kind: "truncate", afterBytes }),
    () => ({ kind: "stall", afterBytes }),
    () => ({ kind: "garble", afterBytes }),
  ];
  return pick(random, draws)();
}

function drawAnswer(random: Random): Fault {
  const json = { "content-type": "application/json" };
  const seconds = integerBetween(random, 1, 20);
  const answers: readonly Fault[] = [
    {
      kind: "answer",
      status: 429,
      headers: { ...json, "retry-after": String(seconds) },
      body: statusBody(429, "TooManyRequests"),
    },
    { kind: "answer", status: 429, headers: json, body: statusBody(429, "TooManyRequests") },
    { kind: "answer", status: 500, headers: json, body: statusBody(500, "InternalError") },
    { kind: "answer", status: 503, headers: { "content-type": "text/plain" }, body: "service unavailable" },
    { kind: "answer", status: 410, headers: json, body: statusBody(410, "Expired") },
    { kind: "answer", status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found\n" },
    { kind: "answer", status: 401, headers: json, body: statusBody(401, "Unauthorized") },
    { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>log in</html>" },
    { kind: "answer", status: 200, headers: json, body: "" },
    { kind: "answer", status: 200, headers: json, body: `{"type":"ERROR","object":${statusBody(410, "Expired")}}\n` },
    {
      kind: "answer",
      status: 200,
      headers: json,
      body: `{"type":"ERROR","object":${statusBody(500, "InternalError")}}\n`,
    },
  ];
  return pick(random, answers);
}

const statusBody = (code: number, reason: string): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: reason, reason, code });

const networkError = (code: string): Error => Object.assign(new Error(`the connection failed: ${code}`), { code });

async function* once(body: string): AsyncGenerator<Uint8Array> {
  if (body !== "") yield Buffer.from(body);
}

/** An iterator by hand: `return` must work while a `next` is pending, which a generator would queue behind it. */
class FaultyBody implements AsyncIterator<Uint8Array> {
  readonly #inner: AsyncIterator<Uint8Array>;
  readonly #fault: Fault | undefined;
  readonly #onEnd: () => void;
  #seen = 0;
  #rest: Uint8Array | undefined;
  #ended = false;
  #break: ((error: Error) => void) | undefined;

  constructor(inner: AsyncIterator<Uint8Array>, fault: Fault | undefined, onEnd: () => void) {
    this.#inner = inner;
    this.#fault = fault;
    this.#onEnd = onEnd;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#break = reject;
      this.#step().then(resolve, reject);
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#end();
    return DONE;
  }

  breakOff(): void {
    const reject = this.#break;
    this.#end();
    reject?.(networkError("ECONNRESET"));
  }

  async #step(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#rest ?? (await this.#pull());
    this.#rest = undefined;
    if (chunk === undefined) return this.#finish();
    if (this.#fault?.kind === "slice") return this.#give(chunk, this.#fault.size);
    const limit =
      this.#fault && "afterBytes" in this.#fault ? this.#fault.afterBytes - this.#seen : Number.POSITIVE_INFINITY;
    if (limit > 0 || this.#ended) return this.#give(chunk, limit);
    return this.#strike(chunk);
  }

  /** The limit is reached and there would be more: now the fault happens. */
  #strike(chunk: Uint8Array): Promise<IteratorResult<Uint8Array>> | IteratorResult<Uint8Array> {
    switch (this.#fault?.kind) {
      case "reset":
        this.#end();
        throw networkError("ECONNRESET");
      case "truncate":
        return this.#finish();
      case "garble":
        return { done: false, value: Buffer.concat([Buffer.from([0]), chunk]) };
      default:
        return new Promise<never>(() => {});
    }
  }

  #give(chunk: Uint8Array, size: number): IteratorResult<Uint8Array> {
    const value = chunk.subarray(0, size);
    if (value.length < chunk.length) this.#rest = chunk.subarray(value.length);
    this.#seen += value.length;
    return { done: false, value };
  }

  async #pull(): Promise<Uint8Array | undefined> {
    const result = await this.#inner.next();
    return result.done ? undefined : result.value;
  }

  #finish(): IteratorResult<Uint8Array> {
    this.#end();
    return DONE;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#inner.return?.().catch(() => {});
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
