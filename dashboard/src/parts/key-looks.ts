import type { KeyBar } from "../../../src/dashboard/wire.ts";

/** What a key is called, and how it is drawn in small; one that is held back is told from those that are only retired. */
export type KeyLook = KeyBar["state"] | "held";

export const lookOf = ({ state, heldFor }: KeyBar): KeyLook =>
  state === "retired" && heldFor !== undefined ? "held" : state;

export const LOOK_WORDS: Readonly<Record<KeyLook, string>> = {
  pending: "being made",
  active: "active",
  retired: "retired",
  held: "held back",
  deleted: "deleted",
  foreseen: "to come",
};
