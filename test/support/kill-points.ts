/** One death of a process: at which of its writes, counted from 0, and on which side of it. */
export interface DeathPoint {
  readonly at: number;
  readonly when: "before" | "after";
}

/** `npm run test:cluster` has the time for all of them; `npm test`, where such a file is named to it, takes some. */
export const DEATH_STRIDE = process.env.KEYTURN_TEST_CLUSTER === "yes" ? 1 : 3;

/** Where a process is to die in a story of so many writes: on both sides of each; of those taken, by turns on one. */
export function deathPoints(writes: number): readonly DeathPoint[] {
  const sides = ["before", "after"] as const;
  const all = Array.from({ length: writes }, (_, at) => sides.map((when) => ({ at, when }))).flat();
  if (DEATH_STRIDE === 1) return all;
  return all.filter(({ at, when }) => at % DEATH_STRIDE === 0 && when === sides[(at / DEATH_STRIDE) % 2]);
}
