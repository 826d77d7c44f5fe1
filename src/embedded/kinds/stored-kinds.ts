import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalidValue } from "../schema/field-errors.ts";
import { withScope } from "./admission-match.ts";
import { ageColumn, column, countColumn, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asArray, asNumber, asObject, asObjects, asText, fill, mapObject, mapObjects } from "./json-fields.ts";
import { formatLabelSelector } from "./label-selector.ts";
import { validateNotNegative } from "./workload-validation.ts";

/** Kinds that are stored and shown and nothing more: no controller of the embedded server acts on them. */
export const serviceAccountDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "serviceaccounts",
    kind: "ServiceAccount",
    shortNames: ["sa"],
    columns: [nameColumn, ageColumn],
  });

export const leaseDefinition = (): ResourceDefinition =>
  defineKind({
    group: "coordination.k8s.io",
    plural: "leases",
    kind: "Lease",
    createsOnUpdate: true,
    updatesNeedVersion: true,
    checksFinalizerDomains: false,
    columns: [nameColumn, column("Holder", (lease) => asText(asObject(lease.spec).holderIdentity)), ageColumn],
    // A spec is a struct to the server: it is there even when empty.
    applyDefaults: (lease) => ({ ...lease, spec: asObject(lease.spec) }),
    validateCreate: leaseErrors,
    validateUpdate: leaseErrors,
  });

function leaseErrors(lease: KubeObject): ReturnType<typeof validateNotNegative> {
  const spec = asObject(lease.spec);
  const length = spec.leaseDurationSeconds;
  const errors = validateNotNegative(spec, ["leaseTransitions"]);
  if (length === undefined || asNumber(length) > 0) return errors;
  return [invalidValue("spec.leaseDurationSeconds", length, "must be greater than 0"), ...errors];
}

export const podDisruptionBudgetDefinition = (): ResourceDefinition =>
  defineKind({
    group: "policy",
    plural: "poddisruptionbudgets",
    kind: "PodDisruptionBudget",
    shortNames: ["pdb"],
    subresources: ["status"],
    tracksGeneration: true,
    initialStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    columns: [
      nameColumn,
      column("Min Available", (object) => `${asObject(object.spec).minAvailable ?? "N/A"}`),
      column("Max Unavailable", (object) => `${asObject(object.spec).maxUnavailable ?? "N/A"}`),
      countColumn("Allowed Disruptions", "status", "disruptionsAllowed"),
      ageColumn,
    ],
    validateCreate: budgetErrors,
    validateUpdate: budgetErrors,
  });

function budgetErrors(budget: KubeObject): ReturnType<typeof validateNotNegative> {
  const spec = asObject(budget.spec);
  const errors = validateNotNegative(spec, ["minAvailable", "maxUnavailable"]);
  if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return errors;
  return [...errors, invalidValue("spec", spec, "minAvailable and maxUnavailable cannot be both set")];
}

export const networkPolicyDefinition = (): ResourceDefinition =>
  defineKind({
    group: "networking.k8s.io",
    plural: "networkpolicies",
    kind: "NetworkPolicy",
    shortNames: ["netpol"],
    tracksGeneration: true,
    columns: [
      nameColumn,
      column("Pod-Selector", (object) => formatLabelSelector(asObject(object.spec).podSelector)),
      ageColumn,
    ],
    applyDefaults: (object) => ({ ...object, spec: defaultPolicySpec(asObject(object.spec)) }),
  });

function defaultPolicySpec(spec: JsonObject): JsonObject {
  const withPorts = (rule: JsonObject): JsonObject =>
    mapObjects(rule, "ports", (port) => fill(port, { protocol: "TCP" }));
  const filled = mapObjects(mapObjects(spec, "ingress", withPorts), "egress", withPorts);
  const implied = asArray(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  return { ...fill(filled, { podSelector: {} }), policyTypes: spec.policyTypes ?? implied };
}

const WEBHOOK_DEFAULTS: JsonObject = {
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

function webhookDefinition(kind: string, plural: string, defaults: JsonObject): ResourceDefinition {
  return defineKind({
    group: "admissionregistration.k8s.io",
    plural,
    kind,
    namespaced: false,
    categories: ["api-extensions"],
    tracksGeneration: true,
    columns: [
      nameColumn,
      column("Webhooks", (object) => asArray(object.webhooks).length, { type: "integer" }),
      ageColumn,
    ],
    applyDefaults: (object) => {
      if (!Array.isArray(object.webhooks)) return object;
      const webhooks = asObjects(object.webhooks).map((webhook) => {
        const config = mapObject(asObject(webhook.clientConfig), "service", (service) => fill(service, { port: 443 }));
        return withScope({ ...fill(webhook, defaults), clientConfig: config }, "rules");
      });
      return { ...object, webhooks };
    },
  });
}

export const webhookDefinitions = (): readonly ResourceDefinition[] => [
  webhookDefinition("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", WEBHOOK_DEFAULTS),
  webhookDefinition("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", {
    ...WEBHOOK_DEFAULTS,
    reinvocationPolicy: "Never",
  }),
];
