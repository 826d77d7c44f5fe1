import type { CustomResource } from "../custom-resource.ts";
import { instant, integer, list, object, text } from "../schema.ts";
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
    sharedKeys: list(
      object({
        name: text("The RndcKey that rotates it."),
        secretName: text("The Secret that holds it."),
        why: text("The setting that it comes from."),
        instances: list(text("Name of a Bind9Instance."), "Those that use it."),
        nextRotation: instant("When it is replaced next, as the RndcKey says."),
      }),
      "Keys that were written out in a spec, one for all instances that they are for.",
    ),
  }),
};
