import type { ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { compareResourceVersions } from "../../kube/resource-version.ts";

type Lister = Pick<Kube, "list">;

/**
 * Whether the versions of two kinds are counted by one store. An API server may keep a kind in a store of its own, as some
 * do with Secrets, and then they say nothing together. What is asked three times in turn, the one, the other and the one
 * again, is counted up in that order where there is one counter; with two, the second would have to be between two numbers
 * of the first, which are a few writes apart. Must not: be asked more often than once for two kinds that are.
 */
export class OneStore {
  readonly #kube: Lister;
  readonly #known = new Map<string, boolean>();

  constructor(kube: Lister) {
    this.#kube = kube;
  }

  /** Undefined: nobody has found out yet. */
  known(one: ResourceType, other: ResourceType): boolean | undefined {
    return this.#known.get(keyOf(one, other));
  }

  async holds(one: ResourceType, other: ResourceType, signal: AbortSignal): Promise<boolean> {
    const known = this.known(one, other);
    if (known !== undefined) return known;
    const first = await this.#versionOf(one, signal);
    const second = await this.#versionOf(other, signal);
    const third = await this.#versionOf(one, signal);
    const isOne = isInOrder(first, second) && isInOrder(second, third);
    this.#known.set(keyOf(one, other), isOne);
    return isOne;
  }

  async #versionOf(type: ResourceType, signal: AbortSignal): Promise<string> {
    const { resourceVersion } = await this.#kube.list(type, { limit: 1, metadataOnly: true, signal });
    return resourceVersion;
  }
}

const keyOf = (one: ResourceType, other: ResourceType): string =>
  `${one.group}/${one.plural} ${other.group}/${other.plural}`;

const isInOrder = (before: string, after: string): boolean => (compareResourceVersions(before, after) ?? 1) <= 0;
