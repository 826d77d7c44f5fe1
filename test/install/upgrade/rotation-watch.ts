import { parseDuration } from "../../../src/base/duration.ts";
import { type KubeObject, keyOf } from "../../../src/kube/objects.ts";
import type { Kube } from "../../../src/kube/port.ts";
import { Mirror } from "../../rotation/mirror.ts";
import { type TrackedKind, trackedKinds } from "../../soak/resources.ts";
import { RotationLog } from "../../soak/rotation-log.ts";

export interface RotationFigures {
  readonly rotations: number;
  readonly latestMs: number;
  /** Which one that was. */
  readonly latest: string;
}

/** Everything with a policy: how many keys it has had, and how late each rotation was begun. */
export class RotationWatch {
  readonly #log = new RotationLog();
  readonly #sequences = new Map<string, number>();
  readonly #mirrors: readonly Mirror[];

  constructor(kube: Kube) {
    this.#mirrors = trackedKinds.map((kind) => new Mirror(kube, kind.type, (object) => this.#see(kind, object)));
  }

  async synced(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.synced()));
  }

  /** The number of the latest key that is in use, by `Kind namespace/name`; those that begin like this. */
  sequences(prefix = ""): ReadonlyMap<string, number> {
    return new Map([...this.#sequences].filter(([resource]) => resource.startsWith(prefix)));
  }

  /** Those that were due since then, and the one that was begun latest; one that is owed counts as begun now. */
  figures(sinceAt: number): RotationFigures {
    const owed = this.#log.unfinished(Date.now());
    const all = [...this.#log.rotations, ...owed].filter(({ dueAt }) => dueAt >= sinceAt);
    const latenessOf = ({ begunAt, dueAt }: (typeof all)[number]): number => Math.max(0, begunAt - dueAt);
    const [latest] = all.toSorted((a, b) => latenessOf(b) - latenessOf(a));
    return {
      rotations: all.length - owed.length,
      latestMs: latest ? latenessOf(latest) : 0,
      latest: latest?.resource ?? "",
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.stop()));
  }

  #see({ type, readStatus, readRotation }: TrackedKind, object: KubeObject): void {
    const resource = `${type.kind} ${keyOf(object.metadata)}`;
    const { sequence, isPending, createdAt } = readStatus(object);
    const rotation = readRotation(object);
    if (!rotation || object.metadata.deletionTimestamp !== undefined) {
      this.#log.forget(resource);
      return;
    }
    if (!isPending) this.#sequences.set(resource, sequence);
    const dueAt = createdAt + parseDuration(rotation.frequency);
    this.#log.see({ resource, at: Date.now(), dueAt, sequence, isPending });
  }
}
