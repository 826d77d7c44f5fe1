import { apps } from "./apps/apps.ts";
import { btp } from "./families/btp.ts";
import { FAMILIES } from "./families/families.ts";
import { rotating } from "./families/rotating.ts";
import type { Repertoire } from "./repertoire.ts";
import { restarts } from "./restarts/restarts.ts";
import { rings, ringsRestarted } from "./rings/rings.ts";
import { consumersOf, rotationsOf } from "./rotations.ts";

/** All that is explored. */
export const REPERTOIRES: readonly Repertoire[] = [
  ...FAMILIES.map(rotationsOf),
  consumersOf(btp),
  consumersOf(rotating, ["behind", "movesLate", "heldMove"]),
  restarts,
  rings,
  ringsRestarted,
  apps,
];

export function repertoireOf(name: string): Repertoire {
  const repertoire = REPERTOIRES.find((one) => one.name === name);
  if (!repertoire) throw new RangeError(`there are no stories of ${name}`);
  return repertoire;
}
