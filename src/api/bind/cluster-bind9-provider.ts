import type { CustomResource } from "../custom-resource.ts";
import { namespaceName, object, text } from "../schema.ts";
import { ageColumn, bindKind, bindStatus, clusterFields, readyColumn, replicaColumns } from "./bind-fields.ts";

/** Makes a Bind9Cluster of its own name, in one namespace. */
export const clusterBind9Provider: CustomResource = {
  ...bindKind,
  kind: "ClusterBind9Provider",
  plural: "clusterbind9providers",
  shortNames: ["cb9p"],
  namespaced: false,
  columns: [readyColumn, ...replicaColumns, ageColumn],
  spec: object({
    namespace: namespaceName("Where the cluster is made; the operator's namespace when nothing is said."),
    ...clusterFields,
  }),
  status: bindStatus({ cluster: text("The Bind9Cluster that was made, as namespace/name.") }),
};
