import type { Delta } from "../../kube/resource-cache.ts";
import type { WorkloadRecord } from "./workload-record.ts";

/** The template that a workload has left last, all its pods having been of it. */
export interface SeenDeparture {
  readonly uid: string;
  /** Its digest, which nobody is shown. */
  readonly template: string;
  readonly revision: string | undefined;
  readonly version: string;
}

/**
 * When workloads left their pod templates, as a watch tells it: change by change, each with its own version. What a list
 * brings may sum up several, of which nobody knows the versions, and says nothing. Must not: ask the server for anything.
 */
export class Departures {
  readonly #seen = new Map<string, SeenDeparture>();

  /** `key` is that of the workload. */
  note(key: string, delta: Delta<WorkloadRecord>): void {
    if (delta.type === "deleted") this.#seen.delete(key);
    if (delta.type !== "updated" || delta.via !== "watch") return;
    const { uid, resourceVersion, record } = delta.entry;
    const [was, is] = [delta.old.record.template, record.template];
    if (!was?.isWhole || is === undefined || was.digest === is.digest) return;
    this.#seen.set(key, { uid, template: was.digest, revision: was.revision, version: resourceVersion });
  }

  of(key: string, uid: string | undefined): SeenDeparture | undefined {
    const seen = this.#seen.get(key);
    return seen?.uid === uid ? seen : undefined;
  }
}
