import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { connectCloudFoundry } from "../../src/providers/cloud-foundry/cloud-foundry.ts";
import { parseCloudFoundryCredentials } from "../../src/providers/cloud-foundry/credentials.ts";
import { marksOf, signal } from "../../src/providers/conformance-harness.fixture.ts";
import type { Connection, CreateRequest } from "../../src/providers/contract.ts";
import { UndiciHttp } from "../../src/providers/undici-http.ts";
import { startCloudFoundry } from "../../src/sandbox/http/serve-cloud-foundry.ts";

const material = { clock: systemClock, random: systemRandom };
const tls = createServingCertificate(material);
const { sandbox, login, url, certUrl, stop } = await startCloudFoundry({ ...material, tls });
const [trusting, doubting] = [new UndiciHttp({ ca: tls.authorityPem }), new UndiciHttp()];
after(async () => {
  await Promise.all([trusting.close(), doubting.close()]);
  await stop();
});

function connect(http: UndiciHttp, apiUrl: string | undefined, skipTlsVerification = false): Connection {
  assert.ok(apiUrl);
  const { apiEndpoint: _, ...secret } = login;
  const credentials = parseCloudFoundryCredentials(new Redacted(secret), { apiUrl, skipTlsVerification });
  return connectCloudFoundry({ credentials, http, clock: systemClock });
}

test("over sockets: a key is made, found, read and removed", async () => {
  const { id: instanceId } = sandbox.controls.putInstance({ brokerLatencyMs: 500 });
  const connection = connect(trusting, url);
  const request: CreateRequest = {
    name: "it's, a name",
    instanceId,
    parameters: new Redacted({ note: "ü" }),
    marks: marksOf(),
  };
  const created = await connection.create(request, signal);
  assert.equal(created.kind, "accepted");
  const [found] = await connection.findByName(instanceId, request.name, signal);
  assert.deepEqual([found?.id, found?.marks], ["id" in created && created.id, marksOf()]);
  const id = found?.id ?? "";
  assert.equal(await connection.delete(id, signal).catch(({ code }: { code: string }) => code), "ProviderBusy");
  while ((await connection.observe(id, signal))?.state === "creating");
  assert.ok(sandbox.authenticate((await connection.readCredentials(id, signal)).reveal()));
  assert.equal(await connection.delete(id, signal), "gone");
  assert.equal(await connection.observe(id, signal), undefined);
});

test("TLS is verified: a server that nobody vouches for is not believed, unless the user says so, and then only there", async () => {
  const { id: instanceId } = sandbox.controls.putInstance();
  const observe = (connection: Connection) => connection.observeInstance(instanceId, signal);
  assert.equal(await observe(connect(trusting, certUrl)), "present");
  await assert.rejects(observe(connect(doubting, certUrl)), { code: "ProviderUnavailable" });
  assert.equal(await observe(connect(doubting, certUrl, true)), "present");
  await assert.rejects(observe(connect(doubting, certUrl)), { code: "ProviderUnavailable" }, "not for others");
});
