import { Conflict, NotFound } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { MARK_MANAGER, RESTART_FOR_ANNOTATION } from "../../restart/annotations.ts";
import { ownersOf } from "../../restart/managed-fields.ts";
import { markAnnotations, type RestartMark, unmarked } from "../../restart/restart-mark.ts";
import { metadataPatch } from "../../restart/restart-patch.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import { ask } from "../parents/child-problem.ts";
import { readWorkloadKey } from "../restart/workload-key.ts";
import { type FoundWorkload, findWorkloads, foundWorkload } from "./key-workloads.ts";

/**
 * The marks by which workloads are restarted for Secrets of ours: annotations alone, by server-side apply, each onto the
 * very version that was looked at. Must not: touch a mark that somebody else has put there.
 */
export class RestartMarks {
  readonly #kube: Kube;

  constructor(kube: Kube) {
    this.#kube = kube;
  }

  /** False where somebody wrote first, or it is gone: whoever looks again sees what is there now. */
  async write({ kind, object }: FoundWorkload, mark: RestartMark, signal: AbortSignal): Promise<boolean> {
    const { type } = kind;
    const { namespace = "", name } = object.metadata;
    const ref = { namespace, name };
    const body = metadataPatch(type, object.metadata, markAnnotations(mark));
    const options = { fieldManager: MARK_MANAGER, signal };
    return ask({ verb: "patch", type, ref, signal }, async () => {
      try {
        await this.#kube.patch(type, ref, { type: "apply", body, force: true }, options);
        return true;
      } catch (error) {
        if (error instanceof Conflict || error instanceof NotFound) return false;
        throw error;
      }
    });
  }

  /** Takes the Secret off every mark of its namespace that is ours. */
  async release(secret: SecretAddress, signal: AbortSignal): Promise<void> {
    const workloads = await findWorkloads(this.#kube, secret.namespace, signal);
    for (const workload of workloads) await this.#unmark(workload, secret, signal);
  }

  /** The same for these workloads alone, by their keys. */
  async releaseFrom(keys: readonly string[], secret: SecretAddress, signal: AbortSignal): Promise<void> {
    for (const key of keys) {
      const { kind: kindName, namespace, name } = readWorkloadKey(key);
      const kind = kindOf(kindName);
      if (kind?.rolls !== "byItself") continue;
      const { type } = kind;
      const ref = { namespace, name };
      const call = { verb: "get", type, ref, signal } as const;
      const object = await ask(call, () => ifFound(this.#kube.get(type, ref, { signal })));
      if (object) await this.#unmark(foundWorkload(kind, object), secret, signal);
    }
  }

  async #unmark(workload: FoundWorkload, { name }: SecretAddress, signal: AbortSignal): Promise<void> {
    if (!workload.mark.secrets.includes(name) || !isOurs(workload)) return;
    await this.write(workload, unmarked(workload.mark, name), signal);
  }
}

const isOurs = ({ object }: FoundWorkload): boolean =>
  ownersOf(object, ["metadata", "annotations", RESTART_FOR_ANNOTATION]).some(
    ({ manager, isApply }) => isApply && manager === MARK_MANAGER,
  );
