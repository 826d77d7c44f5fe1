import type { CustomResource } from "../../../api/custom-resource.ts";
import { describeType, type KubeObject, keyOf, type ResourceType } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import { FINALIZER, type ManagedKind } from "../../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../../reconcile/managed-kinds.ts";
import { type Sight, seen } from "../finding.ts";
import type { KeptResource, ResourceFacts } from "../judge/resources.ts";
import { lookAtAll } from "./look.ts";

/** The resources of those of these kinds that are rotated. */
export async function gatherResources(
  kube: Kube,
  kinds: readonly CustomResource[],
  families: readonly ManagedFamily[],
): Promise<readonly ResourceFacts[]> {
  const facts: ResourceFacts[] = [];
  for (const kind of managedKinds.filter(({ type }) => kinds.some((each) => isSame(each, type)))) {
    const family = families.find((each) => isSame(each.kind.type, kind.type));
    const objects = await lookAtAll(kube, kind.type);
    facts.push({
      kind: describeType(kind.type),
      resources: mapped(objects, (object) => keptResource(kind, object, family !== undefined)),
      ...(family && { configs: mapped(await lookAtAll(kube, family.configType), ({ metadata }) => metadata.name) }),
    });
  }
  return facts;
}

const isSame = (a: ResourceType, b: ResourceType): boolean => a.group === b.group && a.plural === b.plural;

const mapped = <T>(sight: Sight<readonly KubeObject[]>, each: (object: KubeObject) => T): Sight<readonly T[]> =>
  sight.isSeen ? seen(sight.value.map(each)) : sight;

const keptResource = (kind: ManagedKind, object: KubeObject, hasConfig: boolean): KeptResource => ({
  name: keyOf(object.metadata),
  ...(hasConfig && { providerConfig: kind.readDeparture(object).providerConfig }),
  isDeleting: object.metadata.deletionTimestamp !== undefined,
  isHeld: object.metadata.finalizers?.includes(FINALIZER) ?? false,
});
