import type { Observation, SeenKey } from "./model.ts";

/** What lists and questions about single keys have shown in this pass. */
export function seenKeys({ outside = [], observed }: Observation): readonly SeenKey[] {
  const asked = [...observed.values()].filter((key) => key !== "gone");
  return [...outside, ...asked.filter((key) => !outside.some((one) => one.id === key.id))];
}

/** It can be used, or will be. */
export const isAlive = ({ state }: SeenKey): boolean => state === "ready" || state === "creating";

export const isSeen = (observation: Observation, id: string): boolean =>
  seenKeys(observation).some((key) => key.id === id);

/** It was asked for in this pass, and is not there any more or will not be for long. */
export function isKnownGone({ observed }: Observation, id: string): boolean {
  const asked = observed.get(id);
  return asked === "gone" || asked?.state === "deleting";
}
