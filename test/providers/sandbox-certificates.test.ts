import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { signal } from "../../src/providers/conformance-harness.fixture.ts";
import type { Connection } from "../../src/providers/contract.ts";
import { parseServiceManagerCredentials } from "../../src/providers/service-manager/credentials.ts";
import { connectServiceManager } from "../../src/providers/service-manager/service-manager.ts";
import { UndiciHttp } from "../../src/providers/undici-http.ts";
import { startSandbox } from "../../src/sandbox/http/serve-sandbox.ts";

const material = { clock: systemClock, random: systemRandom };
const tls = createServingCertificate(material);
const { sandbox, url, certUrl, stop } = await startSandbox({ ...material, tls });
const http = new UndiciHttp({ ca: tls.authorityPem });
after(async () => {
  await http.close();
  await stop();
});

/** A connection with a credential Secret as issued for a certificate; `key` is the private key that goes with it. */
function connectWith(issuedFor: typeof tls, presented: typeof tls): Connection {
  assert.ok(certUrl);
  const issued = sandbox.controls.issueClient(url, { certificate: issuedFor.chainPem, certUrl });
  const secret = { ...issued, certificate: presented.chainPem, key: presented.privateKeyPem };
  const credentials = parseServiceManagerCredentials(new Redacted(secret));
  return connectServiceManager({ credentials, http, clock: systemClock });
}

test("x509: no secret, mutual TLS to certurl; the certificate that was issued gets a token", async () => {
  const own = createServingCertificate(material);
  assert.equal(await connectWith(own, own).observe("none", signal), undefined);
});

test("x509: another certificate, whoever signed it, gets none", async () => {
  const [own, other] = [createServingCertificate(material), createServingCertificate(material)];
  await assert.rejects(connectWith(own, other).observe("none", signal), { code: "ProviderForbidden" });
});
