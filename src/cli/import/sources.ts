import { bindy } from "./bindy/bindy-source.ts";
import { crossplaneBtp, crossplaneCloudFoundry } from "./crossplane/crossplane-source.ts";
import { korifi } from "./korifi/korifi-source.ts";
import { sapBtpOperator } from "./sap-btp-operator/sap-source.ts";
import type { ImportSource } from "./source.ts";

/** Every operator whose objects can be taken over, in the order in which the help names them. */
export const sources: readonly ImportSource[] = [crossplaneBtp, crossplaneCloudFoundry, sapBtpOperator, bindy, korifi];
