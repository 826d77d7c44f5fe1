import { btp } from "./btp.ts";
import { cloudFoundry } from "./cloud-foundry.ts";
import type { Family } from "./family.ts";
import { rotatingKeys } from "./rotating-keys.ts";

/** Those that look after their keys at the external system themselves. */
export const direct: readonly Family[] = [btp, cloudFoundry];

/** Every kind whose keys are rotated; whoever makes others of them comes after those. */
export const families: readonly Family[] = [...direct, rotatingKeys];
