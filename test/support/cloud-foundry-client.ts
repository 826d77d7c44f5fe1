import assert from "node:assert/strict";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { ControlledSandbox, grantedToken, type SandboxAnswer } from "./controlled-sandbox.ts";
import { eventually } from "./eventually.ts";

/** A person with curl at a sandbox Cloud Foundry. */
export class CloudFoundryClient extends ControlledSandbox {
  readonly #login: IssuedLogin;

  constructor(login: IssuedLogin) {
    super(login.apiEndpoint);
    this.#login = login;
  }

  async token(): Promise<string> {
    const { body } = await this.send("GET", "/", {});
    const { uaa } = body.links as { readonly uaa: { readonly href: string } };
    assert.ok("username" in this.#login);
    const { username, password } = this.#login;
    return grantedToken(`${uaa.href}/oauth/token`, {
      headers: { authorization: `Basic ${Buffer.from("cf:").toString("base64")}` },
      body: new URLSearchParams({ grant_type: "password", username, password }),
    });
  }

  /** Makes a key, however long its broker takes. */
  async createKey(name: string, instance: string): Promise<MadeKey> {
    const relationships = { service_instance: { data: { guid: instance } } };
    const made = await this.call("POST", "/v3/service_credential_bindings", { type: "key", name, relationships });
    const { service_credential_binding: link } = await this.#jobDone(made);
    const guid = link?.href.split("/").at(-1) ?? "";
    const { credentials } = (await this.call("GET", `${link?.href}/details`)).body;
    return { guid, credentials: credentials as Readonly<Record<string, unknown>> };
  }

  /** One that is gone already is as good as deleted. */
  async deleteKey(guid: string): Promise<void> {
    const asked = await this.call("DELETE", `/v3/service_credential_bindings/${guid}`);
    if (asked.status !== 404) await this.#jobDone(asked);
  }

  /** The links of the job that a request was answered with, once it has come to its end. */
  async #jobDone({ status, location, body }: SandboxAnswer): Promise<Links> {
    assert.equal(status, 202, JSON.stringify(body));
    return eventually(`the job ${location} to be over`, async () => {
      const { state, errors, links } = (await this.call("GET", location)).body;
      assert.notEqual(state, "FAILED", JSON.stringify(errors));
      return state === "COMPLETE" ? (links as Links) : undefined;
    });
  }
}

export interface MadeKey {
  readonly guid: string;
  readonly credentials: Readonly<Record<string, unknown>>;
}

type Links = Readonly<Record<string, { readonly href: string }>>;

/** The same as a program that runs for long: it logs in when it has to, and no more often. */
export class LoggedInClient extends CloudFoundryClient {
  #token: Promise<string> | undefined;

  override token(): Promise<string> {
    this.#token ??= super.token();
    return this.#token;
  }

  override async call(method: string, path: string, json?: unknown): Promise<SandboxAnswer> {
    const answer = await super.call(method, path, json);
    if (answer.status !== 401) return answer;
    this.#token = undefined;
    return super.call(method, path, json);
  }
}
