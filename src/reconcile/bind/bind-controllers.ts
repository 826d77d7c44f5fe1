import type { Controller } from "../../runtime/controller.ts";
import type { BindSettings } from "./bind-controller.ts";
import { createClusterController } from "./cluster-controller.ts";
import { createInstanceController } from "./instance-controller.ts";
import { createProviderController } from "./provider-controller.ts";

interface BindControllerFactory {
  readonly name: string;
  create(settings: BindSettings): Controller;
}

/** What makes objects of the document's three kinds; the keys themselves are rotated by the controller of RndcKeys. */
export const bindControllers: readonly BindControllerFactory[] = [
  { name: "bind9-provider", create: createProviderController },
  { name: "bind9-cluster", create: createClusterController },
  { name: "bind9-instance", create: createInstanceController },
];
