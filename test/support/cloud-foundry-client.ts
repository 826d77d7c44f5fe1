import assert from "node:assert/strict";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";

interface CloudFoundryAnswer {
  readonly status: number;
  readonly location: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A person with curl at a sandbox Cloud Foundry that runs as a process of its own. */
export class CloudFoundryClient {
  readonly #login: IssuedLogin;

  constructor(login: IssuedLogin) {
    this.#login = login;
  }

  /** A control under `/sandbox/`. */
  control(method: string, path: string, json?: unknown): Promise<CloudFoundryAnswer> {
    return this.#send(method, `/sandbox/${path}`, { json });
  }

  /** A request as a client of the API, with a token of its own; a path, or a link that was given. */
  async call(method: string, path: string, json?: unknown): Promise<CloudFoundryAnswer> {
    return this.#send(method, path, { json, authorization: `Bearer ${await this.token()}` });
  }

  async token(): Promise<string> {
    const { body } = await this.#send("GET", "/", {});
    const { uaa } = body.links as { readonly uaa: { readonly href: string } };
    assert.ok("username" in this.#login);
    const { username, password } = this.#login;
    const answer = await fetch(`${uaa.href}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from("cf:").toString("base64")}` },
      body: new URLSearchParams({ grant_type: "password", username, password }),
    });
    assert.equal(answer.status, 200);
    const { access_token } = (await answer.json()) as { readonly access_token: string };
    return access_token;
  }

  /** Makes a key at a broker that answers at once; its credentials. */
  async makeKey(name: string, instance: string): Promise<unknown> {
    const relationships = { service_instance: { data: { guid: instance } } };
    const made = await this.call("POST", "/v3/service_credential_bindings", { type: "key", name, relationships });
    assert.equal(made.status, 202, JSON.stringify(made.body));
    const job = (await this.call("GET", made.location)).body;
    const { service_credential_binding: link } = job.links as Readonly<Record<string, { readonly href: string }>>;
    return (await this.call("GET", `${link?.href}/details`)).body.credentials;
  }

  /** Names of the keys that exist. */
  async keys(): Promise<readonly string[]> {
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
    { json, authorization }: { readonly json?: unknown; readonly authorization?: string },
  ): Promise<CloudFoundryAnswer> {
    const answer = await fetch(path.startsWith("http") ? path : this.#login.apiEndpoint + path, {
      method,
      headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    return { status: answer.status, location: answer.headers.get("location") ?? "", body: JSON.parse(text || "{}") };
  }
}
