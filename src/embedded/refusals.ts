import type { KubeObject } from "../kube/objects.ts";
import type { ResourceDefinition } from "./registry.ts";
import { invalid, StatusError } from "./status-error.ts";

/** The refusals that every kind shares, in the API server's words. */
type Named = Pick<ResourceDefinition, "group" | "plural">;

const qualified = (kind: Named): string => (kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`);

const detailsOf = (kind: Named, name: string): { name: string; group?: string; kind: string } => ({
  name,
  ...(kind.group !== "" && { group: kind.group }),
  kind: kind.plural,
});

export const notFound = (kind: Named, name: string): StatusError =>
  new StatusError(404, "NotFound", `${qualified(kind)} "${name}" not found`, detailsOf(kind, name));

/** Whoever waits for a name to be free hears when that is only a matter of time. */
export function alreadyExists(kind: Named, { metadata }: KubeObject): StatusError {
  const { name, deletionTimestamp } = metadata;
  const prefix = deletionTimestamp === undefined ? "" : "object is being deleted: ";
  const message = `${prefix}${qualified(kind)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(kind, name));
}

export const conflict = (kind: Named, name: string, why: string): StatusError =>
  new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(kind)} "${name}": ${why}`,
    detailsOf(kind, name),
  );

export const modified = (kind: Named, name: string): StatusError =>
  conflict(kind, name, "the object has been modified; please apply your changes to the latest version and try again");

/** Custom kinds are never overwritten blindly. The real server names the resource here, not the kind. */
export const versionRequired = ({ group, plural }: Named, name: string): StatusError =>
  invalid({ group, kind: plural }, name, [
    {
      reason: "FieldValueInvalid",
      message: "Invalid value: 0: must be specified for an update",
      field: "metadata.resourceVersion",
    },
  ]);

export const forbidden = (kind: Named, name: string, why: string): StatusError =>
  new StatusError(403, "Forbidden", `${qualified(kind)} "${name}" is forbidden: ${why}`, detailsOf(kind, name));
