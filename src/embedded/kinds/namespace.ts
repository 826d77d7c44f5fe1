import type { KubeObject } from "../../kube/objects.ts";
import { forbidden } from "../refusals.ts";
import type { ResourceDefinition } from "../registry.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { ALL_VERBS, defineKind } from "./define-kind.ts";
import { asObject, asTexts } from "./json-fields.ts";
import { dnsLabel } from "./names.ts";

export const NAMESPACE_FINALIZER = "kubernetes";

const IMMORTAL = ["default", "kube-system", "kube-public"];

/** Namespaces. `spec.finalizers` holds a deleted one until its content is gone; see `controllers/namespaces.ts`. */
export const namespaceDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "namespaces",
    kind: "Namespace",
    namespaced: false,
    shortNames: ["ns"],
    subresources: ["status", "finalize"],
    verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
    validateName: dnsLabel,
    selectableFields: ["status.phase"],
    columns: [nameColumn, column("Status", (object) => asObject(object.status).phase), ageColumn],
    applyDefaults: withNameLabel,
    prepareCreate: (object) => {
      const finalizers = asTexts(asObject(object.spec).finalizers);
      const isSet = finalizers.includes(NAMESPACE_FINALIZER);
      return { ...object, spec: { finalizers: isSet ? finalizers : [...finalizers, NAMESPACE_FINALIZER] } };
    },
    /** Finalizers change through the finalize subresource, and it changes nothing else. */
    prepareUpdate: (object, old, subresource) => {
      if (subresource !== "finalize") return { ...object, spec: old.spec };
      return { ...old, metadata: { ...object.metadata }, spec: object.spec };
    },
    holdsDeletion: (object) => asTexts(asObject(object.spec).finalizers).length > 0,
    prepareDelete: (object) => {
      const { name } = object.metadata;
      if (IMMORTAL.includes(name)) {
        throw forbidden({ group: "", plural: "namespaces" }, name, "this namespace may not be deleted");
      }
      return { ...object, status: { ...asObject(object.status), phase: "Terminating" } };
    },
    initialStatus: () => ({ phase: "Active" }),
  });

function withNameLabel(object: KubeObject): KubeObject {
  const { name, labels } = object.metadata;
  const key = "kubernetes.io/metadata.name";
  if (!name || labels?.[key] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [key]: name } } };
}
