/** What `keyturn up` puts into an empty cluster, so that there is something to look at. */
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

const namespace = "shop";

export const examples: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "orders-db", namespace },
    stringData: { username: "orders", password: "an example, not a secret" },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "orders", namespace, labels: { app: "orders" } },
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
  {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "orders-db" },
    spec: {
      rotation: { ttl: "336h", frequency: "288h" },
      forProvider: { name: "orders-db", serviceInstanceId: "00000000-0000-4000-8000-000000000001" },
      writeConnectionSecretToRef: { name: "orders-db-binding", namespace },
    },
  },
];
