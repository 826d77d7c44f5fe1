import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { NotFound, NotServed } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { examples, type Manifest } from "./examples.ts";

const FIELD_MANAGER = "keyturn";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** Applies the CRDs; one that is there already is brought to this version's schema. */
export async function installDefinitions(kube: Kube): Promise<void> {
  for (const resource of customResources) {
    const name = `${resource.plural}.${resource.group}`;
    const patch = { type: "apply", body: definitionOf(resource), force: true } as const;
    await kube.patch(definitions, { name }, patch, { fieldManager: FIELD_MANAGER });
  }
}

/** Creates the examples; what somebody has made under the same name is left alone. */
export async function installExamples(kube: Kube): Promise<void> {
  for (const manifest of examples) {
    const type = await typeOf(kube, manifest);
    if (await isThere(kube, type, manifest)) continue;
    await kube.create<KubeObject>(type, manifest, { fieldManager: FIELD_MANAGER });
  }
}

async function typeOf(kube: Kube, { apiVersion, kind }: Manifest): Promise<ResourceType> {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const types = await kube.discover(group, version);
  const type = types.find((candidate) => candidate.kind === kind);
  if (!type) throw new NotServed(`the server does not serve ${kind} of ${apiVersion}`);
  return type;
}

async function isThere(kube: Kube, type: ResourceType, { metadata }: Manifest): Promise<boolean> {
  try {
    await kube.get(type, metadata, { metadataOnly: true });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}
