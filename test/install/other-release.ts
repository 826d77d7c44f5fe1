import { OWNER_LABELS } from "../../src/api/custom-resource.ts";
import { operatorDeployment } from "../../src/install/deployment.ts";
import { rights } from "../../src/install/rights.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { inForce } from "../support/operator-access.ts";
import { type CheckScene, CONTROLLERS } from "./check-scene.ts";
import { typeOf } from "./type-of.ts";

/**
 * Deployment, account and roles of a release of the chart, which are called after it, in a namespace of their own beside
 * what is there; gone again at the end.
 */
export async function otherRelease(scene: CheckScene, name: string): Promise<AsyncDisposable> {
  const namespace = `keyturn-check-${name}`;
  const told = { name, namespace, labels: OWNER_LABELS, controllers: CONTROLLERS, scopedNamespaces: [], lease: name };
  const roles = rights(told);
  const objects: readonly KubeObject[] = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    ...roles,
    operatorDeployment({ ...told, image: "keyturn:0" }),
  ];
  const ends = new AsyncDisposableStack();
  try {
    for (const object of objects) {
      const { name: called, namespace: where } = object.metadata;
      const ref = { name: called, ...(where !== undefined && { namespace: where }) };
      ends.defer(() => scene.remove(typeOf(object), ref));
      await scene.apply(JSON.parse(JSON.stringify(object)) as KubeObject);
    }
    for (const role of roles) await inForce(scene.kube, { namespace, name }, role);
  } catch (error) {
    await ends.disposeAsync();
    throw error;
  }
  return ends;
}
