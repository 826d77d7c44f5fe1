import type { Controller } from "../runtime/controller.ts";
import { btpController } from "./btp.ts";

/** Every controller there is, by the name it is switched on with. */
export const controllers: readonly Controller[] = [btpController];
