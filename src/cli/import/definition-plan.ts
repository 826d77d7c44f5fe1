import type { CustomResource } from "../../api/custom-resource.ts";
import { listAll } from "../../insight/resources/list-all.ts";
import { NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import { crdType } from "../../runtime/operator.ts";
import type { Bench } from "./bench.ts";
import { inactivating, type OperatorTraces } from "./other-operator.ts";
import { NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf } from "./plan.ts";

/** A kind that the other operator and Keyturn share: whose definition it is, and with what it would go. */
interface DefinitionFacts {
  readonly resource: CustomResource;
  readonly definition: KubeObject | undefined;
  /** Of Crossplane's package manager. */
  readonly revisions: readonly KubeObject[];
}

const revisionType: ResourceType = {
  group: "pkg.crossplane.io",
  version: "v1",
  plural: "providerrevisions",
  kind: "ProviderRevision",
  namespaced: false,
};

const PACKAGES = /^pkg\.crossplane\.io\//;

export async function lookAtDefinition(bench: Bench, resource: CustomResource): Promise<DefinitionFacts> {
  const { kube, signal } = bench;
  const name = `${resource.plural}.${resource.group}`;
  const definition = await ifFound(kube.get(crdType, { name }, { signal }));
  try {
    const revisions = await Array.fromAsync(listAll(kube, revisionType, { signal }));
    return { resource, definition, revisions };
  } catch (error) {
    if (!(error instanceof NotServed)) throw error;
    return { resource, definition, revisions: [] };
  }
}

const APPLY = "keyturn crds | kubectl apply --server-side --force-conflicts -f -";

/** Pure. A definition that is deleted takes every object of its kind along: it must not go with a package. */
export function planDefinition({ resource, definition, revisions }: DefinitionFacts, traces: OperatorTraces): Plan {
  const name = `${resource.plural}.${resource.group}`;
  const active = activeRevisions(revisions, traces);
  if (active.length > 0) return { ...NOTHING_TO_DO, refusals: active };
  if (!definition)
    return { ...NOTHING_TO_DO, refusals: [refusal(`there is no CustomResourceDefinition ${name}`, APPLY)] };
  if (!isOurs(definition, resource)) {
    const problem = `the CustomResourceDefinition ${name} is not Keyturn's: what the operator writes to a status would be lost`;
    return { ...NOTHING_TO_DO, refusals: [refusal(problem, APPLY)] };
  }
  return { ...NOTHING_TO_DO, steps: releaseStep(definition) };
}

/** By its fields: those that the operator writes, and those that people are to write for it. */
function isOurs({ spec }: KubeObject, resource: CustomResource): boolean {
  const served = recordsIn(recordOf(spec).versions).find((one) => one.name === resource.version);
  const schema = recordOf(recordOf(recordOf(served?.schema).openAPIV3Schema).properties);
  const isThere = (part: "spec" | "status"): boolean => {
    const present = recordOf(recordOf(schema[part]).properties);
    return Object.keys(recordOf(recordOf(resource[part]).properties)).every((name) => present[name] !== undefined);
  };
  return isThere("spec") && isThere("status");
}

const activeRevisions = (revisions: readonly KubeObject[], { title, images }: OperatorTraces): readonly Refusal[] =>
  revisions.flatMap(({ metadata, spec }) => {
    const { desiredState, image } = recordOf(spec);
    if (desiredState !== "Active" || typeof image !== "string" || !images.test(image)) return [];
    const provider = metadata.labels?.["pkg.crossplane.io/package"] ?? "NAME";
    return [refusal(`${title} is active: ProviderRevision ${metadata.name}`, inactivating(provider, metadata.name))];
  });

function releaseStep(definition: KubeObject): readonly Step[] {
  const { ownerReferences = [], name } = definition.metadata;
  const others = ownerReferences.filter(({ apiVersion }) => !PACKAGES.test(apiVersion));
  if (others.length === ownerReferences.length) return [];
  return [
    {
      does: `take the CustomResourceDefinition ${name} out of the hands of Crossplane's package manager`,
      why: "when the package is deleted, the definition would go with it, and every object of the kind",
      action: {
        kind: "patch",
        type: crdType,
        seen: seenOf(definition),
        body: { metadata: { ownerReferences: others } },
      },
    },
  ];
}
