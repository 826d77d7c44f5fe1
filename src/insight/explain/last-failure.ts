import { parseInstant } from "../../base/instant.ts";
import { KubeError } from "../../kube/errors.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { fieldsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import type { Problem } from "../resources/problems.ts";

const events: ResourceType = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

/** The last failure that was told in an event and not forgotten yet; undefined also for whoever may not read events. */
export async function lastFailure(kube: Kube, metadata: ObjectMeta): Promise<Problem | undefined> {
  const { uid = "", namespace = "default" } = metadata;
  try {
    const { items } = await kube.list(events, { namespace, fieldSelector: `involvedObject.uid=${uid},type=Warning` });
    const failures = items.filter(({ action }) => action === "Reconcile").map(failureOf);
    return failures.sort((a, b) => (b.since ?? 0) - (a.since ?? 0))[0];
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

function failureOf(event: KubeObject): Problem {
  const { lastObservedTime } = fieldsOf(event.series);
  return {
    reason: textOf(event.reason) ?? "",
    message: textOf(event.message) ?? "",
    since: parseInstant(lastObservedTime) ?? parseInstant(event.eventTime),
  };
}
