import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { rate } from "./load.ts";
import { BENCH } from "./rotation-world.ts";

/** The instance that a sandbox has from the start. */
const INSTANCE_ID = "00000000-0000-4000-8000-000000000001";
const WRITERS = 16;

export interface Rotation {
  readonly ttl: string;
  readonly frequency: string;
}

/** A policy by which nothing is due while a bench runs. */
export const NOT_YET: Rotation = { ttl: "48h", frequency: "24h" };

export interface BindingObject extends KubeObject {
  readonly spec: { readonly rotation?: Rotation };
  readonly status?: {
    readonly sequence?: number;
    readonly atProvider?: { readonly id: string; readonly createdDate: string };
    readonly pending?: { readonly sequence: number };
    readonly retiredKeys?: readonly unknown[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

const nameOf = (index: number): string => `binding-${index}`;
export const indexOf = ({ metadata }: BindingObject): number => Number(metadata.name.slice("binding-".length));

export interface BindingRange {
  readonly from: number;
  readonly count: number;
  /** Told when its turn comes; undefined: a static binding. */
  readonly rotationOf?: (index: number) => Rotation | undefined;
  readonly instanceOf?: (index: number) => string | undefined;
}

/** About the size of a typical managed resource, with what people and tools put on theirs. */
export async function createBindings(kube: Kube, range: BindingRange): Promise<void> {
  const { from, count, rotationOf, instanceOf } = range;
  await rate(count, WRITERS, async (offset) => {
    const index = from + offset;
    const name = nameOf(index);
    const rotation = rotationOf?.(index);
    await kube.create<KubeObject>(serviceBinding, {
      apiVersion: apiVersionOf(serviceBinding),
      kind: serviceBinding.kind,
      metadata: {
        name,
        annotations: { "example.com/note": "n".repeat(600) },
        labels: { team: `team-${index % 20}`, app: `app-${index % 500}` },
      },
      spec: {
        ...(rotation && { rotation }),
        providerConfigRef: { name: BENCH },
        forProvider: { name, serviceInstanceId: instanceOf?.(index) ?? INSTANCE_ID, parameters: { role: "reader" } },
        writeConnectionSecretToRef: { namespace: BENCH, name },
      },
    });
  });
}

/** Gives each of these bindings another policy. */
export async function changeRotation(
  kube: Kube,
  bindings: readonly BindingObject[],
  rotationOf: (binding: BindingObject) => Rotation,
): Promise<void> {
  await rate(bindings.length, WRITERS, async (index) => {
    const binding = bindings[index];
    if (!binding) return;
    const body = { spec: { rotation: rotationOf(binding) } };
    await kube.patch(serviceBinding, { name: binding.metadata.name }, { type: "merge", body });
  });
}

export const listBindings = (kube: Kube): Promise<readonly BindingObject[]> =>
  listAll<BindingObject>(kube, serviceBinding);

/** The Secrets that bindings were published in, by the name of the binding. */
export async function listSecrets(kube: Kube): Promise<ReadonlyMap<string, KubeObject>> {
  const secrets = await listAll(kube, secretType, BENCH);
  return new Map(secrets.map((secret) => [secret.metadata.name, secret]));
}

async function listAll<T extends KubeObject>(
  kube: Kube,
  type: ResourceType,
  namespace?: string,
): Promise<readonly T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await kube.list<T>(type, {
      limit: 500,
      ...(namespace !== undefined && { namespace }),
      ...(next !== undefined && { continue: next }),
    });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}

/** When the active key was created; not a number where there is none. */
export const createdAt = ({ status }: BindingObject): number => Date.parse(status?.atProvider?.createdDate ?? "");

/** A duration as a policy says it. */
export const inMs = (lengthMs: number): string => `${Math.round(lengthMs)}ms`;
