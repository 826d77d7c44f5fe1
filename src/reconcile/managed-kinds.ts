import { createRndcKeyKind } from "./bind/rndc-key-kind.ts";
import { createServiceBindingKind } from "./btp/service-binding-kind.ts";
import { createRotatingCredentialBindingKind } from "./cloudfoundry/rotating-credential-binding-kind.ts";
import { createServiceCredentialBindingKind } from "./cloudfoundry/service-credential-binding-kind.ts";
import type { ManagedKind } from "./managed/managed-kind.ts";
import { createRotatingResourceKind } from "./parents/generic/rotating-resource-kind.ts";

/**
 * Every kind whose keys are rotated, for whoever only reads and explains. No limits of an operator's own: what its flags
 * refuse, the operator says on the resource.
 */
export const managedKinds: readonly ManagedKind[] = [
  createServiceBindingKind({ minFrequencyMs: 0 }),
  createServiceCredentialBindingKind({ minFrequencyMs: 0 }),
  createRotatingCredentialBindingKind({ minFrequencyMs: 0 }),
  createRotatingResourceKind({ minFrequencyMs: 0 }),
  createRndcKeyKind({ minFrequencyMs: 0 }),
];
