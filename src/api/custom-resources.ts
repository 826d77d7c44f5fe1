import { bindResources } from "./bind/bind-resources.ts";
import { providerConfig as btpConfig } from "./btp/provider-config.ts";
import { serviceBinding } from "./btp/service-binding.ts";
import { providerConfig as cloudFoundryConfig } from "./cloudfoundry/provider-config.ts";
import { rotatingCredentialBinding } from "./cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "./cloudfoundry/service-credential-binding.ts";
import type { CustomResource } from "./custom-resource.ts";
import { rotatingResource } from "./keyturn/rotating-resource.ts";
import { rotationClass } from "./keyturn/rotation-class.ts";
import { korifiResources } from "./korifi/korifi-resources.ts";

/** Every kind that Keyturn brings a CRD for: the one list that `keyturn crds`, the operator and the tests read. */
export const customResources: readonly CustomResource[] = [
  serviceBinding,
  btpConfig,
  serviceCredentialBinding,
  cloudFoundryConfig,
  rotatingCredentialBinding,
  rotatingResource,
  rotationClass,
  ...bindResources,
  ...korifiResources,
];
