import type { Clock } from "../../base/clock.ts";
import type { HttpPort } from "../http-port.ts";
import { type Call as RestCall, RestClient } from "../rest/rest-client.ts";
import { type Purpose, refusalOf } from "./answer.ts";
import type { ServiceManagerCredentials } from "./credentials.ts";
import { serviceManagerTokens } from "./token-source.ts";

export type Call = RestCall<Purpose>;

export interface ClientOptions {
  readonly credentials: ServiceManagerCredentials;
  readonly http: HttpPort;
  readonly clock: Clock;
}

export type ServiceManagerClient = RestClient<Purpose>;

export function serviceManagerClient({ credentials, http, clock }: ClientOptions): ServiceManagerClient {
  return new RestClient<Purpose>({
    system: "the Service Manager",
    apiUrl: credentials.apiUrl,
    http,
    clock,
    tokens: serviceManagerTokens(credentials, http, clock),
    readTimeoutMs: 30_000,
    // The Service Manager itself waits up to a minute for a synchronous broker; who leaves earlier leaves a mess.
    writeTimeoutMs: 75_000,
    refuse: (answer, purpose) => refusalOf(answer, { purpose, plan: credentials.plan, now: clock.now() }),
  });
}
