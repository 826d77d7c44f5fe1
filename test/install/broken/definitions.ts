import { serviceBinding } from "../../../src/api/btp/service-binding.ts";
import { definitionOf } from "../../../src/api/custom-resource.ts";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { customResourceDefinitions } from "../../conformance/kinds.ts";
import { eventually } from "../../support/eventually.ts";
import type { CheckScene } from "../check-scene.ts";
import { BINDINGS, type BrokenSetUp } from "./broken-set-up.ts";

const CRD = { name: BINDINGS };

const isDefinition = ({ kind, metadata }: KubeObject): boolean =>
  kind === "CustomResourceDefinition" && metadata.name === BINDINGS;

async function restoreDefinition(scene: CheckScene): Promise<void> {
  await scene.merge(customResourceDefinitions, CRD, { metadata: { finalizers: null } }).catch(() => {});
  await scene.remove(customResourceDefinitions, CRD);
  await scene.install(isDefinition);
  await scene.untilServed();
}

/** The definition with other words in its one version. */
function definitionWith(change: (version: Record<string, unknown>) => void): KubeObject {
  const definition = JSON.parse(JSON.stringify(definitionOf(serviceBinding))) as KubeObject & {
    readonly spec: { readonly versions: readonly Record<string, unknown>[] };
  };
  for (const version of definition.spec.versions) change(version);
  return definition;
}

export const definitions: readonly BrokenSetUp[] = [
  {
    name: "a definition is missing",
    break: (scene) => scene.remove(customResourceDefinitions, CRD),
    mend: restoreDefinition,
    found: {
      group: "definitions",
      level: "problem",
      about: /^servicebindings\./,
      message: /not installed/,
      remedy: /keyturn crds/,
    },
  },
  {
    name: "a definition belongs to a Crossplane package",
    break: async (scene) => {
      const ownerReferences = [
        { apiVersion: "pkg.crossplane.io/v1", kind: "ProviderRevision", name: "provider-btp-4711", uid: "4711" },
      ];
      await scene.merge(customResourceDefinitions, CRD, {
        metadata: { ownerReferences, labels: { "app.kubernetes.io/part-of": null } },
      });
    },
    mend: restoreDefinition,
    found: {
      group: "definitions",
      level: "problem",
      about: /^servicebindings\./,
      message: /belongs to the Crossplane package provider-btp-4711/,
      remedy: /stop who looks after it now/,
    },
  },
  {
    name: "a definition is stuck in deletion",
    break: async (scene) => {
      await scene.merge(customResourceDefinitions, CRD, { metadata: { finalizers: ["example.com/hold"] } });
      await scene.kube.delete(customResourceDefinitions, CRD);
    },
    mend: restoreDefinition,
    found: {
      group: "definitions",
      level: "problem",
      about: /^servicebindings\./,
      message: /being deleted/,
      remedy: /keyturn crds/,
    },
  },
  {
    name: "a definition is of an older version",
    break: (scene) =>
      scene.apply(
        definitionWith((version) => {
          const { properties } = (
            version.schema as {
              openAPIV3Schema: { properties: Record<string, { properties: Record<string, unknown> }> };
            }
          ).openAPIV3Schema;
          delete properties.status?.properties.history;
        }),
      ),
    mend: restoreDefinition,
    found: {
      group: "definitions",
      level: "problem",
      about: /^servicebindings\./,
      message: /older version: it has no status\.history\b/,
      remedy: /keyturn crds/,
    },
  },
  {
    name: "another definition has its names",
    break: async (scene) => {
      await scene.remove(customResourceDefinitions, CRD);
      const { group } = serviceBinding;
      const names = { plural: "squatters", kind: "ServiceBinding", singular: "squatter", listKind: "SquatterList" };
      const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }];
      await scene.apply({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `squatters.${group}` },
        spec: { group, scope: "Cluster", names, versions },
      });
      await untilCondition(scene, `squatters.${group}`, "Established", "True");
      await scene.install(isDefinition);
      await untilCondition(scene, BINDINGS, "NamesAccepted", "False");
    },
    mend: async (scene) => {
      await scene.remove(customResourceDefinitions, { name: `squatters.${serviceBinding.group}` });
      await restoreDefinition(scene);
    },
    found: {
      group: "definitions",
      level: "problem",
      about: /^servicebindings\./,
      message: /has its names: .*already in use/,
      remedy: /remove the other definition/,
    },
  },
];

async function untilCondition(scene: CheckScene, name: string, type: string, status: string): Promise<void> {
  await eventually(`${name} to have ${type} ${status}`, async () => {
    const object = await scene.kube.get(customResourceDefinitions, { name });
    const { conditions = [] } = (object.status ?? {}) as {
      readonly conditions?: readonly Record<string, unknown>[] | null;
    };
    return conditions?.some((each) => each.type === type && each.status === status) || undefined;
  });
}
