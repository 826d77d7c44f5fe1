import assert from "node:assert/strict";
import { customResources } from "../../../src/api/custom-resources.ts";
import { NotServed, TooManyRequests } from "../../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, keyOf, type ResourceType } from "../../../src/kube/objects.ts";
import type { Kube } from "../../../src/kube/port.ts";
import { customResourceDefinitions } from "../../conformance/kinds.ts";
import { eventually } from "../../support/eventually.ts";

/** All objects of our kinds, as the server gives them out under the schemas that it has at the time. */
export class StoredObjects {
  readonly #objects: ReadonlyMap<string, KubeObject>;

  static async read(kube: Kube): Promise<StoredObjects> {
    const lists = await Promise.all(customResources.map((type) => listed(kube, type)));
    return new StoredObjects(lists.flat());
  }

  private constructor(objects: readonly KubeObject[]) {
    this.#objects = new Map(objects.map((object) => [object.metadata.uid ?? "", object]));
  }

  get kinds(): ReadonlySet<string> {
    return new Set(Array.from(this.#objects.values(), ({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  }

  /** Nothing that was there then has gone, or says anything else in its spec; who is a key of another comes and goes. */
  assertKept(since: StoredObjects): void {
    for (const [uid, before] of since.#objects) {
      if (isChild(before)) continue;
      const now = this.#objects.get(uid) ?? assert.fail(`${nameOf(before)} is gone`);
      assert.deepEqual(now.spec, before.spec, nameOf(before));
      assert.equal(
        now.metadata.generation,
        before.metadata.generation,
        `${nameOf(before)}: nobody has written its spec`,
      );
    }
  }

  /** Whoever has written a field of them did it in a version that is served. */
  assertManaged(): void {
    for (const object of this.#objects.values()) {
      const managed = (object.metadata.managedFields ?? []) as readonly { readonly apiVersion: string }[];
      assert.ok(managed.length > 0, nameOf(object));
      for (const { apiVersion } of managed) assert.equal(apiVersion, object.apiVersion, nameOf(object));
    }
  }

  /** Those whose status says of which generation it speaks, which is that of now. */
  get observed(): readonly KubeObject[] {
    return [...this.#objects.values()].filter(({ metadata, status }) => {
      return (
        (status as { readonly observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation
      );
    });
  }

  of(type: ResourceType): readonly KubeObject[] {
    const isMeant = ({ kind, apiVersion }: KubeObject): boolean =>
      kind === type.kind && apiVersion === apiVersionOf(type);
    return [...this.#objects.values()].filter(isMeant);
  }
}

/** Of each definition the versions that anything was ever stored in, which must be the one that is stored now. */
export async function assertStoredVersions(kube: Kube): Promise<void> {
  for (const { plural, group, version } of customResources) {
    const { status } = await kube.get(customResourceDefinitions, { name: `${plural}.${group}` });
    assert.deepEqual((status as { readonly storedVersions: readonly string[] }).storedVersions, [version], plural);
  }
}

const isChild = ({ kind, metadata }: KubeObject): boolean =>
  kind === "ServiceCredentialBinding" && metadata.ownerReferences !== undefined;

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${keyOf(metadata)}`;

/** A kind whose definition has just changed is served to nobody for a moment. */
const listed = (kube: Kube, type: ResourceType): Promise<readonly KubeObject[]> =>
  eventually(`${type.plural} to be served`, async () => {
    try {
      // A list of objects says what they are once, for all of them.
      const { items } = await kube.list(type);
      return items.map((object) => ({ ...object, apiVersion: apiVersionOf(type), kind: type.kind }));
    } catch (error) {
      if (error instanceof NotServed || error instanceof TooManyRequests) return undefined;
      throw error;
    }
  });
