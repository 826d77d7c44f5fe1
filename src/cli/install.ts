import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { admissionPolicies } from "../install/admission-policies.ts";
import { bindAdvicePolicies } from "../install/bind-advice.ts";
import { NotFound, NotServed } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Manifest } from "./examples.ts";

const FIELD_MANAGER = "keyturn";

/** Applies the CRDs and the admission policies; what is there already is brought to this version. */
export async function installDefinitions(kube: Kube): Promise<void> {
  for (const manifest of [...customResources.map(definitionOf), ...admissionPolicies(), ...bindAdvicePolicies()]) {
    const type = await typeOf(kube, manifest);
    const patch = { type: "apply", body: manifest, force: true } as const;
    await kube.patch(type, { name: manifest.metadata.name }, patch, { fieldManager: FIELD_MANAGER });
  }
}

/** Creates what is not there; what somebody has made under the same name is left alone. */
export async function createMissing(kube: Kube, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const type = await typeOf(kube, manifest);
    if (await isThere(kube, type, manifest)) continue;
    await kube.create<KubeObject>(type, manifest, { fieldManager: FIELD_MANAGER });
  }
}

async function typeOf(kube: Kube, { apiVersion, kind }: Pick<Manifest, "apiVersion" | "kind">): Promise<ResourceType> {
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
