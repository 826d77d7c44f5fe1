import type { State } from "../../engine/model.ts";
import { type Fields, fieldsOf, itemsOf } from "../managed/read-fields.ts";
import type { StatusNames } from "../managed/status-fields.ts";

/** How the status of a parent tells of its children, which are its keys. */
export const CHILD_NAMES: StatusNames = {
  id: "uid",
  createdAt: "createdAt",
  retiredAt: "retiredAt",
  retiredKeysIn: "atProvider",
};

/** Adds the list of all children that are there, whatever they are to the parent. Never read back. */
export function withChildren(status: Fields, { active, pending }: State): Fields {
  const atProvider = fieldsOf(status.atProvider);
  const retired = itemsOf(atProvider.retiredKeys);
  const { uid, name, createdAt } = atProvider;
  const children = [
    ...(active ? [{ uid, name, state: "active", createdAt }] : []),
    ...(pending?.id !== undefined && pending.id !== active?.id
      ? [{ uid: pending.id, name: pending.name, state: "pending" }]
      : []),
    // Until its successor is there, the active one is in this list already.
    ...retired
      .filter((one) => one.uid !== active?.id)
      .map((one) => ({
        uid: one.uid,
        name: one.name,
        state: "retired",
        createdAt: one.createdAt,
        deletionDate: one.deletionDate,
      })),
  ];
  return children.length === 0 ? status : { ...status, atProvider: { ...atProvider, children } };
}
