import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import { readTokenAnswer } from "../rest/token-answer.ts";
import { TokenSource } from "../rest/token-source.ts";
import { certificateEndsAt, type ServiceManagerCredentials } from "./credentials.ts";

/** Tokens for a client, with its secret or its certificate. */
export function serviceManagerTokens(
  credentials: ServiceManagerCredentials,
  http: HttpPort,
  clock: Clock,
): TokenSource {
  const { host } = new URL(credentials.tokenUrl);
  const expired = (): ProviderError | undefined => expiredCertificate(credentials, clock.now());
  const refused = (): ProviderError =>
    expired() ??
    new ProviderError(
      "ProviderForbidden",
      "the token service does not accept the Service Manager credentials: replace them",
    );
  return new TokenSource({
    clock,
    logIn: async (signal) =>
      readTokenAnswer(await http.send(tokenRequest(credentials), signal), { now: clock.now(), refused }),
    unreachable: (cause) =>
      expired() ??
      new ProviderError("ProviderUnavailable", `the token service cannot be reached at ${host}`, { cause }),
  });
}

function tokenRequest({ clientId, login, tokenUrl }: ServiceManagerCredentials): HttpRequest {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId });
  if (login.kind === "secret") form.set("client_secret", login.clientSecret.reveal());
  return {
    method: "POST",
    url: tokenUrl,
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
    body: new Redacted(form.toString()),
    ...(login.kind === "certificate" && {
      clientCertificate: { certificate: login.certificate, privateKey: login.privateKey },
    }),
  };
}

/** A certificate that has ended is seldom named by whoever refuses it. */
function expiredCertificate({ login }: ServiceManagerCredentials, now: number): ProviderError | undefined {
  const endsAt = login.kind === "certificate" ? certificateEndsAt(login.certificate) : undefined;
  if (endsAt === undefined || now <= endsAt) return undefined;
  const day = new Date(endsAt).toISOString().slice(0, 10);
  return new ProviderError(
    "ProviderForbidden",
    `the client certificate of the Service Manager credentials ended on ${day}: replace it`,
  );
}
