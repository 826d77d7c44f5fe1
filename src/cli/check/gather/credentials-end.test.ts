import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../base/manual-clock.ts";
import { seededRandom } from "../../../base/random.ts";
import { Redacted } from "../../../base/redacted.ts";
import { createServingCertificate } from "../../../embedded/http/serving-certificate.ts";
import { credentialsEndAt } from "./credentials-end.ts";

const bearer = (token: string) => ({ authorization: new Redacted(`Bearer ${token}`), tls: {} });
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (payload: unknown): string => `${encoded({ alg: "RS256" })}.${encoded(payload)}.c2ln`;

test("when credentials end, as far as they say so", () => {
  const cases: readonly (readonly [Parameters<typeof credentialsEndAt>[0], number | undefined, string])[] = [
    [bearer(jwt({ exp: 1_700_000_000 })), 1_700_000_000_000, "a token that is a JWT"],
    [bearer(jwt({ sub: "x" })), undefined, "one that does not end"],
    [bearer(jwt({ exp: "soon" })), undefined, "one that says nonsense"],
    [bearer("a.b.c"), undefined, "what only looks like one"],
    [bearer("0123456789abcdef"), undefined, "a token that tells nothing"],
    [{ authorization: new Redacted("Basic dTpw"), tls: {} }, undefined, "a user with a password"],
    [{ tls: {} }, undefined, "none at all"],
    [{ tls: { clientCertificate: "nonsense" } }, undefined, "a certificate that cannot be read"],
  ];
  for (const [credentials, endAt, reason] of cases) assert.equal(credentialsEndAt(credentials), endAt, reason);
});

test("a client certificate ends when it says", () => {
  const clock = new ManualClock();
  const { authorityPem } = createServingCertificate({ clock, random: seededRandom(1) });
  const endAt = credentialsEndAt({ tls: { clientCertificate: authorityPem } });
  assert.ok(endAt !== undefined && endAt > clock.now());
});
