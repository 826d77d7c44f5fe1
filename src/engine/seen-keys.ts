import type { SeenKey, Situation } from "./model.ts";

/** What lists and questions about single keys have shown in this pass. */
export function seenKeys({ outside = [], observed }: Situation["observation"]): readonly SeenKey[] {
  const asked = [...observed.values()].filter((key) => key !== "gone");
  return [...outside, ...asked.filter((key) => !outside.some((one) => one.id === key.id))];
}
