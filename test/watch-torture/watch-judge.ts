import type { KubeObject } from "../../src/kube/objects.ts";
import type { Delta, Entry } from "../../src/kube/resource-cache.ts";
import { isOlder } from "../../src/kube/resource-version.ts";

/** One change as a watcher should be told of it. */
export interface ServerChange {
  readonly resourceVersion: string;
  readonly type: Delta<unknown>["type"];
  readonly key: string;
  readonly uid: string;
}

/**
 * Holds what a consumer was told against what the server did. Every delta must be legal after the ones before it; those
 * of a watch must be exactly the server's next changes, none left out, none twice; those of a refresh may only lead to
 * states that the server was in. Must not: look at the cache, which could be right by luck.
 */
export class WatchJudge {
  readonly #history: () => readonly ServerChange[];
  readonly #model = new Map<string, Entry<KubeObject>>();
  readonly #lastVersions = new Map<string, string>();
  readonly #problems: string[] = [];
  /** How many of the server's changes have been told; undefined before the first refresh. */
  #told: number | undefined;
  deltas = 0;
  refreshes = 0;

  constructor(history: () => readonly ServerChange[]) {
    this.#history = history;
  }

  get changes(): number {
    return this.#history().length;
  }

  onDelta(delta: Delta<KubeObject>): void {
    this.deltas += 1;
    this.#checkTransition(delta);
    if (delta.via === "watch") this.#checkOrder(delta);
    else if (delta.type !== "deleted") this.#checkExistence(delta.entry);
    if (delta.type === "deleted") this.#model.delete(delta.key);
    else this.#model.set(delta.key, delta.entry);
  }

  /** The consumer has been brought to the state at `position`; an empty one means that there is no such kind. */
  onRefresh(position: string): void {
    this.refreshes += 1;
    if (position === "") {
      this.#told = undefined;
      return;
    }
    const later = this.#history().findIndex((change) => isOlder(position, change.resourceVersion));
    this.#told = later === -1 ? this.#history().length : later;
  }

  isUpToDate(): boolean {
    return this.#told === this.#history().length;
  }

  /** The first promise that was broken, if any. */
  verdict(): string | undefined {
    return this.#problems[0];
  }

  #checkTransition(delta: Delta<KubeObject>): void {
    const before = this.#model.get(delta.key);
    if (delta.type === "added") {
      if (before) this.#blame(delta, "added although it was there");
    } else if (!before) {
      this.#blame(delta, `${delta.type} although it was not there`);
    } else if (before !== delta.old) {
      this.#blame(delta, `${delta.type} from another state than the last one told`);
    }
    if (delta.type === "deleted") return;
    const { uid, resourceVersion, key } = delta.entry;
    if (key !== delta.key) this.#blame(delta, "the keys differ");
    if (delta.type === "updated" && delta.old.uid !== uid) this.#blame(delta, "updated into another object");
    const last = this.#lastVersions.get(uid);
    if (last !== undefined && isOlder(resourceVersion, last)) this.#blame(delta, "went back to an older state");
    if (delta.type === "updated" && last === resourceVersion) this.#blame(delta, "told twice");
    this.#lastVersions.set(uid, resourceVersion);
  }

  #checkOrder(delta: Delta<KubeObject>): void {
    const expected = this.#told === undefined ? undefined : this.#history()[this.#told];
    if (this.#told === undefined || !expected) {
      this.#blame(delta, "told of a change that did not happen");
      return;
    }
    this.#told += 1;
    const uid = delta.type === "deleted" ? delta.old.uid : delta.entry.uid;
    const sameVersion = delta.type === "deleted" || delta.entry.resourceVersion === expected.resourceVersion;
    if (expected.key !== delta.key || expected.type !== delta.type || expected.uid !== uid || !sameVersion) {
      this.#blame(
        delta,
        `but the server's next change was ${expected.type} ${expected.key} at ${expected.resourceVersion}`,
      );
    }
  }

  #checkExistence(entry: Entry<KubeObject>): void {
    const known = this.#history().some(
      (change) =>
        change.uid === entry.uid && change.resourceVersion === entry.resourceVersion && change.type !== "deleted",
    );
    if (!known) this.#problems.push(`${entry.key}: the server was never in this state`);
  }

  #blame(delta: Delta<KubeObject>, problem: string): void {
    this.#problems.push(`${delta.type} ${delta.key} via ${delta.via}: ${problem}`);
  }
}
