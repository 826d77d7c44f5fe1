import { type KubeObject, keyOf, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";

export interface Found {
  readonly type: ResourceType;
  /** Its metadata alone. */
  readonly object: KubeObject;
}

/** Everything in a cluster, of every kind that can be listed; once for each version in which it is served. */
export async function everyObject(
  kube: Kube,
  { labelSelector }: { readonly labelSelector?: string } = {},
): Promise<readonly Found[]> {
  const options = { metadataOnly: true, ...(labelSelector !== undefined && { labelSelector }) } as const;
  const found: Found[] = [];
  for (const type of await everyType(kube)) {
    const { items } = await kube.list(type, options).catch(() => ({ items: [] }));
    found.push(...items.map((object) => ({ type, object })));
  }
  return found;
}

/** What bears a finalizer of Keyturn's. */
export async function heldIn(kube: Kube): Promise<readonly string[]> {
  const all = await everyObject(kube);
  return titlesOf(
    all.filter(({ object }) => object.metadata.finalizers?.some((name) => name.startsWith("keyturn.dev/"))),
  );
}

/** Each once. */
export const titlesOf = (found: readonly Found[]): readonly string[] =>
  [...new Set(found.map(({ type, object }) => `${type.kind} ${keyOf(object.metadata)}`))].sort();

async function everyType(kube: Kube): Promise<readonly ResourceType[]> {
  const { groups } = (await kube.fetch("/apis")) as {
    readonly groups: readonly { readonly name: string; readonly versions: readonly { readonly version: string }[] }[];
  };
  const all = [{ name: "", versions: [{ version: "v1" }] }, ...groups];
  const types = await Promise.all(
    all.flatMap(({ name, versions }) => versions.map(({ version }) => kube.discover(name, version))),
  );
  return types.flat();
}
