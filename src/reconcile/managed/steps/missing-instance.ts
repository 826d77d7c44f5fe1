import { ProviderError } from "../../../providers/provider-error.ts";
import type { Outside } from "../workpiece.ts";

/** The instance that keys are to belong to is not there: told with the field that means it. */
export function missingInstance({ instanceId, instanceField }: Outside, cause?: unknown): ProviderError {
  const where = instanceField === undefined ? "" : `${instanceField}: `;
  const message = `${where}there is no service instance ${instanceId} outside: it was deleted, or the id is wrong`;
  return new ProviderError("InstanceNotFound", message, { cause });
}
