import type { KubeObject } from "../kube/objects.ts";

/**
 * Nothing reaches the operator but whoever reads its metrics, and it reaches nothing but the API server, names, and what
 * its controllers talk to. Addresses are not known here, so that ports are what it says; whoever knows them narrows it down.
 */
interface Egress {
  /** For whom: absent for what every controller needs. */
  readonly controllers?: readonly string[];
  readonly ports: readonly { readonly port: number; readonly protocol: "TCP" | "UDP" }[];
}

const tcp = (...ports: readonly number[]): Egress["ports"] => ports.map((port) => ({ port, protocol: "TCP" }));

export const egress = {
  dns: { ports: [{ port: 53, protocol: "UDP" }, ...tcp(53)] },
  /** Where API servers usually listen, behind the address of their Service. */
  apiServer: { ports: tcp(443, 6443, 8443, 16443) },
  btp: { controllers: ["btp"], ports: tcp(443) },
  cloudfoundry: { controllers: ["cloudfoundry"], ports: tcp(443) },
  /** Where name servers take commands. */
  bind9: { controllers: ["bind9-instance", "bind9-keys"], ports: tcp(953, 9953) },
} as const satisfies Readonly<Record<string, Egress>>;

export interface NetworkPolicyOptions {
  readonly metadata: KubeObject["metadata"];
  readonly selector: Readonly<Record<string, string>>;
  readonly controllers: readonly string[];
  readonly metricsPort: number;
}

export const networkPolicy = ({ metadata, selector, controllers, metricsPort }: NetworkPolicyOptions): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata,
  spec: {
    podSelector: { matchLabels: selector },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [{ namespaceSelector: {} }], ports: tcp(metricsPort) }],
    egress: Object.values<Egress>(egress)
      .filter((one) => one.controllers?.some((name) => controllers.includes(name)) ?? true)
      .map(({ ports }) => ({ ports })),
  },
});
