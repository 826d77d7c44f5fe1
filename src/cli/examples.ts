import { serviceBinding } from "../api/btp/service-binding.ts";
import { apiVersionOf } from "../kube/objects.ts";
import type { InstanceSettings } from "../sandbox/service-manager/switches.ts";

/**
 * What `keyturn up` puts into a new cluster and its sandbox, so that there is something to look at: bindings that rotate
 * every few seconds, for services that differ in what makes rotation hard. Pure data.
 */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Where the example's workloads and their Secrets are. */
const SHOP = "shop";

export interface ExampleService {
  readonly name: string;
  /** At the sandbox, where a service instance is known by its id. */
  readonly instanceId: string;
  readonly instance: Partial<InstanceSettings>;
  /** Absent for a binding that stays as it is. */
  readonly rotation?: Readonly<Record<string, unknown>>;
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

export const exampleManifests: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP } },
  ...exampleServices.map(bindingOf),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "orders", namespace: SHOP, labels: { app: "orders" } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "orders" } },
      template: {
        metadata: { labels: { app: "orders" } },
        spec: {
          containers: [
            { name: "orders", image: "example.com/orders:1", envFrom: [{ secretRef: { name: "orders-db" } }] },
          ],
        },
      },
    },
  },
];

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
