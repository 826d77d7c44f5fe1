import { type StatusCause, StatusError } from "../status-error.ts";
import type { FieldSet } from "./field-set.ts";
import { identityOf, type ManagedEntry } from "./managed-entries.ts";
import { compareText, describePath } from "./path-element.ts";

/** Fields that an apply would change and somebody else owns. */
export interface Conflict {
  readonly owner: ManagedEntry;
  readonly fields: FieldSet;
}

/** 409 with a cause for every field, in the API server's words. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) => compareText(identityOf(a.owner), identityOf(b.owner)));
  const groups = sorted.map(({ owner, fields }) => ({
    owner: describeOwner(owner),
    paths: [...fields.paths()].map(describePath),
  }));
  const causes: StatusCause[] = groups.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${owner}`, field })),
  );
  const [first] = causes;
  const detail =
    causes.length === 1 && first
      ? `1 conflict: ${first.message}: ${first.field}`
      : `${causes.length} conflicts: ${groups
          .map(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)].join("\n"))
          .join("\n")}`;
  return new StatusError(409, "Conflict", `Apply failed with ${detail}`, { causes });
}

function describeOwner({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  const name =
    subresource === "" ? JSON.stringify(manager) : `${JSON.stringify(manager)} with subresource "${subresource}"`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
