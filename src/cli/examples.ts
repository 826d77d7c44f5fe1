import { bind9Cluster } from "../api/bind/bind9-cluster.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { rotatingCredentialBinding } from "../api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf } from "../kube/objects.ts";
import { OWN_PREFIX, optInAnnotation, PACE_ANNOTATIONS } from "../restart/annotations.ts";
import type { InstanceSettings as CloudFoundryInstance } from "../sandbox/cloud-foundry/switches.ts";
import type { InstanceSettings } from "../sandbox/service-manager/switches.ts";

/**
 * What `keyturn up` puts into a new cluster and its sandboxes, so that there is something to look at: bindings and keys that
 * rotate every few seconds, for services that differ in what makes rotation hard. Pure data.
 */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Where the example's workloads and their Secrets are. */
const SHOP = "shop";

/** A service instance at a sandbox, where it is known by its id, and what is to be had of it. */
export interface ExampleService<Settings = InstanceSettings> {
  readonly name: string;
  readonly instanceId: string;
  readonly instance: Partial<Settings>;
  /** Absent for a binding that stays as it is. */
  readonly rotation?: Readonly<Record<string, unknown>>;
  /** Rotated by a parent that makes a child for each key. */
  readonly isParent?: true;
}

export const exampleServices: readonly ExampleService[] = [
  {
    name: "orders-db",
    instanceId: "00000000-0000-4000-8000-000000000001",
    instance: { name: "orders-db" },
    rotation: { frequency: "20s", ttl: "35s" },
  },
  {
    // The broker takes its time: it says "accepted", and the key is there some seconds later.
    name: "invoices-db",
    instanceId: "00000000-0000-4000-8000-000000000002",
    instance: { name: "invoices-db", broker: "asynchronous", brokerLatencyMs: 500, brokerWorkMs: 4000 },
    rotation: { frequency: "1m", ttl: "90s" },
  },
  {
    name: "reports-db",
    instanceId: "00000000-0000-4000-8000-000000000003",
    instance: { name: "reports-db" },
    rotation: { frequency: "90s", ttl: "150s", windows: [{ schedule: "*/2 * * * *", duration: "1m" }] },
  },
  {
    name: "search-index",
    instanceId: "00000000-0000-4000-8000-000000000004",
    instance: { name: "search-index" },
  },
];

/** The same at Cloud Foundry, where every key is made by a job. The first is rotated by itself, the second by a parent. */
export const exampleKeys: readonly ExampleService<CloudFoundryInstance>[] = [
  {
    name: "payments-queue",
    instanceId: "00000000-0000-4000-8000-000000000005",
    instance: { name: "payments-queue", brokerLatencyMs: 1500 },
    rotation: { frequency: "30s", ttl: "50s" },
  },
  {
    name: "ledger-db",
    instanceId: "00000000-0000-4000-8000-000000000006",
    instance: { name: "ledger-db" },
    rotation: { frequency: "40s", ttl: "70s" },
    isParent: true,
  },
];

export const exampleManifests: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP } },
  ...exampleServices.map(bindingOf),
  ...exampleKeys.map((service) => (service.isParent ? parentOf(service) : keyOf(service))),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "orders",
      namespace: SHOP,
      labels: { app: "orders" },
      // Its key is replaced every few seconds, on purpose: that many restarts are no fight here.
      annotations: { [PACE_ANNOTATIONS.maxPerHour]: "0" },
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "orders" } },
      template: {
        metadata: { labels: { app: "orders" }, annotations: { [optInAnnotation(OWN_PREFIX)]: "true" } },
        spec: {
          containers: [
            { name: "orders", image: "example.com/orders:1", envFrom: [{ secretRef: { name: "orders-db" } }] },
          ],
        },
      },
    },
  },
];

/** Two name servers, whose keys take turns. */
export const nameServers: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "dns" } },
  {
    apiVersion: apiVersionOf(bind9Cluster),
    kind: bind9Cluster.kind,
    metadata: { name: "dns", namespace: "dns" },
    spec: {
      global: { rndcKeys: { autoRotate: true, rotateAfter: "1m", overlap: "15s", delay: "20s" } },
      primary: { replicas: 1 },
      secondary: { replicas: 1 },
    },
  },
];

function keyOf({ name, instanceId, rotation }: ExampleService<CloudFoundryInstance>): Manifest {
  return {
    apiVersion: apiVersionOf(serviceCredentialBinding),
    kind: serviceCredentialBinding.kind,
    metadata: { name },
    spec: {
      forProvider: { type: "key", name, serviceInstance: instanceId, ...(rotation && { rotation }) },
      writeConnectionSecretToRef: { name, namespace: SHOP },
    },
  };
}

function parentOf({ name, instanceId, rotation }: ExampleService<CloudFoundryInstance>): Manifest {
  return {
    apiVersion: apiVersionOf(rotatingCredentialBinding),
    kind: rotatingCredentialBinding.kind,
    metadata: { name },
    spec: {
      ...(rotation && { rotation }),
      forProvider: { type: "key", serviceInstance: instanceId },
      writeConnectionSecretToRef: { name, namespace: SHOP },
    },
  };
}

function bindingOf({ name, instanceId, rotation }: ExampleService): Manifest {
  return {
    apiVersion: apiVersionOf(serviceBinding),
    kind: serviceBinding.kind,
    metadata: { name },
    spec: {
      ...(rotation && { rotation }),
      forProvider: { name, serviceInstanceId: instanceId },
      writeConnectionSecretToRef: { name, namespace: SHOP },
    },
  };
}
