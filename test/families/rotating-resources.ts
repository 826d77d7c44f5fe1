import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { AlreadyExists } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { LoggedInClient } from "../support/cloud-foundry-client.ts";
import { eventually } from "../support/eventually.ts";
import { permitRotation, ROTATOR } from "../support/rotation-permits.ts";
import type { Family, Surroundings } from "./family.ts";
import { rotatingKeys } from "./rotating-keys.ts";
import { ServiceKeyPlayer } from "./service-key-player.ts";
import { serviceKeyDefinition, serviceKeys } from "./service-keys.ts";

/**
 * Resources of somebody else's kind, made one after the other from a template with the rights of a ServiceAccount. They
 * stand for service keys of Cloud Foundry, of which their parent knows nothing.
 */
export const rotatingResources: Family = {
  ...rotatingKeys,
  title: "rotating resources",
  controller: "rotating-resource",
  type: rotatingResource,
  children: serviceKeys,
  forceAnnotation: "rotatingresource.keyturn.dev/force-rotation",
  manifest: ({ name, instanceId, secretRef, rotation, annotations, labels, forProvider, spec }) => ({
    apiVersion: apiVersionOf(rotatingResource),
    kind: rotatingResource.kind,
    metadata: {
      name,
      namespace: secretRef.namespace ?? "",
      ...(annotations && { annotations }),
      ...(labels && { labels }),
    },
    spec: {
      rotationClassName: secretRef.namespace,
      serviceAccountName: ROTATOR,
      template: {
        apiVersion: apiVersionOf(serviceKeys.type),
        kind: serviceKeys.type.kind,
        spec: { serviceInstance: instanceId, ...forProvider },
      },
      ...(rotation && { rotation }),
      writeConnectionSecretToRef: { name: secretRef.name },
      ...spec,
    },
  }),
  instanceSpec: (instanceId) => ({ template: { spec: { serviceInstance: instanceId } } }),
  surround,
};

/** The kind of the children, their controller, and what an administrator writes. */
async function surround({ kube, namespace, login, operator }: Surroundings): Promise<() => Promise<void>> {
  await kube.create<KubeObject>(customResourceDefinitions, serviceKeyDefinition).catch((error: unknown) => {
    if (!(error instanceof AlreadyExists)) throw error;
  });
  await eventually("service keys to be served", () => kube.list(serviceKeys.type).catch(() => undefined));
  await permitRotation(kube, { namespace, children: serviceKeys.type, operator });
  const player = new ServiceKeyPlayer({ kube, namespace, client: new LoggedInClient(login) });
  return async () => {
    await player.stop();
    await kube.delete(rotationClass, { name: namespace });
  };
}
