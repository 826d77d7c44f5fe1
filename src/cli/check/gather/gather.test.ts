import assert from "node:assert/strict";
import { test } from "node:test";
import { OWNER_LABELS } from "../../../api/custom-resource.ts";
import { embeddedCluster } from "../../../embedded/embedded-cluster.fixture.ts";
import { operatorDeployment } from "../../../install/deployment.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { recordOf } from "../../../kube/record.ts";
import { namespaceType } from "../../../reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../../restart/workload-kinds.ts";
import type { AnsweredRight } from "../judge/rights.ts";
import { gather, type Question } from "./gather.ts";
import { ownAccessType } from "./kinds.ts";

const NAMESPACE = "home";

/** Releases of the chart: what is of a release is called after it. */
async function releases(...names: readonly string[]): Promise<ReturnType<typeof embeddedCluster>> {
  const cluster = embeddedCluster();
  await cluster.kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  for (const name of names) {
    const told = { controllers: ["btp"], scopedNamespaces: [], image: "keyturn:0", labels: OWNER_LABELS };
    const deployment = operatorDeployment({ name, namespace: NAMESPACE, lease: name, ...told });
    await cluster.kube.create<KubeObject>(deploymentType, JSON.parse(JSON.stringify(deployment)) as KubeObject);
  }
  return cluster;
}

/** The rights on Leases that are asked about, where those on one of this name are all that is granted. */
async function leaseRights(granted: string, account: string, ...names: readonly string[]) {
  const { kube, clock } = await releases(...names);
  const judging: Kube = {
    ...kube,
    get: (type, ref, options) => kube.get(type, ref, options),
    list: (type, options) => kube.list(type, options),
    fetch: (path, options) => kube.fetch(path, options),
    discover: (group, version) => kube.discover(group, version),
    create: async (type, draft, options) => {
      if (type.kind !== ownAccessType.kind) return kube.create(type, draft, options);
      const { resource, name } = recordOf(recordOf(draft.spec).resourceAttributes);
      const allowed = resource !== "leases" || name === undefined || name === granted;
      return { ...draft, metadata: { name: "" }, status: { allowed } } as never;
    },
  };
  const question: Question = {
    ...{ kube: judging, clock, namespace: NAMESPACE, controllers: ["btp"], scopedNamespaces: [] },
    access: { server: "https://cluster", origin: "a test" } as Question["access"],
    account: { namespace: NAMESPACE, name: account },
    skewMs: () => undefined,
    http: { send: () => Promise.reject(new Error("nobody is asked")) },
    version: "0",
    isOffline: true,
  };
  const answers = (await gather(question)).cluster?.rights.answers;
  assert.ok(answers?.isSeen);
  return answers.value.filter(({ resource, name }) => resource === "leases" && name !== undefined);
}

const told = (rights: readonly AnsweredRight[]): readonly string[] =>
  [...new Set(rights.map(({ name, isAllowed }) => `${name} ${isAllowed ? "granted" : "refused"}`))].sort();

test("rights are asked on the Lease by which the operator is elected, whatever it is called", async () => {
  assert.deepEqual(told(await leaseRights("keyturn", "keyturn", "keyturn")), ["keyturn granted"]);
  assert.deepEqual(told(await leaseRights("rotator", "rotator", "rotator")), ["rotator granted"]);
  assert.deepEqual(told(await leaseRights("keyturn", "rotator", "rotator")), ["rotator refused"]);
});

test("of several operators in a namespace, the one counts that runs as the account", async () => {
  assert.deepEqual(told(await leaseRights("second", "second", "first", "second")), ["second granted"]);
});

test("before an installation, it is the name that the manifests have", async () => {
  assert.deepEqual(told(await leaseRights("keyturn", "keyturn")), ["keyturn granted"]);
});
