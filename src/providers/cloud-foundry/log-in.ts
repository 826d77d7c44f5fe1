import { Buffer } from "node:buffer";
import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import { understand } from "../rest/rest-client.ts";
import { isSafe } from "../rest/secret-fields.ts";
import { readTokenAnswer, type TokenAnswer } from "../rest/token-answer.ts";
import { type Granted, TokenSource } from "../rest/token-source.ts";
import { isRecord, textOf } from "../rest/wire.ts";
import { throttled } from "./answer.ts";
import type { CloudFoundryCredentials } from "./credentials.ts";

type Tokens = Pick<TokenSource, "current" | "reject">;

const STATIC_LIFETIME_MS = 3_600_000;
/** A UAA locks users out who come with a wrong password again and again, wherever they come from. */
const REFUSED_MS = 60_000;

/**
 * Tokens of a foundation's UAA: found by asking the API where it is, got with the credentials, and renewed with the refresh
 * token for as long as the UAA takes it. After a refused token the credentials themselves are used again.
 */
export function cloudFoundryTokens(credentials: CloudFoundryCredentials, http: HttpPort, clock: Clock): Tokens {
  const logIn = new LogIn(credentials, http, clock);
  const { host } = new URL(credentials.apiUrl);
  const source = new TokenSource({
    clock,
    logIn: (signal) => logIn.grant(signal),
    unreachable: (cause) => {
      logIn.forget();
      return new ProviderError("ProviderUnavailable", `Cloud Foundry at ${host}, or its UAA, cannot be reached`, {
        cause,
      });
    },
  });
  return {
    current: (signal) => source.current(signal),
    reject: (token) => {
      logIn.forget();
      source.reject(token);
    },
  };
}

class LogIn {
  readonly #credentials: CloudFoundryCredentials;
  readonly #http: HttpPort;
  readonly #clock: Clock;
  #tokenUrl: string | undefined;
  #refreshToken: Redacted<string> | undefined;
  #refusedUntil = 0;

  constructor(credentials: CloudFoundryCredentials, http: HttpPort, clock: Clock) {
    this.#credentials = credentials;
    this.#http = http;
    this.#clock = clock;
  }

  /** What was learnt may be the very thing that does not work any more. */
  forget(): void {
    this.#tokenUrl = undefined;
    this.#refreshToken = undefined;
  }

  async grant(signal: AbortSignal): Promise<Granted> {
    const { login } = this.#credentials;
    if (login.kind === "token") return { value: login.token, lifetimeMs: STATIC_LIFETIME_MS };
    if (this.#clock.monotonic() < this.#refusedUntil) throw refused();
    this.#tokenUrl ??= await this.#discover(signal);
    const granted = (await this.#refresh(this.#tokenUrl, signal)) ?? (await this.#authenticate(this.#tokenUrl, signal));
    this.#refreshToken = granted.refreshToken;
    return granted;
  }

  /** Asked without a token: this is how the API says where tokens are to be had. */
  async #discover(signal: AbortSignal): Promise<string> {
    const url = `${this.#credentials.apiUrl}/`;
    const answer = understand(await this.#http.send({ method: "GET", url, headers: JSON_ACCEPTED }, signal));
    if (answer.status === 429) throw throttled(answer, this.#clock.now());
    const links = answer.status === 200 ? answer.body?.reveal().links : undefined;
    if (!isRecord(links)) {
      throw new ProviderError(
        "ProviderUnavailable",
        "what answers at the address of the API is not a Cloud Foundry: it is down, or the address is wrong",
      );
    }
    const stated = hrefOf(links.uaa) ?? hrefOf(links.login);
    if (stated === undefined) {
      throw new ProviderError("ProviderForbidden", "this Cloud Foundry has no UAA to log in at: it needs a token");
    }
    const uaa = URL.parse(stated);
    if (!uaa || !isSafe(uaa)) {
      throw new ProviderError(
        "ProviderForbidden",
        "the UAA's address does not begin with https://: nothing is sent to it",
      );
    }
    return `${uaa.origin}${uaa.pathname.replace(/\/+$/, "")}/oauth/token`;
  }

  async #refresh(tokenUrl: string, signal: AbortSignal): Promise<TokenAnswer | undefined> {
    const refreshToken = this.#refreshToken;
    if (!refreshToken) return undefined;
    this.#refreshToken = undefined;
    const form = { grant_type: "refresh_token", refresh_token: refreshToken.reveal() };
    const response = await this.#ask(tokenUrl, form, signal);
    // It has ended, or was taken back: the credentials are there for that.
    return response.status === 400 || response.status === 401 ? undefined : this.#read(response);
  }

  async #authenticate(tokenUrl: string, signal: AbortSignal): Promise<TokenAnswer> {
    const { login } = this.#credentials;
    if (login.kind !== "user")
      return this.#read(await this.#ask(tokenUrl, { grant_type: "client_credentials" }, signal));
    const { username, password, origin } = login;
    const hint = origin === undefined ? "" : `?login_hint=${encodeURIComponent(JSON.stringify({ origin }))}`;
    const form = { grant_type: "password", username, password: password.reveal() };
    return this.#read(await this.#ask(tokenUrl + hint, form, signal));
  }

  #ask(url: string, form: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse> {
    const { login } = this.#credentials;
    // Users log in by way of the command line tool's own client, which has an empty secret.
    const [id, secret] = login.kind === "client" ? [login.clientId, login.clientSecret.reveal()] : ["cf", ""];
    const request: HttpRequest = {
      method: "POST",
      url,
      headers: {
        ...JSON_ACCEPTED,
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new Redacted(new URLSearchParams(form).toString()),
    };
    return this.#http.send(request, signal);
  }

  #read(response: HttpResponse): TokenAnswer {
    return readTokenAnswer(response, {
      now: this.#clock.now(),
      refused: () => {
        this.#refusedUntil = this.#clock.monotonic() + REFUSED_MS;
        return refused();
      },
    });
  }
}

const refused = (): ProviderError =>
  new ProviderError("ProviderForbidden", "the UAA does not accept the Cloud Foundry credentials: replace them");

const JSON_ACCEPTED = { accept: "application/json" };

const hrefOf = (link: unknown): string | undefined => (isRecord(link) ? textOf(link.href) : undefined);
