import { AlreadyExists } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";

const korifi = (kind: string, plural: string): ResourceType => ({
  group: "korifi.cloudfoundry.org",
  version: "v1alpha1",
  plural,
  kind,
  namespaced: true,
});

export const instanceType = korifi("CFServiceInstance", "cfserviceinstances");
export const bindingType = korifi("CFServiceBinding", "cfservicebindings");
/** Korifi's alone. */
export const appType = korifi("CFApp", "cfapps");

/** Of the runtime that projects Secrets into workloads. */
export const projectionType: ResourceType = {
  group: "servicebinding.io",
  version: "v1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: true,
};

/** On what belongs to an application: the name of its CFApp. */
export const APP_LABEL = "korifi.cloudfoundry.org/app-guid";

/** Kinds that others install, where they are there: any fields, and a status of its own. */
export async function installForeignKinds(kube: Kube, ...types: readonly ResourceType[]): Promise<void> {
  for (const type of types) {
    try {
      await kube.create<KubeObject>(customResourceDefinitions, definitionOf(type));
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }
}

function definitionOf({ group, version, plural, kind }: ResourceType): KubeObject {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}
