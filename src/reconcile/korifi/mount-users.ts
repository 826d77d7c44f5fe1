import type { Kube } from "../../kube/port.ts";
import type { SourceId } from "../../restart/model.ts";
import { usesOf } from "../../restart/pod-uses.ts";
import { partsOf } from "../../restart/source-id.ts";
import { workloadKinds } from "../../restart/workload-kinds.ts";
import { listInNamespace } from "../objects/list-in-namespace.ts";
import { PodLister } from "../restart/pod-lister.ts";

/** Whose template makes pods without anybody asking for them one by one. */
const KINDS = workloadKinds.filter(({ rolls }) => rolls === "byItself");

/** Who has Secrets projected, live: a Secret that a pod is about to mount must be there. */
export class MountUsers {
  readonly #kube: Kube;
  readonly #pods: PodLister;

  constructor(kube: Kube) {
    this.#kube = kube;
    this.#pods = new PodLister(kube);
  }

  /** The names of all Secrets that pods of a namespace use, or may come to use. */
  async usedIn(namespace: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const used = new Set<SourceId>();
    // Templates first: pods that one has made before it was changed are among those that are listed next.
    for (const { type, templateOf } of KINDS) {
      for (const workload of await listInNamespace(this.#kube, type, { namespace, signal })) {
        for (const { source } of usesOf(templateOf(workload).spec)) used.add(source);
      }
    }
    for (const { uses } of await this.#pods.usersIn(namespace, signal)) for (const { source } of uses) used.add(source);
    const secrets = [...used].flatMap((source) => {
      const { kind, name } = partsOf(source);
      return kind === "secret" ? [name] : [];
    });
    return new Set(secrets);
  }
}
