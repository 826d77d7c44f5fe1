import { listAll } from "../../../insight/resources/list-all.ts";
import { KubeError, NotServed, Unauthorized } from "../../../kube/errors.ts";
import { ifFound } from "../../../kube/if-found.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../../kube/objects.ts";
import type { Kube, ListOptions } from "../../../kube/port.ts";
import { type Sight, seen, unseen } from "../finding.ts";

/** What a read has shown. One that is refused, or fails, keeps nobody from looking at the rest. */
export async function look<T>(reading: Promise<T>): Promise<Sight<T>> {
  try {
    return seen(await reading);
  } catch (error) {
    if (error instanceof KubeError && !(error instanceof Unauthorized)) return unseen(error.message);
    throw error;
  }
}

/** One object; undefined where it is not there, and neither is its kind. */
export const lookAt = (kube: Kube, type: ResourceType, ref: ObjectRef): Promise<Sight<KubeObject | undefined>> =>
  look(unlessUnknown(ifFound(kube.get(type, ref)), undefined));

/** All objects of a kind; none where the kind is not served. */
export const lookAtAll = (
  kube: Kube,
  type: ResourceType,
  options: Omit<ListOptions, "limit" | "continue"> = {},
): Promise<Sight<readonly KubeObject[]>> => look(unlessUnknown(Array.fromAsync(listAll(kube, type, options)), []));

async function unlessUnknown<T>(reading: Promise<T>, nothing: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotServed) return nothing;
    throw error;
  }
}
