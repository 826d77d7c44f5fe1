import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { admissionPolicies } from "../install/admission-policies.ts";
import { bindAdvicePolicies } from "../install/bind-advice.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import { installDefinitions } from "./install.ts";

const policies = "validatingadmissionpolicies.admissionregistration.k8s.io";
const definitions = "customresourcedefinitions.apiextensions.k8s.io";

test("kinds and the policies that advise on them are installed, and a second time nothing changes", async () => {
  const clock = new ManualClock();
  const server = new EmbeddedServer({ clock, random: seededRandom(1), logger: silentLogger });
  const kube = createKubeClient({ transport: createLocalTransport(server.api), clock, userAgent: "test" });
  await installDefinitions(kube);
  const expected = [...admissionPolicies(), ...bindAdvicePolicies()].filter(
    ({ kind }) => kind === "ValidatingAdmissionPolicy",
  );
  assert.deepEqual(
    server.store.list(policies).map(({ metadata }) => metadata.name),
    expected.map(({ metadata }) => metadata.name).sort(),
  );
  assert.ok(server.store.list(definitions).length > 0);
  const { revision } = server.store;
  await installDefinitions(kube);
  assert.equal(server.store.revision, revision);
  await kube.close();
});
