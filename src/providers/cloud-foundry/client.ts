import type { Clock } from "../../base/clock.ts";
import type { HttpPort } from "../http-port.ts";
import { type Call as RestCall, RestClient } from "../rest/rest-client.ts";
import { type Purpose, refusalOf } from "./answer.ts";
import type { CloudFoundryCredentials } from "./credentials.ts";
import { cloudFoundryTokens } from "./log-in.ts";
import { RateGate } from "./rate-gate.ts";

export type Call = RestCall<Purpose>;
export type CloudFoundryClient = RestClient<Purpose>;

export interface ClientOptions {
  readonly credentials: CloudFoundryCredentials;
  readonly http: HttpPort;
  readonly clock: Clock;
  /** Of the foundation; one of its own where it is not shared with other connections. */
  readonly rateGate?: RateGate;
}

export function cloudFoundryClient(options: ClientOptions): CloudFoundryClient {
  const { credentials, clock, rateGate = new RateGate(clock) } = options;
  const http = credentials.skipTlsVerification ? believing(options.http) : options.http;
  return new RestClient<Purpose>({
    system: "Cloud Foundry",
    apiUrl: credentials.apiUrl,
    http: rateGate.guard(http),
    clock,
    tokens: cloudFoundryTokens(credentials, http, clock),
    readTimeoutMs: 30_000,
    writeTimeoutMs: 60_000,
    refuse: (answer, purpose) => refusalOf(answer, purpose, clock.now()),
  });
}

const believing = (http: HttpPort): HttpPort => ({
  send: (request, signal) => http.send({ ...request, skipTlsVerification: true }, signal),
});
