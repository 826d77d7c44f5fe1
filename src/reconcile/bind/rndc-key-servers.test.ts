import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { bind9Instance } from "../../api/bind/bind9-instance.ts";
import { podLabels } from "../../bind/instance-objects.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { createFaultyTransport } from "../../kube/faulty-transport.ts";
import { createKubeClient } from "../../kube/kube-client.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import { kindOf, podType } from "../../restart/workload-kinds.ts";
import { installForeignKind } from "../objects.fixture.ts";
import { KubeServers } from "./rndc-key-servers.ts";

const { signal } = new AbortController();
const namespace = "default";

interface PodState {
  readonly labels?: Readonly<Record<string, string>>;
  readonly podIP?: string;
  readonly phase?: string;
}

async function addPod({ kube }: EmbeddedCluster, name: string, state: PodState): Promise<void> {
  const { labels = podLabels("web"), ...status } = state;
  const spec = { containers: [{ name: "named", image: "bind9" }] };
  const draft = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels }, spec };
  const pod = await kube.create<KubeObject>(podType, draft);
  await kube.replace<KubeObject>(podType, { ...pod, status }, { subresource: "status" });
}

function begun(context: TestContext): EmbeddedCluster {
  const cluster = embeddedCluster();
  context.after(() => cluster.server.stop());
  return cluster;
}

const namesOf = async (cluster: EmbeddedCluster, instances: readonly string[]): Promise<readonly string[]> => {
  const servers = await new KubeServers({ kube: cluster.kube, namespace, instances }).list(signal);
  return servers.map(({ name }) => name).sort();
};

test("every pod of the instances that has not ended counts, with or without an address", async (context) => {
  const cluster = begun(context);
  await addPod(cluster, "running", { podIP: "10.0.0.1", phase: "Running" });
  await addPod(cluster, "starting", { phase: "Pending" });
  await addPod(cluster, "done", { podIP: "10.0.0.3", phase: "Succeeded" });
  await addPod(cluster, "failed", { podIP: "10.0.0.4", phase: "Failed" });
  await addPod(cluster, "of-another", { labels: podLabels("other"), podIP: "10.0.0.5", phase: "Running" });
  await addPod(cluster, "a-shop", {
    labels: { "app.kubernetes.io/instance": "web" },
    podIP: "10.0.0.6",
    phase: "Running",
  });
  const servers = await new KubeServers({ kube: cluster.kube, namespace, instances: ["web"] }).list(signal);
  assert.deepEqual(servers, [
    { name: "running", host: "10.0.0.1", port: 9953 },
    { name: "starting", host: undefined, port: 9953 },
  ]);
  assert.deepEqual(await namesOf(cluster, ["web", "other"]), ["of-another", "running", "starting"]);
  const many = Array.from({ length: 30 }, (_, index) => `more-${index}`);
  assert.deepEqual(await namesOf(cluster, ["other", ...many]), ["of-another"]);
  assert.deepEqual(await namesOf(cluster, ["nobody"]), []);
});

for (const kind of ["Deployment", "StatefulSet"]) {
  test(`an instance that uses an existing ${kind} has the pods of that`, async (context) => {
    const cluster = begun(context);
    await installForeignKind(cluster.kube, bind9Instance);
    const deploymentRef = { name: "theirs", ...(kind !== "Deployment" && { kind }) };
    await cluster.kube.create<KubeObject>(bind9Instance, {
      apiVersion: apiVersionOf(bind9Instance),
      kind: "Bind9Instance",
      metadata: { name: "web", namespace },
      spec: { deploymentRef },
    });
    assert.deepEqual(await namesOf(cluster, ["web"]), [], "one that is not there has none");
    const labels = { app: "theirs" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "named", image: "bind9" }] } };
    const spec = { replicas: 0, serviceName: "theirs", selector: { matchLabels: labels }, template };
    await cluster.kube.create<KubeObject>(kindOf(kind)?.type ?? assert.fail(kind), {
      apiVersion: "apps/v1",
      kind,
      metadata: { name: "theirs", namespace },
      spec,
    });
    await addPod(cluster, "theirs-1", { labels, podIP: "10.0.0.7", phase: "Running" });
    assert.deepEqual(await namesOf(cluster, ["web"]), ["theirs-1"]);
  });
}

test("a list that cannot be had is an error, never none", async (context) => {
  const { clock, transport: inner } = begun(context);
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message: "no", code: 403 };
  for (const part of ["/pods", "/bind9instances"]) {
    const transport = createFaultyTransport({
      inner,
      clock,
      plan: ({ path }) =>
        path.includes(part)
          ? {
              kind: "answer",
              status: 403,
              headers: { "content-type": "application/json" },
              body: JSON.stringify(status),
            }
          : undefined,
    });
    const kube = createKubeClient({ transport, clock, userAgent: "keyturn/test" });
    const servers = new KubeServers({ kube, namespace, instances: ["web"] });
    await assert.rejects(servers.list(signal), { code: "ProviderForbidden" }, part);
  }
});
