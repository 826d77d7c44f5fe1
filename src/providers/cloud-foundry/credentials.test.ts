import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Redacted } from "../../base/redacted.ts";
import { ProviderError } from "../provider-error.ts";
import { type CredentialsSource, parseCloudFoundryCredentials } from "./credentials.ts";

const parse = (data: Readonly<Record<string, string>>, source: CredentialsSource = {}) =>
  parseCloudFoundryCredentials(new Redacted(data), source);
const api = { apiUrl: "https://api.example" };
const user = { username: "me", password: "canary" };

test("users, clients and tokens are read in every form that is about", () => {
  const rows: readonly (readonly [
    data: Record<string, string>,
    source: CredentialsSource,
    kind: string,
    reason: string,
  ])[] = [
    [user, api, "user", "one value per key"],
    [{ email: "me@example", password: "canary" }, api, "user", "a user's mail address"],
    [{ credentials: JSON.stringify({ email: "me", password: "canary" }) }, api, "user", "JSON under a key"],
    [
      { creds: JSON.stringify(user), other: "{}" },
      { ...api, key: "creds" },
      "user",
      "JSON under the key that is named",
    ],
    [{ ...user, origin: "sap.ids" }, api, "user", "an identity provider"],
    [{ client_id: "c", client_secret: "canary" }, api, "client", "a client"],
    [{ clientId: "c", clientSecret: "canary" }, api, "client", "a client in camel case"],
    [{ token: "canary" }, api, "token", "a token"],
    [{ ...user, api_endpoint: "https://api.example" }, {}, "user", "the address in the Secret"],
    [{ ...user, apiEndpoint: "api.example" }, {}, "user", "a bare host name"],
  ];
  for (const [data, source, kind, reason] of rows) {
    const credentials = parse(data, source);
    assert.equal(credentials.login.kind, kind, reason);
    assert.equal(credentials.apiUrl, "https://api.example", reason);
    assert.equal(credentials.skipTlsVerification, false, "TLS is verified unless somebody says otherwise");
    assert.ok(!inspect(credentials, { depth: 9 }).includes("canary"), reason);
  }
  const both = parse({ ...user, email: "me@example" }, api);
  assert.equal(both.login.kind === "user" && both.login.username, "me@example", "as the Crossplane provider has it");
  const { login } = parse({ ...user, origin: "sap.ids" }, api);
  assert.equal(login.kind === "user" && login.origin, "sap.ids");
  assert.equal(parse(user, { ...api, skipTlsVerification: true }).skipTlsVerification, true);
});

test("a mistake names the key, and shows no value", () => {
  const rows: readonly (readonly [data: Record<string, string>, source: CredentialsSource, message: RegExp])[] = [
    [{}, api, /email or username or user/],
    [{ username: "me" }, api, /password is missing/],
    [{ client_id: "c" }, api, /client_secret is missing/],
    [{ token: "canary\r\nx: y" }, api, /token is not a token/],
    [user, {}, /where the API is/],
    [user, { apiUrl: "http://api.canary" }, /apiEndpoint must begin with https/],
    [user, { apiUrl: "https://canary@api.example" }, /apiEndpoint must not hold a log-in/],
    [{ ...user, api_endpoint: "ftp://canary" }, {}, /the key api_endpoint/],
    [user, { ...api, key: "nothere" }, /nothere is missing/],
    [{ a: JSON.stringify(user), b: JSON.stringify(user) }, api, /several keys/],
  ];
  for (const [data, source, message] of rows) {
    assert.throws(
      () => parse(data, source),
      (error) => {
        assert.ok(error instanceof ProviderError);
        assert.equal(error.code, "ProviderForbidden");
        assert.match(error.message, message);
        assert.ok(!inspect(error, { depth: 9 }).includes("canary"), error.message);
        return true;
      },
    );
  }
  assert.equal(parse(user, { apiUrl: "http://127.0.0.1:8080/" }).apiUrl, "http://127.0.0.1:8080", "this machine");
});
