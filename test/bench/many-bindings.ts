import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { Family, Rotation } from "../families/family.ts";
import { rate } from "./load.ts";

/** The instance that a sandbox has from the start. */
const INSTANCE_ID = "00000000-0000-4000-8000-000000000001";
const WRITERS = 16;

/** Where the Secrets of a bench are, and the name of its ProviderConfig. */
export const BENCH = "bench";

/** A policy by which nothing is due while a bench runs. */
export const NOT_YET: Rotation = { ttl: "48h", frequency: "24h" };

/** Where the bindings of a bench are, and of which kind. */
export interface Place {
  readonly kube: Kube;
  readonly family: Family;
}

const nameOf = (index: number): string => `binding-${index}`;
export const indexOf = ({ metadata }: KubeObject): number => Number(metadata.name.slice("binding-".length));

export interface BindingRange {
  readonly from: number;
  readonly count: number;
  /** Told when its turn comes; undefined: a static binding. */
  readonly rotationOf?: (index: number) => Rotation | undefined;
  readonly instanceOf?: (index: number) => string | undefined;
}

/** About the size of a typical managed resource, with what people and tools put on theirs. */
export async function createBindings({ kube, family }: Place, range: BindingRange): Promise<void> {
  const { from, count, rotationOf, instanceOf } = range;
  await rate(count, WRITERS, async (offset) => {
    const index = from + offset;
    const name = nameOf(index);
    const binding = family.manifest({
      name,
      annotations: { "example.com/note": "n".repeat(600) },
      labels: { team: `team-${index % 20}`, app: `app-${index % 500}` },
      config: BENCH,
      secretRef: { namespace: BENCH, name },
      instanceId: instanceOf?.(index) ?? INSTANCE_ID,
      rotation: rotationOf?.(index),
      forProvider: { parameters: { role: "reader" } },
    });
    await kube.create<KubeObject>(family.type, binding);
  });
}

/** Gives each of these bindings another policy. */
export async function changeRotation(
  { kube, family }: Place,
  bindings: readonly KubeObject[],
  rotationOf: (binding: KubeObject) => Rotation,
): Promise<void> {
  await rate(bindings.length, WRITERS, async (index) => {
    const binding = bindings[index];
    if (!binding) return;
    const rotation = rotationOf(binding);
    // A patch would leave the windows of before.
    const { windows = null } = rotation;
    const body = { spec: family.rotationSpec({ ...rotation, windows }) };
    const { name, namespace } = binding.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    await kube.patch(family.type, ref, { type: "merge", body });
  });
}

export const listBindings = ({ kube, family }: Place): Promise<readonly KubeObject[]> => listAll(kube, family.type);

/** The Secrets that bindings were published in, by the name of the binding. */
export async function listSecrets({ kube }: Place): Promise<ReadonlyMap<string, KubeObject>> {
  const secrets = await listAll(kube, secretType, BENCH);
  return new Map(secrets.map((secret) => [secret.metadata.name, secret]));
}

export async function listAll(kube: Kube, type: ResourceType, namespace?: string): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await kube.list(type, {
      limit: 500,
      ...(namespace !== undefined && { namespace }),
      ...(next !== undefined && { continue: next }),
    });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}

/** A duration as a policy says it. */
export const inMs = (lengthMs: number): string => `${Math.round(lengthMs)}ms`;
