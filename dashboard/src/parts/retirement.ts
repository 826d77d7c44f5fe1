import type { KeyBar, Row } from "../../../src/dashboard/wire.ts";

/**
 * A resource that is a key of another, where that one has retired it: the bar that it is there, with its end. Its own row does
 * not tell: what is published of it works on. Undefined also where the parent may not be seen.
 */
export const retirementOf = (row: Row, parent: Row | undefined): KeyBar | undefined =>
  row.parent !== undefined && parent?.id === row.parent
    ? parent.keys.find(({ name, state }) => name === row.name && state === "retired")
    : undefined;
