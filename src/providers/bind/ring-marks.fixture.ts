import type { Marks } from "../contract.ts";

/** Where the ring is, in words. */
export const PLACE = "default/web-ring";

export const marks = (sequence: number): Marks => ({
  clusterId: "c",
  ownerUid: "u",
  ownerKind: "RndcKey",
  ownerName: "web",
  sequence,
});
