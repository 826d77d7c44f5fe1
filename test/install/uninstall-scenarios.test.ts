import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { ownerReference } from "../../src/kube/ownership.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType, podType } from "../../src/restart/workload-kinds.ts";
import { leaseType } from "../../src/runtime/lease-record.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { OPERATOR, SHOP, SYSTEM, UninstallWorld } from "./uninstall-world.ts";

/** `keyturn uninstall` on the embedded server, with an operator that is played, on a clock that is moved by hand. */
describe("keyturn uninstall", { concurrency: 1 }, () => {
  let world: UninstallWorld;
  beforeEach(async () => {
    world = await UninstallWorld.open();
  });
  afterEach(() => world.close());

  const namesOf = async (type: ResourceType): Promise<readonly string[]> =>
    (await world.kube.list(type)).items.map(({ metadata }) => metadata.name).sort();
  const merge = (type: ResourceType, ref: { readonly name: string; readonly namespace?: string }, body: object) =>
    world.kube.patch(type, ref, { type: "merge", body });

  test("leaves keys, resources and Secrets, takes our finalizers off, and everybody else's not", async () => {
    await world.bind("orders");
    await world.rndc("dns");
    await world.settle();
    const { finalizers = [] } = (await world.kube.get(btp.type, { name: "orders" })).metadata;
    await merge(btp.type, { name: "orders" }, { metadata: { finalizers: [...finalizers, "example.org/theirs"] } });
    assert.equal((await world.held()).length, 4, "a binding, a key, a ProviderConfig and its Secret");
    const before = await world.kube.list(secretType);
    const told = await world.json(["--yes"]);
    assert.deepEqual([told.code, told.isDone, told.left, told.finalizers], [0, true, [], []]);
    assert.deepEqual(await world.held(), []);
    const after = await world.kube.get(btp.type, { name: "orders" });
    assert.deepEqual(after.metadata.finalizers, ["example.org/theirs"]);
    assert.equal(world.keys.size, 2);
    const contents = ({ items }: { readonly items: readonly KubeObject[] }) =>
      items.map(({ metadata, data }) => [metadata.name, metadata.uid, data]);
    assert.deepEqual(
      contents(await world.kube.list(secretType)),
      contents(before),
      "the operator's own are among them",
    );
    assert.deepEqual(await namesOf(deploymentType), []);
    assert.deepEqual(await namesOf(leaseType), []);
    assert.ok(told.went?.includes("Deployment keyturn-system/keyturn"));
    assert.ok(!told.went?.some((name) => name.startsWith("Secret ")), "no Secret went, and none is said to have gone");
  });

  test("says what it would do, and does nothing: in a dry run, and where nobody can be asked", async () => {
    await world.bind("orders");
    await world.settle();
    const dry = await world.json(["--dry-run"]);
    assert.equal(dry.code, 0);
    const fates = dry.plan.map(({ group, fate }) => `${group} ${fate}`);
    assert.deepEqual(fates, [
      "operator goes",
      "installation goes",
      "resources released",
      "credentials released",
      "published stays",
      "definitions stays",
      "own stays",
      "namespace stays",
    ]);
    await assert.rejects(world.uninstall([]), { code: "Usage", message: /^nothing was done: give --yes/ });
    assert.equal((await world.held()).length, 3);
    assert.deepEqual(await namesOf(deploymentType), ["keyturn"]);
  });

  test("deletes keys while the operator works, and the operator after them", async () => {
    await world.bind("orders");
    await world.rndc("dns");
    await world.settle();
    const told = await world.json(["--keys", "delete", "--crds", "delete", "--yes"]);
    assert.deepEqual([told.code, told.isDone, told.left], [0, true, []]);
    assert.equal(world.keys.size, 0, "nothing is left outside");
    assert.deepEqual(await namesOf(customResourceDefinitions), []);
    assert.deepEqual(await namesOf(secretType), ["login"], "what is the user's own");
    assert.deepEqual(await namesOf(deploymentType), []);
  });

  test("names what does not go, and why, and leaves the operator running; the next call goes on", async () => {
    await world.bind("orders");
    await world.bind("paused");
    await world.settle();
    world.stuck.add("orders");
    const conditions = [
      {
        type: "Synced",
        status: "False",
        reason: "ProviderUnavailable",
        message: "the Service Manager cannot serve now",
      },
    ].map((condition) => ({ ...condition, lastTransitionTime: "2025-11-05T13:14:28Z" }));
    await world.kube.patch(
      btp.type,
      { name: "orders" },
      { type: "merge", body: { status: { conditions } } },
      { subresource: "status" },
    );
    await merge(btp.type, { name: "paused" }, { metadata: { annotations: { "crossplane.io/paused": "true" } } });
    const told = await world.json(["--keys", "delete", "--timeout", "5s", "--yes"]);
    assert.equal(told.code, 1);
    assert.match(
      told.problem ?? "",
      /^not within 5s: ServiceBinding orders \(ProviderUnavailable: the Service Manager cannot serve now\); ServiceBinding paused \(it is paused: take crossplane\.io\/paused off\); the operator was left running$/,
    );
    assert.match(told.hints.join("\n"), /paused, and so will not go until somebody lets them: ServiceBinding paused/);
    const { spec } = await world.kube.get(deploymentType, OPERATOR);
    assert.equal((spec as { readonly replicas: number }).replicas, 2);
    assert.equal(world.keys.size, 2);
    world.stuck.clear();
    await merge(btp.type, { name: "paused" }, { metadata: { annotations: { "crossplane.io/paused": null } } });
    assert.deepEqual([(await world.json(["--keys", "delete", "--yes"])).code, world.keys.size], [0, 0]);
  });

  describe("refuses, and touches nothing", () => {
    const refused = async (words: readonly string[], problem: RegExp, remedy: RegExp): Promise<void> => {
      const held = await world.held();
      const told = await world.json([...words, "--yes"]);
      assert.equal(told.code, 1);
      assert.equal(told.refusals.length, 1, JSON.stringify(told.refusals));
      assert.match(told.refusals[0]?.problem ?? "", problem);
      assert.match(told.refusals[0]?.remedy ?? "", remedy);
      assert.deepEqual(await world.held(), held);
    };

    test("an operator that runs outside of the cluster", async () => {
      await world.bind("orders");
      await world.settle();
      world.isLedOutside = true;
      await world.kube.delete(deploymentType, OPERATOR);
      await world.settle();
      await refused([], /no Deployment of keyturn-system: laptop_1 holds the Lease keyturn-system\/keyturn/, /stop it/);
    });

    test("an operator of another namespace", async () => {
      const { spec } = await world.kube.get(deploymentType, OPERATOR);
      const labels = { "app.kubernetes.io/part-of": "keyturn" };
      const metadata = { namespace: SHOP, name: "theirs", labels };
      await world.put(deploymentType, { apiVersion: "apps/v1", kind: "Deployment", metadata, spec });
      await refused([], /another operator runs: Deployment shop\/theirs/, /--namespace shop/);
    });

    test("to delete keys without an operator", async () => {
      await world.bind("orders");
      await world.settle();
      await merge(deploymentType, OPERATOR, { spec: { replicas: 0 } });
      await world.settle();
      await refused(
        ["--keys", "delete"],
        /no operator leads, and nobody else deletes the keys of ServiceBinding/,
        /start/,
      );
    });

    test("to leave keys of resources that are being deleted, unless somebody says so", async () => {
      await world.bind("orders");
      await world.settle();
      world.stuck.add("orders");
      await world.kube.delete(btp.type, { name: "orders" });
      await refused([], /on their way out, and not gone yet: ServiceBinding orders/, /--abandon/);
      const told = await world.json(["--abandon", "--yes"]);
      assert.deepEqual([told.code, world.keys.size], [0, 1]);
      assert.ok(told.went?.includes("ServiceBinding orders"));
    });

    test("to delete definitions, and with them Secrets whose keys stay", async () => {
      await world.bind("orders");
      await world.settle();
      await refused(["--crds", "delete"], /with the definitions would go ServiceBinding orders/, /--crds keep/);
    });
  });

  test("does not go on where somebody starts the operator again and again: that one puts everything back", async () => {
    await world.bind("orders");
    await world.settle();
    world.isStubborn = true;
    const told = await world.json(["--timeout", "5s", "--yes"]);
    assert.equal(told.code, 1);
    assert.match(told.problem ?? "", /^not within 5s: pods of the operator|^somebody has started the operator again/);
    await world.settle();
    assert.equal((await world.held()).length, 3);
    assert.deepEqual(await namesOf(deploymentType), ["keyturn"]);
  });

  test("finds out that somebody leads whom it cannot stop", async () => {
    await world.bind("orders");
    await world.settle();
    world.isLedOutside = true;
    const told = await world.json(["--yes"]);
    assert.equal(told.code, 1);
    assert.match(told.problem ?? "", /^laptop_1 goes on leading \(Lease keyturn-system\/keyturn\)/);
    assert.equal((await world.held()).length, 3);
    world.isLedOutside = false;
    await world.settle();
    assert.equal((await world.json(["--yes"])).code, 0);
    assert.deepEqual(await world.held(), []);
  });

  test("ends where somebody has had enough, and the next call goes on", async () => {
    await world.bind("orders");
    await world.settle();
    world.stuck.add("orders");
    const isEnough = (stdout: string): boolean => stdout.includes("ServiceBinding: 1 resource to go");
    const { code, stderr } = await world.uninstall(["--keys", "delete", "--yes"], { isEnough });
    assert.deepEqual([code, stderr], [130, "keyturn: interrupted; call it again, and it goes on from here\n"]);
    world.stuck.clear();
    assert.deepEqual([(await world.json(["--keys", "delete", "--yes"])).code, world.keys.size], [0, 0]);
  });

  test("ends once the operator is stopped, and the manifests start it again as they are applied at first", async () => {
    await world.bind("orders");
    await world.settle();
    const isEnough = (stdout: string): boolean => stdout.includes("is being stopped");
    assert.equal((await world.uninstall(["--yes"], { isEnough })).code, 130);
    const replicas = async (): Promise<unknown> =>
      ((await world.kube.get(deploymentType, OPERATOR)).spec as { readonly replicas: number }).replicas;
    assert.equal(await replicas(), 0);
    for (const body of world.manifests) await world.apply(body, { force: false });
    assert.equal(await replicas(), 2);
  });

  test("does not wait for a pod that was evicted", async () => {
    const labels = { "app.kubernetes.io/part-of": "keyturn", "app.kubernetes.io/name": "keyturn" };
    const metadata = { namespace: SYSTEM, name: "evicted", labels };
    const spec = { containers: [{ name: "operator", image: "keyturn:0" }], nodeName: "gone" };
    await world.put(podType, { apiVersion: "v1", kind: "Pod", metadata, spec });
    const body = { status: { phase: "Failed", reason: "Evicted" } };
    const ref = { namespace: SYSTEM, name: "evicted" };
    await world.kube.patch(podType, ref, { type: "merge", body }, { subresource: "status" });
    const told = await world.json(["--timeout", "30s", "--yes"]);
    assert.equal(told.code, 0, told.problem);
    assert.deepEqual(await namesOf(podType), ["evicted"]);
  });

  test("waits for the Lease of an operator that was killed", async () => {
    await world.bind("orders");
    await world.settle();
    await world.kube.delete(deploymentType, OPERATOR);
    await world.settle();
    const spec = { holderIdentity: "keyturn-0_1", leaseDurationSeconds: 3 };
    await merge(leaseType, OPERATOR, { spec });
    const { code, stdout } = await world.uninstall(["--yes"]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Lease keyturn-system\/keyturn: waiting until keyturn-0_1 has let go/);
    assert.deepEqual(await world.held(), []);
  });

  test("leaves to Helm what Helm has installed, and says how; finalizers go all the same", async () => {
    await world.bind("orders");
    await world.settle();
    const metadata = {
      labels: { "app.kubernetes.io/managed-by": "Helm" },
      annotations: { "meta.helm.sh/release-name": "keyturn", "meta.helm.sh/release-namespace": SYSTEM },
    };
    await merge(deploymentType, OPERATOR, { metadata });
    const { code, stdout } = await world.uninstall(["--yes"]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /helm uninstall keyturn --namespace keyturn-system/);
    const { spec } = await world.kube.get(deploymentType, OPERATOR);
    assert.deepEqual([(spec as { readonly replicas: number }).replicas, await world.held()], [0, []]);
  });

  test("never deletes objects of a definition that is somebody else's, and takes our finalizer off them", async () => {
    await world.bind("orders");
    await world.settle();
    const name = `${btp.type.plural}.${btp.type.group}`;
    const labels = { "app.kubernetes.io/part-of": "theirs" };
    await merge(customResourceDefinitions, { name }, { metadata: { labels } });
    const refused = await world.json(["--keys", "delete", "--yes"]);
    assert.match(refused.refusals[0]?.problem ?? "", /^ServiceBinding orders: .* belongs to theirs/);
    const told = await world.json(["--yes"]);
    assert.deepEqual([world.keys.size, await world.held(), told.code], [1, [], 0], told.problem);
    assert.deepEqual(await namesOf(btp.type), ["orders"]);
    // Without a key of ours it is no concern of ours.
    assert.equal((await world.json(["--keys", "delete", "--crds", "delete", "--yes"])).code, 0);
    assert.deepEqual([await namesOf(customResourceDefinitions), await namesOf(btp.type)], [[name], ["orders"]]);
  });

  test("takes no name server for the operator, though its cluster is called keyturn", async () => {
    const owner = await world.rndc("dns", SYSTEM);
    const labels = { "app.kubernetes.io/part-of": "keyturn", "app.kubernetes.io/name": "bind9" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "named", image: "bind9" }] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    const metadata = { namespace: SYSTEM, name: "ns", labels, ownerReferences: [ownerReference(owner)] };
    const made = await world.put(deploymentType, { apiVersion: "apps/v1", kind: "Deployment", metadata, spec });
    await world.settle();
    const told = await world.json(["--yes"]);
    assert.equal(told.code, 0, told.problem);
    assert.deepEqual((await world.kube.get(deploymentType, { namespace: SYSTEM, name: "ns" })).spec, made.spec);
  });

  test("a namespace with resources in it can be deleted afterwards, and what is installed again takes up the rest", async () => {
    await world.bind("orders");
    await world.put(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: "spare" } });
    await world.rndc("dns", "spare");
    await world.settle();
    assert.equal((await world.json(["--yes"])).code, 0);
    await world.kube.delete(namespaceType, { name: "spare" });
    await world.settle();
    assert.deepEqual([await namesOf(rndcKey), (await namesOf(namespaceType)).includes("spare")], [[], false]);
    const { uid } = (await world.kube.get(secretType, { namespace: SHOP, name: "orders" })).metadata;
    await world.install();
    await world.settle();
    assert.equal((await world.held()).length, 3);
    assert.equal((await world.kube.get(secretType, { namespace: SHOP, name: "orders" })).metadata.uid, uid);
  });

  test("is content where nothing of Keyturn is, and where it was called before", async () => {
    assert.equal((await world.json(["--keys", "delete", "--crds", "delete", "--yes"])).code, 0);
    const again = await world.json(["--keys", "delete", "--crds", "delete", "--yes"]);
    assert.deepEqual([again.code, again.went, again.plan.map(({ group }) => group)], [0, [], ["namespace"]]);
  });
});
