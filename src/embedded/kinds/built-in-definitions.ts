import type { ResourceDefinition } from "../registry.ts";
import { admissionPolicyDefinitions } from "./admission-policy.ts";
import { configMapDefinition } from "./config-map.ts";
import { controllerRevisionDefinition } from "./controller-revision.ts";
import { cronJobDefinition } from "./cron-job.ts";
import { daemonSetDefinition } from "./daemon-set.ts";
import { definitionOfDefinitions } from "./definition-of-definitions.ts";
import { deploymentDefinition } from "./deployment.ts";
import { eventDefinition, newEventDefinition } from "./event.ts";
import { jobDefinition } from "./job.ts";
import { namespaceDefinition } from "./namespace.ts";
import { podDefinition } from "./pod.ts";
import { rbacDefinitions } from "./rbac.ts";
import { replicaSetDefinition } from "./replica-set.ts";
import { secretDefinition } from "./secret.ts";
import { serviceDefinition } from "./service.ts";
import { statefulSetDefinition } from "./stateful-set.ts";
import {
  leaseDefinition,
  networkPolicyDefinition,
  podDisruptionBudgetDefinition,
  serviceAccountDefinition,
  webhookDefinitions,
} from "./stored-kinds.ts";

/**
 * The built-in kinds that the embedded server serves: their schemas, columns, defaults and rules, one file per kind
 * that has any of its own. Everything here is pure. Must not: act on objects; what happens to them once they are
 * stored is `controllers/`.
 */
export const builtInDefinitions = (): ResourceDefinition[] => [
  namespaceDefinition(),
  secretDefinition(),
  configMapDefinition(),
  serviceDefinition(),
  serviceAccountDefinition(),
  eventDefinition(),
  podDefinition(),
  deploymentDefinition(),
  replicaSetDefinition(),
  statefulSetDefinition(),
  daemonSetDefinition(),
  controllerRevisionDefinition(),
  jobDefinition(),
  cronJobDefinition(),
  leaseDefinition(),
  newEventDefinition(),
  definitionOfDefinitions(),
  ...rbacDefinitions(),
  ...webhookDefinitions(),
  ...admissionPolicyDefinitions(),
  podDisruptionBudgetDefinition(),
  networkPolicyDefinition(),
];
