import type { Controller } from "../runtime/controller.ts";
import type { ControllerSettings } from "./controller-settings.ts";
import { RESTART } from "./restart/restart-name.ts";

type Create = (settings: ControllerSettings) => Controller;

export interface ControllerFactory {
  /** The name it is switched on with. */
  readonly name: string;
  /** How it is made. Its code is loaded with this: what is switched off takes no memory. */
  load(): Promise<Create>;
}

/** One of several that are loaded together. */
const oneOf = (
  name: string,
  load: () => Promise<readonly { readonly name: string; readonly create: Create }[]>,
): ControllerFactory => ({
  name,
  load: async () => {
    const found = (await load()).find((each) => each.name === name);
    if (!found) throw new TypeError(`there is no controller ${name}`);
    return found.create;
  },
});

const bind = async () => (await import("./bind/bind-controllers.ts")).bindControllers;
const korifi = async () => (await import("./korifi/korifi-controllers.ts")).korifiControllers;

/** Every controller there is. */
export const controllers: readonly ControllerFactory[] = [
  {
    name: "btp",
    load: async () => {
      const { createFamilyController } = await import("./managed/family-controller.ts");
      const { createBtpFamily } = await import("./btp/btp-family.ts");
      return (settings) => createFamilyController(createBtpFamily(settings), settings);
    },
  },
  {
    name: "cloudfoundry",
    load: async () => {
      const { createFamilyController } = await import("./managed/family-controller.ts");
      const { createCloudFoundryFamily } = await import("./cloudfoundry/cloud-foundry-family.ts");
      return (settings) => createFamilyController(createCloudFoundryFamily(settings), settings);
    },
  },
  {
    name: "cloudfoundry-rotating",
    load: async () => {
      const { createParentController } = await import("./parents/parent-controller.ts");
      const { createRotatingCredentialBindingFamily: createFamily } = await import(
        "./cloudfoundry/rotating-credential-binding-family.ts"
      );
      return (settings) => createParentController(createFamily(settings), settings);
    },
  },
  {
    name: "rotating-resource",
    load: async () =>
      (await import("./parents/generic/rotating-resource-controller.ts")).createRotatingResourceController,
  },
  oneOf("bind9-provider", bind),
  oneOf("bind9-cluster", bind),
  oneOf("bind9-instance", bind),
  {
    name: "bind9-keys",
    load: async () => (await import("./bind/rndc-key-controller.ts")).createRndcKeyController,
  },
  oneOf("cf-instances", korifi),
  oneOf("cf-bindings", korifi),
  oneOf("cf-apps", korifi),
  {
    name: RESTART,
    load: async () => (await import("./restart/restart-controller.ts")).createRestartController,
  },
];
