import type { BehaviourGroup } from "./behaviour.ts";
import { access } from "./groups/access.ts";
import { admissionPolicies, kubectlAdmissionPolicies } from "./groups/admission-policies.ts";
import { apply } from "./groups/apply.ts";
import { bodies } from "./groups/bodies.ts";
import { cel } from "./groups/cel.ts";
import { changingKinds } from "./groups/changing-kinds.ts";
import { conflicts } from "./groups/conflicts.ts";
import { crdDefaulting } from "./groups/crd-defaulting.ts";
import { crdValidation } from "./groups/crd-validation.ts";
import { deletion } from "./groups/deletion.ts";
import { discovery } from "./groups/discovery.ts";
import { dryRuns } from "./groups/dry-run.ts";
import { eventsAndLeases } from "./groups/events-leases.ts";
import { kubectl } from "./groups/kubectl.ts";
import { kubectlWorkloads } from "./groups/kubectl-workloads.ts";
import { listWatch } from "./groups/list-watch.ts";
import { lists } from "./groups/lists.ts";
import { namespaces } from "./groups/namespaces.ts";
import { objects } from "./groups/objects.ts";
import { ownership } from "./groups/ownership.ts";
import { patches } from "./groups/patches.ts";
import { rndcKeys } from "./groups/rndc-keys.ts";
import { rotatingCredentialBindings } from "./groups/rotating-credential-bindings.ts";
import { rotatingResources } from "./groups/rotating-resources.ts";
import { secrets } from "./groups/secrets.ts";
import { selectors } from "./groups/selectors.ts";
import { serviceBindings } from "./groups/service-bindings.ts";
import { serviceCredentialBindings } from "./groups/service-credential-bindings.ts";
import { subresources } from "./groups/subresources.ts";
import { tables } from "./groups/tables.ts";
import { watch } from "./groups/watch.ts";
import { workloads } from "./groups/workloads.ts";

/** Every group of the suite; a new one is a file and a line here. */
export const groups: readonly BehaviourGroup[] = [
  objects,
  conflicts,
  bodies,
  patches,
  apply,
  dryRuns,
  watch,
  lists,
  selectors,
  deletion,
  namespaces,
  secrets,
  eventsAndLeases,
  crdValidation,
  crdDefaulting,
  changingKinds,
  cel,
  admissionPolicies,
  serviceBindings,
  serviceCredentialBindings,
  rotatingCredentialBindings,
  rotatingResources,
  rndcKeys,
  subresources,
  ownership,
  listWatch,
  tables,
  discovery,
  access,
  workloads,
  kubectl,
  kubectlWorkloads,
  kubectlAdmissionPolicies,
];
