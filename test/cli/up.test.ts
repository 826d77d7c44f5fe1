import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { CloudFoundryClient } from "../support/cloud-foundry-client.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnUp, startKeyturnUp } from "../support/keyturn-up.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};
const marker = { namespace: "default", name: "marker" };
const credentialSecret = { namespace: "keyturn-system", name: "sandbox-service-manager" };
/** Stands in every secret that the sandbox gives out. */
const CANARY = "sandbox-secret";

interface Running {
  readonly up: KeyturnUp;
  readonly kube: Kube;
  readonly client: SandboxClient;
}

/** Ended also where the test fails. */
async function running(context: TestContext, dataDirectory: string, flags?: readonly string[]): Promise<Running> {
  const up = await startKeyturnUp({ dataDirectory, ...(flags && { flags }) });
  const kube = await connect(up.ready.kubeconfig);
  context.after(async () => {
    await kube.close();
    await up.stop("SIGKILL");
  });
  return { up, kube, client: new SandboxClient(up.ready.sandbox) };
}

const readyReplicas = async (kube: Kube): Promise<number> => {
  const orders = await kube.get(deployments, { namespace: "shop", name: "orders" });
  return (orders.status as { readonly readyReplicas?: number } | undefined)?.readyReplicas ?? 0;
};

/** How often the example's workload was restarted since it was made. */
const restarts = async (kube: Kube): Promise<number> => {
  const { metadata } = await kube.get(deployments, { namespace: "shop", name: "orders" });
  return Number(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 1) - 1;
};

interface BindingStatus {
  readonly atProvider?: { readonly id: string; readonly name: string };
  readonly retiredKeys?: readonly { readonly id: string; readonly name: string }[];
}

async function statusOf(kube: Kube, name: string): Promise<BindingStatus> {
  return ((await kube.get(serviceBinding, { name })).status ?? {}) as BindingStatus;
}

async function secretData(kube: Kube, ref: { readonly namespace: string; readonly name: string }) {
  const { data } = (await kube.get(secretType, ref)) as { readonly data?: Readonly<Record<string, string>> };
  const decoded = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return Object.fromEntries(decoded) as Readonly<Record<string, string>>;
}

const activeKey = (kube: Kube, name: string, otherThan?: string, patienceMs?: number): Promise<string> =>
  eventually(
    `${name} has ${otherThan === undefined ? "a key" : "another key"}`,
    async () => {
      const id = (await statusOf(kube, name)).atProvider?.id;
      return id === otherThan ? undefined : id;
    },
    patienceMs,
  );

/** Side by side: they mostly wait. */
describe("keyturn up", { concurrency: 3 }, () => {
  test("up shows where it is, brings the examples to life and rotates them; Ctrl-C leaves cleanly", async (context) => {
    const folder = scratchFolder();
    const { up, kube, client } = await running(context, folder, []);
    assert.equal(statSync(join(folder, "ready.json")).mode & 0o777, 0o600);
    await eventually("the example's pods are ready", async () =>
      (await readyReplicas(kube)) === 2 ? true : undefined,
    );
    assert.equal((await fetch(`${up.ready.metrics}/readyz`)).status, 200);

    const first = await activeKey(kube, "orders-db");
    const before = await secretData(kube, { namespace: "shop", name: "orders-db" });
    await Promise.all(["invoices-db", "reports-db", "search-index"].map((name) => activeKey(kube, name)));
    await activeKey(kube, "orders-db", first, 40_000);
    const after = await secretData(kube, { namespace: "shop", name: "orders-db" });
    assert.notEqual(before.password, after.password);
    assert.deepEqual([await client.lets(before), await client.lets(after)], [true, true], "both work in the overlap");
    await eventually("the workload has moved to the new key", async () => (await restarts(kube)) === 1 || undefined);
    await eventually("the old key is deleted", async () => ((await client.lets(before)) ? undefined : true), 40_000);
    assert.ok(await client.lets(await secretData(kube, { namespace: "shop", name: "orders-db" })));

    const foundry = new CloudFoundryClient(up.ready.cloudFoundry);
    for (const name of ["payments-queue", "ledger-db"]) {
      const works = async () => (await foundry.lets(await secretData(kube, { namespace: "shop", name }))) || undefined;
      await eventually(`the key of ${name} at Cloud Foundry works`, works);
    }

    assert.equal(await up.stop("SIGINT"), 0, up.output().stderr);
    const { stdout, stderr } = up.output();
    for (const line of [
      /Keyturn is up/,
      /export KUBECONFIG=/,
      new RegExp(`curl -X PATCH ${up.ready.sandbox.url}/sandbox/switches`),
      /\+ Deployment shop\/orders/,
      /Pod shop\/orders-\S+ {2}Running/,
      /~ Deployment shop\/orders {2}A rolling restart has begun, because this has changed: secret\/orders-db\.\n/,
      /ServiceBinding orders-db {2}key orders-db-\w+ is being made\n/,
      /ServiceBinding orders-db {2}key orders-db-\w+ is active and published in Secret shop\/orders-db\n/,
      /ServiceBinding orders-db {2}key orders-db-\w+ is retired, to be deleted at \d\d:\d\d:\d\d\n/,
      /ServiceBinding orders-db {2}key orders-db-\w+ is deleted\n/,
      /ServiceCredentialBinding payments-queue {2}key payments-queue-\w+ is active and published in Secret shop\/payments-queue\n/,
      /RotatingCredentialBinding ledger-db {2}key ledger-db-\w+ is active and published in Secret shop\/ledger-db\n/,
    ]) {
      assert.match(stdout, line);
    }
    assert.ok(!(stdout + stderr).includes(CANARY), "key material must not be shown");
    assert.equal(existsSync(join(folder, "ready.json")), false);
  });

  test("state, addresses, keys and the sandbox survive a restart; what was deleted stays deleted", async (context) => {
    const folder = scratchFolder();
    const first = await running(context, folder, []);
    const { kube, client } = first;
    await kube.create<KubeObject>(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: marker });
    await kube.delete(deployments, { namespace: "shop", name: "orders" });
    const key = await activeKey(kube, "search-index");
    const credentials = await secretData(kube, { namespace: "shop", name: "search-index" });
    await client.control("DELETE", "instances/00000000-0000-4000-8000-000000000003");
    assert.equal(await first.up.stop("SIGTERM"), 0, first.up.output().stderr);
    assert.equal(statSync(first.up.ready.kubeconfig).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, "sandbox.json")).mode & 0o777, 0o600);

    const { up } = await running(context, folder, []);
    const { api, sandbox } = up.ready;
    assert.deepEqual({ api, sandbox }, { api: first.up.ready.api, sandbox: first.up.ready.sandbox });
    // The same clients as before the restart: nothing that was handed out has become invalid.
    await kube.get(configMaps, marker);
    await assert.rejects(kube.get(deployments, { namespace: "shop", name: "orders" }), NotFound);
    assert.ok(await client.lets(credentials));
    assert.equal((await statusOf(kube, "search-index")).atProvider?.id, key);
    const { body } = await client.control("GET", "state");
    assert.equal((body.instances as readonly unknown[]).length, 3, "what somebody removed is not put back");
    assert.equal(await up.stop("SIGINT"), 0, up.output().stderr);
  });

  test("kill -9 takes nothing away that was in use", async (context) => {
    const folder = scratchFolder();
    const first = await running(context, folder, []);
    const names = ["orders-db", "reports-db", "search-index"];
    await Promise.all(names.map((name) => activeKey(first.kube, name)));
    assert.equal(await first.up.stop("SIGKILL"), "SIGKILL");
    const { kube, client } = await running(context, folder, []);
    for (const name of names) assert.ok(await client.lets(await secretData(kube, { namespace: "shop", name })), name);
  });

  test("a sandbox that had to move takes the credential Secret with it", async (context) => {
    const folder = scratchFolder();
    const first = await running(context, folder, []);
    await activeKey(first.kube, "search-index");
    await first.up.stop("SIGINT");
    const { url } = first.up.ready.sandbox;
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(Number(new URL(url).port), "127.0.0.1", resolve));
    context.after(() => taken.close());

    const { up, kube, client } = await running(context, folder, []);
    assert.notEqual(up.ready.sandbox.url, url);
    const secret = await secretData(kube, credentialSecret);
    const { apiEndpoint } = up.ready.cloudFoundry;
    const foundry = { namespace: "keyturn-system", name: "sandbox-cloud-foundry" };
    assert.equal((await secretData(kube, foundry)).apiEndpoint, apiEndpoint);
    assert.deepEqual([secret.sm_url, secret.url], [up.ready.sandbox.url, up.ready.sandbox.url]);
    assert.equal(secret.clientsecret, first.up.ready.sandbox.clientSecret);
    const key = await activeKey(kube, "search-index");
    await client.control("DELETE", `bindings/${key}`);
    await kube.delete(secretType, { namespace: "shop", name: "search-index" });
    await activeKey(kube, "search-index", key, 90_000);
    assert.ok(await client.lets(await secretData(kube, { namespace: "shop", name: "search-index" })));
  });

  test("a sandbox whose state somebody removed is a new one, and the examples go on with it", async (context) => {
    const folder = scratchFolder();
    const first = await running(context, folder, []);
    const key = await activeKey(first.kube, "search-index");
    await first.up.stop("SIGINT");
    rmSync(join(folder, "sandbox.json"));
    const { up, kube, client } = await running(context, folder, ["--drift-check", "2s"]);
    assert.notEqual(up.ready.sandbox.clientId, first.up.ready.sandbox.clientId);
    assert.equal((await secretData(kube, credentialSecret)).clientid, up.ready.sandbox.clientId);
    await activeKey(kube, "search-index", key);
    assert.ok(await client.lets(await secretData(kube, { namespace: "shop", name: "search-index" })));
  });

  test("a credential Secret that points elsewhere is left alone", async (context) => {
    const folder = scratchFolder();
    const first = await running(context, folder, []);
    const sm_url = Buffer.from("https://service-manager.example.com").toString("base64");
    await first.kube.patch(secretType, credentialSecret, { type: "merge", body: { data: { sm_url } } });
    await first.up.stop("SIGINT");
    rmSync(join(folder, "sandbox.json"));
    const { kube } = await running(context, folder, []);
    assert.equal((await secretData(kube, credentialSecret)).sm_url, "https://service-manager.example.com");
  });

  test("--no-examples starts empty; the sandbox is there", async (context) => {
    const { kube, client } = await running(context, scratchFolder());
    assert.deepEqual((await kube.list(deployments)).items, []);
    assert.deepEqual((await kube.list(serviceBinding)).items, []);
    const { body } = await client.control("GET", "state");
    assert.deepEqual([body.bindings, body.instances], [[], []]);
    assert.ok(await client.token());
  });

  test("--no-operator leaves everything to an operator of one's own", async (context) => {
    const { kube, up } = await running(context, scratchFolder(), ["--no-operator"]);
    assert.equal((await kube.list(serviceBinding)).items.length, 4);
    assert.ok((await kube.list(serviceBinding)).items.every(({ metadata }) => metadata.finalizers === undefined));
    assert.equal(up.ready.metrics, undefined);
  });

  test("--ephemeral keeps nothing", async (context) => {
    const folder = scratchFolder();
    const { up } = await running(context, folder, ["--ephemeral", "--no-examples"]);
    assert.ok(existsSync(up.ready.kubeconfig));
    assert.equal(existsSync(join(up.ready.kubeconfig, "..", "sandbox.json")), false);
    await up.stop("SIGINT");
    assert.equal(existsSync(up.ready.kubeconfig), false);
  });

  test("a second up on the same folder says so in one line, and leaves the sandbox of the first alone", async (context) => {
    const folder = scratchFolder();
    const { client } = await running(context, folder);
    const kept = readFileSync(join(folder, "sandbox.json"), "utf8");
    const { code, stderr } = await runKeyturn(["up", "--data-dir", folder]);
    assert.equal(code, 2);
    assert.match(stderr, /^keyturn: .* is in use by another process: stop that one, or choose another --data-dir\n$/);
    assert.equal(readFileSync(join(folder, "sandbox.json"), "utf8"), kept);
    assert.ok(await client.token());
  });

  test("a sandbox state that cannot be read is one line", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "sandbox.json"), "{");
    const { code, stderr } = await runKeyturn(["up", "--data-dir", folder]);
    assert.equal(code, 2);
    assert.match(stderr, /keyturn: .*sandbox\.json is damaged: remove it, and a new sandbox is made\n$/);
  });
});
