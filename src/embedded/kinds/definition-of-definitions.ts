import type { KubeObject } from "../../kube/objects.ts";
import type { ResourceDefinition } from "../registry.ts";
import { nameColumn } from "./columns.ts";
import { definitionStrategy } from "./custom-resource-definition.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, asObjects } from "./json-fields.ts";

/** Holds a deleted CRD until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** CustomResourceDefinitions as objects; what they define is `custom-resource-definition.ts`. */
export const definitionOfDefinitions = (): ResourceDefinition => {
  const { applyDefaults, prepareCreate, prepareUpdate, validateCreate, validateUpdate } = definitionStrategy;
  return defineKind({
    group: "apiextensions.k8s.io",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    subresources: ["status"],
    tracksGeneration: true,
    columns: [
      nameColumn,
      { name: "Created At", type: "date", priority: 0, value: ({ metadata }) => metadata.creationTimestamp },
    ],
    ...(applyDefaults && { applyDefaults }),
    initialStatus: (crd) => asObject(prepareCreate?.(crd).status),
    ...(prepareUpdate && { prepareUpdate }),
    ...(validateCreate && { validateCreate }),
    ...(validateUpdate && { validateUpdate }),
    // The first request to delete never removes it at once: its objects go first, held by the finalizer.
    holdsDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
    prepareDelete: withCleanup,
    statusKeepsMetadata: "all",
    updatesNeedVersion: true,
  });
};

/** The real server marks a CRD in a way of its own: no grace period, no new generation, but a condition. */
function withCleanup(crd: KubeObject): KubeObject {
  const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...metadata } = crd.metadata;
  const held = finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER];
  const status = asObject(crd.status);
  const others = asObjects(status.conditions).filter(({ type }) => type !== "Terminating");
  const terminating = { ...TERMINATING, lastTransitionTime: metadata.deletionTimestamp ?? "" };
  return {
    ...crd,
    metadata: { ...metadata, finalizers: held, generation: generation - 1 },
    status: { ...status, conditions: [...others, terminating] },
  };
}

const TERMINATING = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionPending",
  message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
};
