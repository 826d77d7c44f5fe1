import { ACTING } from "./acting.ts";
import { DERIVING } from "./deriving.ts";
import { HOLDING } from "./holding.ts";
import { LEAVING } from "./leaving.ts";
import type { Mutant } from "./mutant.ts";
import { PARENTING } from "./parenting.ts";
import { REPLACING } from "./replacing.ts";
import { RESTARTING } from "./restarting.ts";
import { RETURNING } from "./returning.ts";
import { RINGING } from "./ringing.ts";
import { TELLING } from "./telling.ts";
import { WRITING } from "./writing.ts";

export const MUTANTS: readonly Mutant[] = [
  ...WRITING,
  ...REPLACING,
  ...RETURNING,
  ...LEAVING,
  ...PARENTING,
  ...ACTING,
  ...TELLING,
  ...HOLDING,
  ...RESTARTING,
  ...RINGING,
  ...DERIVING,
];
