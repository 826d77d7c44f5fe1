import type { Plan } from "../../korifi/plan.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type LiveSecrets, takenAlongBy } from "./live-secrets.ts";
import type { SecretSights } from "./secret-sights.ts";

export interface SecretWork {
  readonly object: KubeObject;
  readonly plan: Plan;
  readonly sights: SecretSights;
  readonly secrets: LiveSecrets;
  /** Throws `Conflict` where the caches know less than what somebody else may have made a Secret from. */
  readonly assertCurrent: () => Promise<void>;
}

/** The Secrets of a plan, in its order, for the object that takes them along. */
export async function writeSecrets(work: SecretWork, signal: AbortSignal): Promise<void> {
  const { object, plan, sights, secrets, assertCurrent } = work;
  const { namespace = "" } = object.metadata;
  for (const write of plan.writes) {
    if (write.kind !== "secret" && write.kind !== "release-secret") continue;
    const present = sights.get(write.name);
    if (present && !secrets.isOurs(namespace, present)) await assertCurrent();
    if (write.kind === "release-secret") {
      // Its new version counts as unseen: the look at it says the rest.
      await secrets.release(namespace, write, signal);
      continue;
    }
    const version = await secrets.write(write, { namespace, owner: takenAlongBy(object), present }, signal);
    sights.noteWritten(write.name, version);
  }
}
