import { isObject, jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { Refusal } from "./problems.ts";
import type { LoginRecord, Role, TokenRecord } from "./records.ts";
import { type CloudFoundryWorld, loginKey } from "./world.ts";

/** The client that stands for people with the command line: it has no secret. */
const PUBLIC_CLIENT = { id: "cf", secret: "" };
/** Where users are looked for who name no origin. */
const DEFAULT_ORIGIN = "uaa";
/** A client that asks for one token per request must not fill the memory; its first ones end early. */
const MOST_TOKENS = 10_000;

export interface LoginRequest {
  readonly kind?: "user" | "client";
  /** Of a user: the identity provider. */
  readonly origin?: string;
  readonly role?: Role;
}

/** What a configuration needs to log in. */
export type IssuedLogin =
  | {
      readonly apiEndpoint: string;
      readonly username: string;
      readonly password: string;
      readonly origin: string;
    }
  | { readonly apiEndpoint: string; readonly clientId: string; readonly clientSecret: string };

export function issueLogin(world: CloudFoundryWorld, request: LoginRequest): LoginRecord {
  const { kind = "user", origin = DEFAULT_ORIGIN, role = "space-developer" } = request;
  const name = `sandbox-${kind}-${world.uuid().slice(0, 8)}`;
  const id = kind === "user" ? `${name}@sandbox.internal` : name;
  const login: LoginRecord = { id, kind, origin: kind === "user" ? origin : "", secret: world.secret(), role };
  world.logins.set(loginKey(login), login);
  return login;
}

export const issuedLogin = ({ kind, id, secret, origin }: LoginRecord, apiEndpoint: string): IssuedLogin =>
  kind === "user"
    ? { apiEndpoint, username: id, password: secret, origin }
    : { apiEndpoint, clientId: id, clientSecret: secret };

/** `POST /oauth/token` of the UAA, whose errors have the form of OAuth. */
export function issueTokens(world: CloudFoundryWorld, request: SandboxRequest): SandboxResponse {
  const form = new URLSearchParams(request.body ?? "");
  const client = clientOf(request, form);
  if (!client) return oauthError(401, "unauthorized", "An Authentication object was not found in the SecurityContext");
  switch (form.get("grant_type")) {
    case "password":
      return isPublic(client) ? passwordGrant(world, request, form) : badClient();
    case "client_credentials":
      return clientGrant(world, client);
    case "refresh_token":
      return isPublic(client) ? refreshGrant(world, form.get("refresh_token") ?? "") : badClient();
    default:
      return oauthError(400, "unsupported_grant_type", "Unsupported grant type");
  }
}

function passwordGrant(world: CloudFoundryWorld, request: SandboxRequest, form: URLSearchParams): SandboxResponse {
  const origin = originIn(request.query.get("login_hint") ?? form.get("login_hint")) ?? DEFAULT_ORIGIN;
  const isKnownOrigin = origin === DEFAULT_ORIGIN || [...world.logins.values()].some((each) => each.origin === origin);
  if (!isKnownOrigin) return oauthError(401, "unauthorized", "The origin provided in the login_hint is invalid.");
  const login = world.logins.get(loginKey({ kind: "user", origin, id: form.get("username") ?? "" }));
  if (!login || form.get("password") !== login.secret) return oauthError(401, "unauthorized", "Bad credentials");
  const refresh = addToken(world, "refresh", loginKey(login), world.switches.refreshTokenLifetimeMs);
  return tokenAnswer(world, loginKey(login), refresh.token);
}

function clientGrant(world: CloudFoundryWorld, client: Client): SandboxResponse {
  const login = world.logins.get(loginKey({ kind: "client", origin: "", id: client.id }));
  if (!login || client.secret !== login.secret) return badClient();
  return tokenAnswer(world, loginKey(login));
}

function refreshGrant(world: CloudFoundryWorld, token: string): SandboxResponse {
  const refresh = validToken(world, token, "refresh");
  if (refresh) return tokenAnswer(world, refresh.loginKey, refresh.token);
  return oauthError(401, "invalid_token", "The token expired, was revoked, or the token ID is incorrect.");
}

function tokenAnswer(world: CloudFoundryWorld, key: string, refreshToken?: string): SandboxResponse {
  const { tokenLifetimeMs } = world.switches;
  const { token } = addToken(world, "access", key, tokenLifetimeMs);
  return jsonAnswer(200, {
    access_token: token,
    token_type: "bearer",
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    expires_in: Math.floor(tokenLifetimeMs / 1000),
    scope: "cloud_controller.read cloud_controller.write",
    jti: world.uuid(),
  });
}

export function addToken(
  world: CloudFoundryWorld,
  use: TokenRecord["use"],
  key: string,
  lifetimeMs: number,
): TokenRecord {
  const now = world.tick();
  if (world.tokens.size >= MOST_TOKENS) {
    for (const [token, { expiresTick }] of world.tokens) if (expiresTick <= now) world.tokens.delete(token);
  }
  for (const token of world.tokens.keys()) {
    if (world.tokens.size < MOST_TOKENS) break;
    world.tokens.delete(token);
  }
  const record: TokenRecord = { token: world.secret(), use, loginKey: key, expiresTick: now + lifetimeMs };
  world.tokens.set(record.token, record);
  return record;
}

interface Client {
  readonly id: string;
  readonly secret: string;
}

const isPublic = ({ id, secret }: Client): boolean => id === PUBLIC_CLIENT.id && secret === PUBLIC_CLIENT.secret;

/** By Basic authentication, as a rule; by the form, where there is none. */
function clientOf({ headers }: SandboxRequest, form: URLSearchParams): Client | undefined {
  const basic = /^basic (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (basic !== undefined) {
    const [id = "", ...rest] = Buffer.from(basic, "base64").toString().split(":");
    return rest.length === 0 ? undefined : { id, secret: rest.join(":") };
  }
  const id = form.get("client_id");
  return id === null ? undefined : { id, secret: form.get("client_secret") ?? "" };
}

/** A hint that makes no sense is passed over, as the UAA does. */
function originIn(hint: string | null): string | undefined {
  try {
    const value: unknown = JSON.parse(hint ?? "");
    return isObject(value) && typeof value.origin === "string" ? value.origin : undefined;
  } catch {
    return undefined;
  }
}

const oauthError = (status: number, error: string, description: string): SandboxResponse =>
  jsonAnswer(status, { error, error_description: description });

const badClient = (): SandboxResponse => oauthError(401, "unauthorized", "Bad credentials");

function validToken(world: CloudFoundryWorld, token: string, use: TokenRecord["use"]): TokenRecord | undefined {
  const record = world.tokens.get(token);
  return record && record.use === use && record.expiresTick > world.tick() ? record : undefined;
}

/** Who is behind a request's token, or undefined without a valid one. */
export function callerOf(world: CloudFoundryWorld, { headers }: SandboxRequest): LoginRecord | undefined {
  const token = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const record = token === undefined ? undefined : validToken(world, token, "access");
  return record && world.logins.get(record.loginKey);
}

/** Whom a token request is from; only a name that was issued here is repeated. */
export function namedIn(world: CloudFoundryWorld, request: SandboxRequest): string | undefined {
  const form = new URLSearchParams(request.body ?? "");
  const names = [form.get("username"), clientOf(request, form)?.id];
  return [...world.logins.values()].find(({ id }) => names.includes(id))?.id;
}

/** The caller, or the 401 for one who shows no token, or one that is not valid. */
export function authorized(caller: LoginRecord | undefined, { headers }: SandboxRequest): LoginRecord {
  if (caller) return caller;
  if (headers.authorization === undefined) throw new Refusal("NotAuthenticated", "Authentication error");
  throw new Refusal("InvalidAuthToken", "Invalid Auth Token");
}
