import type { KubeObject } from "../../src/kube/objects.ts";
import type { ChildKind } from "../families/family.ts";
import type { OutsideKey } from "../families/stand-in.ts";

/** The keys of a resource: its children, where it has some, and beside them those at the service that none of them knows. */
export function keysOf(
  kind: ChildKind | undefined,
  children: readonly KubeObject[],
  atService: readonly OutsideKey[],
): readonly OutsideKey[] {
  if (!kind) return atService;
  const known = children.map((child) => kind.readStatus(child));
  const ids = new Set(known.flatMap(({ activeId, retired }) => [activeId, ...retired.map(({ id }) => id)]));
  return [...children.map((child) => keyOf(child, kind)), ...atService.filter(({ id }) => !ids.has(id))];
}

/** A child as the key that it stands for. */
const keyOf = (child: KubeObject, kind: ChildKind): OutsideKey => ({
  id: child.metadata.uid ?? "",
  name: child.metadata.name,
  instanceId: "",
  isReady: kind.readStatus(child).condition("Ready").startsWith("True"),
  marks: { ...child.metadata.annotations, ...child.metadata.labels },
});
