import { btp } from "./btp.ts";
import { cloudFoundry } from "./cloud-foundry.ts";
import type { Family } from "./family.ts";
import { generic } from "./generic.ts";
import { rotating } from "./rotating.ts";

export const FAMILIES: readonly Family[] = [btp, cloudFoundry, rotating, generic];
