import type { Cluster } from "./cluster.ts";

/** Setting a scene is undisturbed and always the same, so it is done once on each cluster, by untampered code. */
export class SetScenes<S> {
  readonly #scenes = new WeakMap<Cluster, Map<string, Promise<S>>>();

  of(cluster: Cluster, name: string, play: () => Promise<S>): Promise<S> {
    const known = this.#scenes.get(cluster) ?? new Map<string, Promise<S>>();
    this.#scenes.set(cluster, known);
    const scene = known.get(name) ?? play();
    known.set(name, scene);
    return scene;
  }
}
