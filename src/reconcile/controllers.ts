import type { Controller } from "../runtime/controller.ts";
import { createBtpController } from "./btp/btp-controller.ts";
import type { ControllerSettings } from "./controller-settings.ts";

export interface ControllerFactory {
  /** The name it is switched on with. */
  readonly name: string;
  create(settings: ControllerSettings): Controller;
}

/** Every controller there is. */
export const controllers: readonly ControllerFactory[] = [{ name: "btp", create: createBtpController }];
