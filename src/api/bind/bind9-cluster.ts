import type { CustomResource } from "../custom-resource.ts";
import { integer, object } from "../schema.ts";
import { ageColumn, bindKind, bindStatus, clusterFields, readyColumn, replicaColumns } from "./bind-fields.ts";

/** Makes and scales the Bind9Instances `<cluster>-primary-N` and `<cluster>-secondary-N`. */
export const bind9Cluster: CustomResource = {
  ...bindKind,
  kind: "Bind9Cluster",
  plural: "bind9clusters",
  shortNames: ["b9c"],
  namespaced: true,
  columns: [readyColumn, ...replicaColumns, ageColumn],
  spec: object(clusterFields),
  status: bindStatus({
    instances: integer("How many instances there are."),
    readyInstances: integer("How many of them are ready."),
  }),
};
