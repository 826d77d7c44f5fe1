import type { SeenRotation } from "./judge.ts";

/** A state that a resource was in. */
export interface ResourceState {
  readonly resource: string;
  readonly at: number;
  /** When its active key is due; NaN while it has none. */
  readonly dueAt: number;
  readonly sequence: number;
  readonly isPending: boolean;
}

interface Known {
  readonly sequence: number;
  readonly dueAt: number;
  /** When the rotation that is under way began. */
  readonly begunAt: number | undefined;
}

/** Makes rotations of the states that resources were in, one after the other. Pure. Must not: keep the objects. */
export class RotationLog {
  readonly rotations: SeenRotation[] = [];
  readonly #known = new Map<string, Known>();

  see({ resource, at, dueAt, sequence, isPending }: ResourceState): void {
    const known = this.#known.get(resource);
    if (!isPending) {
      const isRotated = known !== undefined && sequence > known.sequence - (known.begunAt === undefined ? 0 : 1);
      // A watch that starts over shows the end of a rotation without its beginning.
      if (isRotated) this.#note(resource, known, at);
      if (Number.isFinite(dueAt)) this.#known.set(resource, { sequence, dueAt, begunAt: undefined });
      return;
    }
    // The first key is no rotation.
    if (!Number.isFinite(dueAt)) return;
    this.#known.set(resource, { sequence, dueAt, begunAt: known?.begunAt ?? at });
  }

  /** It is gone, and nothing is expected of it. */
  forget(resource: string): void {
    this.#known.delete(resource);
  }

  /** What should have been by now, or is still under way: as if it were done at this moment. */
  unfinished(at: number): readonly SeenRotation[] {
    return [...this.#known]
      .filter(([, { dueAt }]) => dueAt < at)
      .map(([resource, { dueAt, begunAt }]) => ({ resource, dueAt, begunAt: begunAt ?? at, doneAt: at }));
  }

  #note(resource: string, { dueAt, begunAt }: Known, at: number): void {
    this.rotations.push({ resource, dueAt, begunAt: begunAt ?? at, doneAt: at });
  }
}
