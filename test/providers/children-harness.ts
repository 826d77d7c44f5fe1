import assert from "node:assert/strict";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { createFaultyTransport, type Fault } from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import { apiVersionOf, type KubeObject, type OwnerReference } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import type { ProviderHarness } from "../../src/providers/conformance-harness.fixture.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { credentialBindingOf } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { rotatingBindingOf } from "../../src/reconcile/cloudfoundry/rotating-credential-binding.fixture.ts";
import { createRotatingCredentialBindingFamily } from "../../src/reconcile/cloudfoundry/rotating-credential-binding-family.ts";
import { installKinds } from "../../src/reconcile/objects.fixture.ts";
import { createChildConnection, placeOf } from "../../src/reconcile/parents/child-connection.ts";
import { kubeFaults } from "./kube-faults.ts";

const CANARY = "canary-c41d";
const FOREIGN_LABELS = { environment: "production" };
const WORK_MS = 20_000;
const FINALIZER = "test/stand-in";

/** Children as a provider: the connection on an embedded API, and a stand-in for whoever looks after the children. */
export async function startChildren(): Promise<ProviderHarness> {
  const cluster = embeddedCluster();
  const { clock, kube, server } = cluster;
  let fault: ((request: TransportRequest) => Fault | undefined) | undefined;
  const transport = createFaultyTransport({ inner: cluster.transport, clock, plan: (request) => fault?.(request) });
  await installKinds(kube, serviceCredentialBinding.group);
  const parent = await kube.create<KubeObject>(
    rotatingCredentialBinding,
    rotatingBindingOf({ metadata: { name: "orders" }, forProvider: { serviceInstance: "an-instance" } }),
  );
  const family = createRotatingCredentialBindingFamily();
  const plan = await family.planOf(parent, new AbortController().signal);
  const owner: OwnerReference = {
    apiVersion: apiVersionOf(rotatingCredentialBinding),
    kind: rotatingCredentialBinding.kind,
    name: "orders",
    uid: parent.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
  const keeper = new ChildKeeper(kube, () => clock.now());
  const foreign = await keeper.makeForeign();
  const operatorKube = createKubeClient({ transport, clock, userAgent: "keyturn/test" });
  const connection = createChildConnection({
    kube: {
      ...bound(operatorKube),
      create: async (type, object, options) => {
        const made = await operatorKube.create(type, object, options);
        await keeper.work();
        return made;
      },
      delete: async (type, ref, options) => {
        const left = await operatorKube.delete(type, ref, options);
        await keeper.work();
        return keeper.isSlow ? left : undefined;
      },
    },
    plan,
    isOwnerStill: async () => true,
    owner,
    pageSize: 10,
  });
  const begin = (next: typeof fault): void => {
    fault = next;
  };
  const faults: ProviderHarness["faults"] = {
    ...kubeFaults(begin, "POST"),
    quota: { impossible: "how many children there may be is not limited" },
    asynchronous: {
      set: (isOn) => {
        keeper.isSlow = isOn;
      },
    },
    failingCreates: {
      impossible: "a child whose key cannot be made says so and tries again: it is ill, and never failed",
    },
    nameCollision: { impossible: "the names of objects are unique" },
  };
  return {
    connection,
    instanceId: placeOf(plan),
    instance: { impossible: "children are of no instance that anybody could describe" },
    asksNobody: ["observeInstance", "describeInstance"],
    renameInstance: () => {},
    missingInstanceId: "somewhere else",
    missingKeyId: "3f2b7c1e-0000-4000-8000-00000000beef",
    foreignKey: { id: foreign.metadata.uid ?? "", name: foreign.metadata.name },
    moreThanAPage: 11,
    canary: CANARY,
    faults,
    foreignLabels: async () => {
      const { metadata } = await kube.get(serviceCredentialBinding, { name: foreign.metadata.name });
      return Object.fromEntries(
        Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith("keyturn.dev/")),
      );
    },
    keysOutside: async () => (await keeper.children()).map(({ metadata }) => metadata.uid ?? ""),
    canLogIn: async (credentials) => keeper.canLogIn(credentials.reveal()),
    advance: async (byMs) => {
      await clock.advance(byMs);
      await keeper.work();
    },
    stop: async () => {
      await server.stop();
      assert.equal(clock.timerCount, 0, "a timer was left behind");
    },
  };
}

const bound = (kube: Kube): Kube => ({
  get: (type, ref, options) => kube.get(type, ref, options),
  list: (type, options) => kube.list(type, options),
  watch: (type, options) => kube.watch(type, options),
  create: (type, object, options) => kube.create(type, object, options),
  replace: (type, object, options) => kube.replace(type, object, options),
  patch: (type, ref, patch, options) => kube.patch(type, ref, patch, options),
  delete: (type, ref, options) => kube.delete(type, ref, options),
  fetch: (path, options) => kube.fetch(path, options),
  discover: (group, version, options) => kube.discover(group, version, options),
  close: () => kube.close(),
});

/** Makes a Secret for each child and says that it is ready; at once, or in its own time. */
class ChildKeeper {
  isSlow = false;
  readonly #kube: Kube;
  readonly #now: () => number;
  #underWay: Promise<void> = Promise.resolve();

  constructor(kube: Kube, now: () => number) {
    this.#kube = kube;
    this.#now = now;
  }

  async children(): Promise<readonly KubeObject[]> {
    return (await this.#kube.list(serviceCredentialBinding)).items;
  }

  async makeForeign(): Promise<KubeObject> {
    const metadata = { name: "theirs", labels: FOREIGN_LABELS };
    const forProvider = { serviceInstance: "an-instance", rotation: undefined };
    const spec = { writeConnectionSecretToRef: { namespace: "default", name: "theirs" } };
    const made = await this.#kube.create<KubeObject>(
      serviceCredentialBinding,
      credentialBindingOf({ metadata, forProvider, spec }),
    );
    await this.work();
    return made;
  }

  /** Does what is due; one thing after the other. */
  work(): Promise<void> {
    this.#underWay = this.#underWay.then(() => this.#workOnce());
    return this.#underWay;
  }

  async #workOnce(): Promise<void> {
    for (const child of await this.children()) {
      const { metadata, status } = child;
      if (metadata.deletionTimestamp !== undefined) await this.#letGo(child);
      else if (status === undefined && this.#isDue(metadata.creationTimestamp)) await this.#make(child);
    }
  }

  async canLogIn({ data }: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { password = "" } = data as { readonly password?: string };
    const uid = Buffer.from(password, "base64")
      .toString()
      .slice(CANARY.length + 1);
    return (await this.children()).some(({ metadata }) => metadata.uid === uid);
  }

  #isDue(since = ""): boolean {
    return !this.isSlow || this.#now() - Date.parse(since) >= WORK_MS;
  }

  async #make({ metadata }: KubeObject): Promise<void> {
    const { name, uid = "" } = metadata;
    const held = await this.#kube.patch(
      serviceCredentialBinding,
      { name },
      { type: "merge", body: { metadata: { finalizers: [FINALIZER] } } },
    );
    const owner = {
      apiVersion: apiVersionOf(serviceCredentialBinding),
      kind: serviceCredentialBinding.kind,
      name,
      uid,
    };
    await this.#kube.create<KubeObject>(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name, ownerReferences: [owner] },
      data: { password: Buffer.from(`${CANARY}-${uid}`).toString("base64") },
    });
    const lastTransitionTime = formatInstant(this.#now());
    const conditions = ["Ready", "Synced"].map((type) => ({
      type,
      status: "True",
      reason: "Available",
      lastTransitionTime,
    }));
    await this.#kube.replace<KubeObject>(
      serviceCredentialBinding,
      { ...held, status: { conditions } },
      { subresource: "status" },
    );
  }

  async #letGo({ metadata }: KubeObject): Promise<void> {
    if (!this.#isDue(metadata.deletionTimestamp)) return;
    await this.#kube.delete(secretType, { namespace: "default", name: metadata.name });
    const body = { metadata: { finalizers: [] } };
    await this.#kube.patch(serviceCredentialBinding, { name: metadata.name }, { type: "merge", body });
  }
}
