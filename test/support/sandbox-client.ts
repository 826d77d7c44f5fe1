import assert from "node:assert/strict";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";

export interface SandboxAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A person with curl at a sandbox that runs as a process of its own. */
export class SandboxClient {
  readonly #place: SandboxPlace;

  constructor(place: SandboxPlace) {
    this.#place = place;
  }

  /** A control under `/sandbox/`. */
  async control(method: string, path: string, json?: unknown): Promise<SandboxAnswer> {
    return this.#send(method, `/sandbox/${path}`, json, {});
  }

  /** A request as a client of the Service Manager, with a token of its own. */
  async call(method: string, path: string, json?: unknown): Promise<SandboxAnswer> {
    const authorization = `Bearer ${await this.token()}`;
    return this.#send(method, path, json, { authorization, "content-type": "application/json" });
  }

  async token(): Promise<string> {
    const { tokenUrl, clientId, clientSecret } = this.#place;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const answer = await fetch(tokenUrl, { method: "POST", body: new URLSearchParams(form) });
    assert.equal(answer.status, 200);
    const { access_token } = (await answer.json()) as { readonly access_token: string };
    return access_token;
  }

  /** Names of the bindings that exist. */
  async bindings(): Promise<readonly string[]> {
    const { body } = await this.control("GET", "state");
    return (body.bindings as readonly { readonly name: string }[]).map(({ name }) => name);
  }

  /** Whether somebody could log in with these credentials now. */
  async lets(credentials: unknown): Promise<boolean> {
    return (await this.control("POST", "authenticate", credentials)).body.works === true;
  }

  async #send(
    method: string,
    path: string,
    json: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<SandboxAnswer> {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const answer = await fetch(this.#place.url + path, { method, headers, ...body });
    return { status: answer.status, body: (await answer.json()) as SandboxAnswer["body"] };
  }
}
