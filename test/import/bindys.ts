import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { configMaps, deployments, services } from "../conformance/kinds.ts";
import { eventually } from "../support/eventually.ts";
import { controllerOf, putSecret } from "./theirs.ts";

export interface BindyWishes {
  readonly namespace: string;
  readonly cluster: string;
  /** The key, in base64. */
  readonly secretText: string;
}

export interface BindyServer {
  /** Of the instance, and of its Deployment and Service. */
  readonly name: string;
  readonly secret: KubeObject;
  readonly deployment: KubeObject;
}

/** A name server as Bindy leaves it: a cluster with one primary, and what is made for that. */
export async function putBindyServer(kube: Kube, wishes: BindyWishes): Promise<BindyServer> {
  const { namespace, cluster: clusterName, secretText } = wishes;
  const name = `${clusterName}-primary-0`;
  const secretName = `${name}-rndc-key`;
  const put = (type: ResourceType, own: string, content: object, metadata: object = {}): Promise<KubeObject> =>
    eventually(`${type.kind} to be served`, () =>
      kube
        .create<KubeObject>(type, {
          apiVersion: apiVersionOf(type),
          kind: type.kind,
          metadata: { namespace, name: own, ...metadata },
          ...content,
        })
        .catch((error: unknown) => {
          if (error instanceof NotServed) return undefined;
          throw error;
        }),
    );
  const cluster = await put(bind9Cluster, clusterName, { spec: { primary: { replicas: 1 } } });
  const instance = await put(
    bind9Instance,
    name,
    { spec: { clusterRef: clusterName, role: "primary", rndcKey: { autoRotate: true, rotateAfter: "720h" } } },
    { ownerReferences: [controllerOf(cluster)], finalizers: ["bindy.firestoned.io/bind9instance-finalizer"] },
  );
  const ownerReferences = [controllerOf(instance)];
  const createdAt = new Date(Date.now() - 3_600_000).toISOString();
  const secret = await putSecret(kube, {
    namespace,
    name: secretName,
    owner: instance,
    texts: {
      "key-name": "bindy-operator",
      algorithm: "hmac-sha256",
      secret: secretText,
      "rndc.key": `key "bindy-operator" {\n    algorithm hmac-sha256;\n    secret "${secretText}";\n};\n`,
    },
    annotations: { "bindy.firestoned.io/rndc-created-at": createdAt, "bindy.firestoned.io/rndc-rotation-count": "0" },
  });
  await put(configMaps, `${name}-config`, { data: { "named.conf": "options {};" } }, { ownerReferences });
  const ports = [{ name: "dns-tcp", port: 53, targetPort: 5353 }];
  await put(services, name, { spec: { ports, selector: { instance: name } } }, { ownerReferences });
  const labels = { instance: name };
  const volumes = [{ name: "rndc-key", secret: { secretName } }];
  const containers = [{ name: "bind9", image: "example.com/bind9:9.18" }];
  const template = { metadata: { labels }, spec: { containers, volumes } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const deployment = await put(deployments, name, { spec }, { ownerReferences });
  return { name, secret, deployment };
}
