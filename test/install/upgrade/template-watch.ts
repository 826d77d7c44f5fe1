import { isDeepStrictEqual } from "node:util";
import { type KubeObject, keyOf, type ResourceType } from "../../../src/kube/objects.ts";
import type { Kube } from "../../../src/kube/port.ts";
import { daemonSets, deployments, statefulSets } from "../../conformance/kinds.ts";
import { Mirror } from "../../rotation/mirror.ts";

const TYPES: readonly ResourceType[] = [deployments, statefulSets, daemonSets];

/** Every pod template there is, and how often each has changed: a change is a restart of its pods, however brief it was. */
export class TemplateWatch {
  readonly #mirrors: readonly Mirror[];
  readonly #templates = new Map<string, unknown>();
  readonly #changes = new Map<string, number>();

  constructor(kube: Kube) {
    this.#mirrors = TYPES.map((type) => new Mirror(kube, type, (object) => this.#see(type, object)));
  }

  async synced(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.synced()));
  }

  /** How often each has changed so far, by `Kind namespace/name`. */
  changes(): ReadonlyMap<string, number> {
    return new Map(this.#changes);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.stop()));
  }

  #see({ kind }: ResourceType, { metadata, spec }: KubeObject): void {
    const name = `${kind} ${keyOf(metadata)}`;
    const { template } = spec as { readonly template: unknown };
    const before = this.#templates.get(name);
    this.#templates.set(name, template);
    const isChanged = before !== undefined && !isDeepStrictEqual(before, template);
    this.#changes.set(name, (this.#changes.get(name) ?? 0) + (isChanged ? 1 : 0));
  }
}
