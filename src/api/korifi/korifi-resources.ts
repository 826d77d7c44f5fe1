import type { CustomResource } from "../custom-resource.ts";
import { cfServiceBinding } from "./cf-service-binding.ts";
import { cfServiceInstance } from "./cf-service-instance.ts";

/** The kinds for the service credentials of applications. */
export const korifiResources: readonly CustomResource[] = [cfServiceInstance, cfServiceBinding];
