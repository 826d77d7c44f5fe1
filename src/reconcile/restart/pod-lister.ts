import { parseInstant } from "../../base/instant.ts";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type Annotations, annotationsOf } from "../../restart/annotations.ts";
import type { Use } from "../../restart/model.ts";
import { usesOf } from "../../restart/pod-uses.ts";
import { podType, templateOfPod } from "../../restart/workload-kinds.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import { SharedReads } from "./shared-reads.ts";

/** A pod that runs, or may, as far as it uses Secrets. */
export interface SecretUser {
  readonly metadata: Pick<ObjectMeta, "namespace" | "name" | "ownerReferences">;
  readonly annotations: Annotations;
  /** It is on its way out. */
  readonly isLeaving: boolean;
  /** Not a number where it is not said. */
  readonly createdAt: number;
  /** Of Secrets alone, and not only to pull images. */
  readonly uses: readonly Use[];
}

/** Those that have ended use nothing any more; those on their way out do. */
const ALIVE = "status.phase!=Succeeded,status.phase!=Failed";
const PAGE = 500;
const LISTS_AT_A_TIME = 4;

/**
 * Lists the pods of a namespace, live. Whoever asks while a list is under way shares the next one. Must not: keep anything
 * of it.
 */
export class PodLister {
  readonly #kube: Kube;
  readonly #lists = new SharedReads<readonly SecretUser[]>(LISTS_AT_A_TIME);

  constructor(kube: Kube) {
    this.#kube = kube;
  }

  /** By a list that begins after this call. */
  usersIn(namespace: string, signal: AbortSignal): Promise<readonly SecretUser[]> {
    return this.#lists.read(namespace, this.#lists.mark(), () => this.#list(namespace, signal));
  }

  async #list(namespace: string, signal: AbortSignal): Promise<readonly SecretUser[]> {
    const users: SecretUser[] = [];
    let next: string | undefined;
    do {
      const page = await this.#kube.list(podType, {
        namespace,
        fieldSelector: ALIVE,
        limit: PAGE,
        signal,
        ...(next !== undefined && { continue: next }),
      });
      users.push(...page.items.flatMap(userOf));
      next = page.continue === "" ? undefined : page.continue;
    } while (next !== undefined);
    return users;
  }
}

function userOf(pod: KubeObject): readonly SecretUser[] {
  const { phase } = fieldsOf(pod.status);
  if (phase === "Succeeded" || phase === "Failed") return [];
  const uses = usesOf(templateOfPod(pod).spec).filter((use) => use.source.startsWith("secret/") && !use.isPullOnly);
  if (uses.length === 0) return [];
  const { namespace, name, ownerReferences, annotations, creationTimestamp, deletionTimestamp } = pod.metadata;
  return [
    {
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(ownerReferences && { ownerReferences }) },
      annotations: annotationsOf(annotations),
      isLeaving: deletionTimestamp !== undefined,
      createdAt: parseInstant(creationTimestamp) ?? Number.NaN,
      uses,
    },
  ];
}
