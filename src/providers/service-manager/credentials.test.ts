import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import { ProviderError } from "../provider-error.ts";
import { certificateEndsAt, parseServiceManagerCredentials } from "./credentials.ts";

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIcanary\n-----END CERTIFICATE-----";
const KEY = "-----BEGIN PRIVATE KEY-----\ncanary-key\n-----END PRIVATE KEY-----";

const issued = {
  clientid: "sb-client",
  clientsecret: "canary-secret",
  url: "https://auth.example.com",
  sm_url: "https://sm.example.com",
  xsappname: "app",
};
const issuedX509 = {
  clientid: "sb-client",
  certificate: CERTIFICATE,
  key: KEY,
  url: "https://auth.example.com",
  certurl: "https://cert.example.com",
  sm_url: "https://sm.example.com/",
};
const normalised = {
  clientid: "sb-client",
  clientsecret: "canary-secret",
  sm_url: "https://sm.example.com",
  tokenurl: "https://auth.example.com",
  tokenurlsuffix: "/custom/token",
};
const normalisedX509 = {
  clientid: "sb-client",
  "tls.crt": CERTIFICATE,
  "tls.key": KEY,
  sm_url: "https://sm.example.com",
  tokenurl: "https://cert.example.com",
};

const parse = (data: Readonly<Record<string, string>>, key?: string) =>
  parseServiceManagerCredentials(new Redacted(data), key);

const forms = [
  ["as issued", issued, undefined, "https://auth.example.com/oauth/token", "secret"],
  [
    "as issued, x509: the certificate's own token address",
    issuedX509,
    undefined,
    "https://cert.example.com/oauth/token",
    "certificate",
  ],
  ["normalised", normalised, undefined, "https://auth.example.com/custom/token", "secret"],
  ["normalised, x509", normalisedX509, undefined, "https://cert.example.com/oauth/token", "certificate"],
  [
    "JSON under a named key",
    { other: "{}", creds: JSON.stringify(issued) },
    "creds",
    "https://auth.example.com/oauth/token",
    "secret",
  ],
  [
    "JSON under the only key that holds any",
    { type: "x", creds: JSON.stringify(issuedX509) },
    undefined,
    "https://cert.example.com/oauth/token",
    "certificate",
  ],
  [
    "a service key with its wrapper",
    { k: JSON.stringify({ credentials: issued }) },
    "k",
    "https://auth.example.com/oauth/token",
    "secret",
  ],
  [
    "a token address that is whole already",
    { ...issued, url: "https://auth.example.com/oauth/token" },
    undefined,
    "https://auth.example.com/oauth/token",
    "secret",
  ],
  [
    "a suffix without its slash",
    { ...normalised, tokenurlsuffix: "custom/token" },
    undefined,
    "https://auth.example.com/custom/token",
    "secret",
  ],
  [
    "line breaks and spaces at the ends",
    { ...issued, clientsecret: "canary-secret\n", url: " https://auth.example.com/ " },
    undefined,
    "https://auth.example.com/oauth/token",
    "secret",
  ],
] as const;

for (const [reason, data, key, tokenUrl, kind] of forms) {
  test(`credentials are read: ${reason}`, () => {
    const credentials = parse(data, key);
    assert.equal(credentials.tokenUrl, tokenUrl);
    assert.equal(credentials.apiUrl, "https://sm.example.com");
    assert.equal(credentials.clientId, "sb-client");
    assert.equal(credentials.login.kind, kind);
    if (credentials.login.kind === "secret") assert.equal(credentials.login.clientSecret.reveal(), "canary-secret");
    else assert.equal(credentials.login.privateKey.reveal(), KEY);
  });
}

test("a PEM whose line breaks are escaped is mended", () => {
  const { login } = parse({ ...issuedX509, key: KEY.replaceAll("\n", "\\n") });
  assert.equal(login.kind === "certificate" && login.privateKey.reveal(), KEY);
});

test("a development server on this machine may go without encryption", () => {
  const credentials = parse({ ...issued, url: "http://127.0.0.1:8080/x", sm_url: "http://localhost:8080" });
  assert.equal(credentials.tokenUrl, "http://127.0.0.1:8080/x/oauth/token");
});

const without = (data: Readonly<Record<string, string>>, ...keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !keys.includes(key)));

const mistakes: readonly (readonly [
  reason: string,
  data: Record<string, string>,
  key: string | undefined,
  word: string,
])[] = [
  ["nothing at all", {}, undefined, "clientid"],
  ["no client", without(issued, "clientid"), undefined, "clientid"],
  ["an empty client", { ...issued, clientid: " " }, undefined, "clientid"],
  ["no secret and no certificate", without(issued, "clientsecret"), undefined, "clientsecret"],
  ["a certificate without its key", without(issuedX509, "key"), undefined, "key key"],
  ["a key without its certificate", without(issuedX509, "certificate"), undefined, "key certificate"],
  ["a tls.crt without its key", without(normalisedX509, "tls.key"), undefined, "tls.key"],
  ["no address of the service", without(issued, "sm_url"), undefined, "sm_url"],
  ["no token address", without(issued, "url"), undefined, "url or tokenurl"],
  ["no token address for the certificate", without(issuedX509, "certurl"), undefined, "certurl or tokenurl"],
  ["no encryption", { ...issued, sm_url: "http://sm.example.com/canary" }, undefined, "https://"],
  ["another scheme", { ...issued, sm_url: "file:///canary" }, undefined, "sm_url"],
  ["an address that is none", { ...issued, url: "canary" }, undefined, "key url"],
  ["an address with a log-in", { ...issued, url: "https://canary:canary@auth.example.com" }, undefined, "log-in"],
  ["an address with a query", { ...issued, url: "https://auth.example.com/?canary" }, undefined, "query"],
  ["a certificate that is not PEM", { ...issuedX509, certificate: "canary" }, undefined, "certificate"],
  ["the named key is not there", issued, "creds", "creds"],
  ["the named key holds no JSON", { creds: "canary-secret" }, "creds", "creds"],
  ["the named key holds a list", { creds: "[1]" }, "creds", "creds"],
  ["the named key holds half of it", { creds: JSON.stringify(issued).slice(0, -5) }, "creds", "creds"],
  ["two keys hold credentials", { a: JSON.stringify(issued), b: JSON.stringify(issued) }, undefined, "a, b"],
  ["a client that is a number", { creds: JSON.stringify({ ...issued, clientid: 5 }) }, "creds", "clientid"],
  ["a key of a prototype's", { creds: JSON.stringify(issued) }, "constructor", "constructor"],
];

for (const [reason, data, key, word] of mistakes) {
  test(`a mistake in the credentials is named and no value shown: ${reason}`, () => {
    assert.throws(
      () => parse(data, key),
      (error) => {
        assert.ok(error instanceof ProviderError);
        assert.equal(error.code, "ProviderForbidden");
        assert.ok(error.message.includes(word), error.message);
        assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error));
        return true;
      },
    );
  });
}

test("no value of a Secret is in an error or in the printed form of the credentials, whatever it holds", () => {
  const names = fc.constantFrom(...Object.keys({ ...issued, ...normalised, ...issuedX509, ...normalisedX509 }), "json");
  const values = fc.constantFrom(
    "canary",
    "https://canary.example.com",
    CERTIFICATE,
    "{canary",
    '{"clientid":"canary"}',
  );
  fc.assert(
    fc.property(fc.dictionary(names, values), fc.option(names, { nil: undefined }), (data, key) => {
      try {
        const { login } = parse(data, key);
        assert.ok(!inspect(login, { depth: 9 }).includes("canary-key"));
      } catch (error) {
        assert.ok(error instanceof ProviderError, inspect(error));
        assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error));
      }
    }),
  );
});

test("a certificate that cannot be read has no known end", () => {
  assert.equal(certificateEndsAt(CERTIFICATE), undefined);
});
