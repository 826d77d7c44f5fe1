import assert from "node:assert/strict";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { ControlledSandbox, grantedToken } from "./controlled-sandbox.ts";

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

  /** Makes a key at a broker that answers at once; its credentials. */
  async makeKey(name: string, instance: string): Promise<unknown> {
    const relationships = { service_instance: { data: { guid: instance } } };
    const made = await this.call("POST", "/v3/service_credential_bindings", { type: "key", name, relationships });
    assert.equal(made.status, 202, JSON.stringify(made.body));
    const job = (await this.call("GET", made.location)).body;
    const { service_credential_binding: link } = job.links as Readonly<Record<string, { readonly href: string }>>;
    return (await this.call("GET", `${link?.href}/details`)).body.credentials;
  }
}
