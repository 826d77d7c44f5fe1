import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube, ListOptions } from "../../kube/port.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { DERIVED_SELECTOR } from "../../reconcile/restart/derived-lister.ts";
import { managedResource } from "../resources/managed-resource.ts";
import { withConsumers } from "./secret-consumers.ts";
import { reportOf, type StatusReport } from "./status-report.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const NOW = Date.UTC(2026, 0, 14);

function report(namespace: string, name: string): StatusReport {
  const object = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name, uid: name },
    spec: {
      forProvider: { name, serviceInstanceId: "instance" },
      providerConfigRef: { name: "default" },
      writeConnectionSecretToRef: { namespace, name },
    },
  };
  return reportOf(managedResource(kind, object), NOW);
}

/** A cluster with as many published Secrets as there are names, and a Deployment for each that mounts it. */
function clusterWith(names: readonly string[], asked: ListOptions[]): Kube {
  const secrets = names.map(
    (name): KubeObject => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: "shop" },
    }),
  );
  const deployments = names.map(
    (name): KubeObject => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: `user-of-${name}`, namespace: "shop" },
      spec: { template: { spec: { volumes: [{ name: "key", secret: { secretName: name } }] } } },
    }),
  );
  const list = async ({ kind }: ResourceType, options: ListOptions = {}) => {
    if (kind !== "Secret") return { items: kind === "Deployment" ? deployments : [], continue: "" };
    if (options.labelSelector === DERIVED_SELECTOR) return { items: [], continue: "" };
    asked.push(options);
    const isMeant = ({ metadata }: KubeObject): boolean =>
      options.fieldSelector === undefined || options.fieldSelector === `metadata.name=${metadata.name}`;
    return { items: secrets.filter(isMeant), continue: "" };
  };
  // All that is asked of it.
  return { list, get: async () => ({ metadata: { name: "shop" } }) } as unknown as Kube;
}

const usersIn = (reports: readonly StatusReport[]): readonly (readonly string[])[] =>
  reports.map(({ consumers = [] }) => consumers.map(({ workload }) => workload.name));

test("who uses one Secret is told without a look at the others beside it", async () => {
  const asked: ListOptions[] = [];
  const kube = clusterWith(["orders", "bills"], asked);
  const { reports } = await withConsumers(kube, [report("shop", "orders")], NOW);
  assert.deepEqual(usersIn(reports), [["user-of-orders"]]);
  assert.deepEqual(
    asked.map(({ fieldSelector, metadataOnly }) => ({ fieldSelector, metadataOnly })),
    [{ fieldSelector: "metadata.name=orders", metadataOnly: true }],
  );
});

test("those of many Secrets of a namespace take one list", async () => {
  const asked: ListOptions[] = [];
  const kube = clusterWith(["orders", "bills"], asked);
  const { reports } = await withConsumers(kube, [report("shop", "orders"), report("shop", "bills")], NOW);
  assert.deepEqual(usersIn(reports), [["user-of-orders"], ["user-of-bills"]]);
  assert.deepEqual(
    asked.map(({ fieldSelector, metadataOnly }) => ({ fieldSelector, metadataOnly })),
    [{ fieldSelector: undefined, metadataOnly: true }],
  );
});
