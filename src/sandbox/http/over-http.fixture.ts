import { ManualClock, settle } from "../../base/manual-clock.ts";
import { AnswerLost, type SandboxRequest, type SandboxResponse } from "./exchange.ts";
import { serveOnLoopback } from "./serve-on-loopback.ts";

/** How a test's requests reach its sandbox. */
export interface Carrier {
  send(request: SandboxRequest): Promise<SandboxResponse>;
  /** Resolves when everything that was sent has got where it was going. */
  atRest(): Promise<void>;
  close(): Promise<void>;
}

type Handle = (request: SandboxRequest) => Promise<SandboxResponse>;

export const byCall = (handle: Handle): Carrier => ({
  send: handle,
  atRest: async () => {},
  close: async () => {},
});

interface Journey {
  hasArrived: boolean;
  hasLeft: boolean;
  /** The server has seen that the client left. */
  isNoticed: boolean;
}

const MARK = "x-fixture-journey";

/** Requests over sockets, in the order they were sent; nothing here depends on how long a socket takes. */
export async function overHttp(handle: Handle): Promise<Carrier> {
  const journeys: Journey[] = [];
  const { url, stop } = await serveOnLoopback(async (request) => {
    const journey = journeys[Number(request.headers[MARK])];
    if (journey) {
      journey.hasArrived = true;
      request.signal?.addEventListener("abort", () => {
        journey.isNoticed = true;
      });
    }
    return handle(request);
  }, {});

  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await settle();
  };
  let previous: Promise<void> = Promise.resolve();

  async function send(request: SandboxRequest): Promise<SandboxResponse> {
    const journey: Journey = { hasArrived: false, hasLeft: false, isNoticed: false };
    const mark = journeys.push(journey) - 1;
    const before = previous;
    previous = until(() => journey.hasArrived);
    await before;
    const leaving = new AbortController();
    // Whoever leaves does so once the request is there: before that it would have asked for nothing.
    const leave = (): void =>
      void until(() => journey.hasArrived).then(() => {
        journey.hasLeft = true;
        leaving.abort();
      });
    if (request.signal?.aborted) leave();
    else request.signal?.addEventListener("abort", leave, { once: true });
    try {
      const query = request.query.size === 0 ? "" : `?${request.query}`;
      const answer = await fetch(url + request.path + query, {
        method: request.method,
        headers: { ...request.headers, [MARK]: String(mark), ...forwarded(request.clientCertificate) },
        signal: leaving.signal,
        ...(request.body !== undefined && { body: request.body }),
      });
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
    } catch {
      throw new AnswerLost();
    }
  }

  return {
    send,
    atRest: () => until(() => journeys.every((each) => each.hasArrived && (!each.hasLeft || each.isNoticed))),
    close: stop,
  };
}

/** As behind a router that ends TLS. */
function forwarded(certificate: string | undefined): Readonly<Record<string, string>> {
  if (certificate === undefined) return {};
  return { "x-forwarded-client-cert": certificate.replaceAll(/-----[^-]+-----|\s/g, "") };
}

/** A clock that lets no time pass while something is still on its way. */
export class PatientClock extends ManualClock {
  carrier: Carrier | undefined;

  override async advance(byMs: number): Promise<void> {
    await this.carrier?.atRest();
    await super.advance(byMs);
  }
}
