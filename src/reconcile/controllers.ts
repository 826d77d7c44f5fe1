import type { Controller } from "../runtime/controller.ts";
import { bindControllers } from "./bind/bind-controllers.ts";
import { createRndcKeyController, RNDC_KEYS } from "./bind/rndc-key-controller.ts";
import { createBtpFamily } from "./btp/btp-family.ts";
import { createCloudFoundryFamily } from "./cloudfoundry/cloud-foundry-family.ts";
import { createRotatingCredentialBindingFamily } from "./cloudfoundry/rotating-credential-binding-family.ts";
import type { ControllerSettings } from "./controller-settings.ts";
import { korifiControllers } from "./korifi/korifi-controllers.ts";
import { createFamilyController } from "./managed/family-controller.ts";
import { ROTATING_RESOURCE } from "./parents/generic/generic-family.ts";
import { createRotatingResourceController } from "./parents/generic/rotating-resource-controller.ts";
import { createParentController } from "./parents/parent-controller.ts";
import { createRestartController, RESTART } from "./restart/restart-controller.ts";

export interface ControllerFactory {
  /** The name it is switched on with. */
  readonly name: string;
  create(settings: ControllerSettings): Controller;
}

/** Every controller there is. */
export const controllers: readonly ControllerFactory[] = [
  { name: "btp", create: (settings) => createFamilyController(createBtpFamily(settings), settings) },
  { name: "cloudfoundry", create: (settings) => createFamilyController(createCloudFoundryFamily(settings), settings) },
  {
    name: "cloudfoundry-rotating",
    create: (settings) => createParentController(createRotatingCredentialBindingFamily(settings), settings),
  },
  { name: ROTATING_RESOURCE, create: createRotatingResourceController },
  ...bindControllers,
  { name: RNDC_KEYS, create: (settings) => createRndcKeyController(settings) },
  ...korifiControllers,
  { name: RESTART, create: createRestartController },
];
