import { X509Certificate } from "node:crypto";
import { jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { Refusal } from "./exchange.ts";
import type { ClientPlan, ClientRecord } from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/** Clients of the Service Manager, as their credential Secrets are issued, and the tokens they get. */
export type IssuedCredentials =
  | {
      readonly clientid: string;
      readonly clientsecret: string;
      readonly url: string;
      readonly sm_url: string;
      readonly xsappname: string;
    }
  | {
      readonly clientid: string;
      readonly certificate: string;
      readonly certurl: string;
      readonly sm_url: string;
      readonly xsappname: string;
    };

/** A client that asks for one token per request must not fill the memory; its first ones end early. */
const MOST_TOKENS = 10_000;

export interface ClientRequest {
  readonly plan?: ClientPlan;
  /** Makes it an x509 client: this certificate (PEM) stands in for a secret. Its private key stays with the caller. */
  readonly certificate?: string;
  /** Where it shows that certificate, if not at the sandbox's own address. */
  readonly certUrl?: string;
}

export function issueClient(world: SandboxWorld, { plan = "subaccount-admin", certificate }: ClientRequest) {
  const xsappname = `sandbox-${world.uuid()}`;
  const proof = certificate === undefined ? { secret: world.secret() } : { certificate };
  const client: ClientRecord = { id: `sb-${xsappname}!b1|service-manager!b1`, xsappname, plan, proof };
  world.clients.set(client.id, client);
  return client;
}

export function credentialsOf(
  { id, xsappname, proof }: ClientRecord,
  url: string,
  certUrl: string = url,
): IssuedCredentials {
  const common = { clientid: id, sm_url: url, xsappname };
  return "secret" in proof
    ? { ...common, clientsecret: proof.secret, url }
    : { ...common, certificate: proof.certificate, certurl: certUrl };
}

/** `POST /oauth/token`. Its errors have the form of OAuth, not that of the Service Manager. */
export function issueToken(world: SandboxWorld, request: SandboxRequest): SandboxResponse {
  const form = new URLSearchParams(request.body ?? "");
  if (form.get("grant_type") !== "client_credentials") {
    return jsonAnswer(400, { error: "unsupported_grant_type", error_description: "Unsupported grant type" });
  }
  const client = world.clients.get(form.get("client_id") ?? "");
  if (!client || !isProven(client, form, request.clientCertificate)) {
    return jsonAnswer(401, { error: "unauthorized", error_description: "Bad credentials" });
  }
  for (const [token, { expiresTick }] of world.tokens) {
    if (expiresTick > world.tick() && world.tokens.size < MOST_TOKENS) break;
    world.tokens.delete(token);
  }
  const { tokenLifetimeMs } = world.switches;
  const token = world.secret();
  world.tokens.set(token, { token, clientId: client.id, expiresTick: world.tick() + tokenLifetimeMs });
  return jsonAnswer(200, {
    access_token: token,
    token_type: "bearer",
    expires_in: Math.floor(tokenLifetimeMs / 1000),
    scope: "service-manager.subaccount.manage",
  });
}

function isProven({ proof }: ClientRecord, form: URLSearchParams, certificate: string | undefined): boolean {
  if ("secret" in proof) return form.get("client_secret") === proof.secret;
  return certificate !== undefined && sameCertificate(certificate, proof.certificate);
}

/** Compares what the certificates are, not how they are wrapped; texts that are no certificates only as texts. */
function sameCertificate(a: string, b: string): boolean {
  try {
    return new X509Certificate(a).fingerprint256 === new X509Certificate(b).fingerprint256;
  } catch {
    return a.trim() === b.trim();
  }
}

/** The client behind a request's token, or undefined without a valid one. */
export function callerOf(world: SandboxWorld, { headers }: SandboxRequest): ClientRecord | undefined {
  const token = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const record = token === undefined ? undefined : world.tokens.get(token);
  return record && record.expiresTick > world.tick() ? world.clients.get(record.clientId) : undefined;
}

/** Refuses callers without a valid token, and those whose plan gives no right to call at all. */
export function authorize(caller: ClientRecord | undefined): void {
  if (!caller) throw new Refusal(401, "Unauthorized", "authentication failed");
  if (caller.plan === "subaccount-admin") return;
  throw new Refusal(403, "Forbidden", "the scopes of the token do not allow this request");
}
