import { btp } from "./btp.ts";
import { cloudFoundry } from "./cloud-foundry.ts";
import type { Family } from "./family.ts";
import { rotatingKeys } from "./rotating-keys.ts";
import { rotatingResources } from "./rotating-resources.ts";

/** Those that look after their keys at the external system themselves. */
export const direct: readonly Family[] = [btp, cloudFoundry];

/** Every kind of a Crossplane provider whose keys are rotated; whoever makes others of them comes after those. */
export const families: readonly Family[] = [...direct, rotatingKeys];

/** Those, and what makes children of kinds that are not ours, for which more has to be there. */
export const allFamilies: readonly Family[] = [...families, rotatingResources];
