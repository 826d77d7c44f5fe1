import type { Clock } from "../base/clock.ts";
import type { HttpPort } from "./http-port.ts";

/** What is told of a request to an external system. Must be quick and must not throw. */
export interface HttpObserver {
  /** `status` is undefined when no whole answer came. */
  requested(method: string, status: number | undefined, tookMs: number): void;
}

/** The same port, with somebody looking on. */
export function observedHttp(http: HttpPort, clock: Clock, observer: HttpObserver): HttpPort {
  return {
    send: async (request, signal) => {
      const startedTick = clock.monotonic();
      let status: number | undefined;
      try {
        const response = await http.send(request, signal);
        status = response.status;
        return response;
      } finally {
        observer.requested(request.method, status, clock.monotonic() - startedTick);
      }
    },
  };
}
