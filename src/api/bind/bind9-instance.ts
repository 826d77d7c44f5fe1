import type { CustomResource } from "../custom-resource.ts";
import { integer, object, objectName, oneOf } from "../schema.ts";
import {
  ageColumn,
  bindKind,
  bindStatus,
  instanceFields,
  keyChoice,
  readyColumn,
  roles,
  workloads,
} from "./bind-fields.ts";

const MAX_REPLICAS = 100;

/** One named, or several alike behind one Service. */
export const bind9Instance: CustomResource = {
  ...bindKind,
  kind: "Bind9Instance",
  plural: "bind9instances",
  shortNames: ["b9i"],
  namespaced: true,
  columns: [
    readyColumn,
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterRef" },
    { name: "Role", type: "string", jsonPath: ".spec.role" },
    { name: "Key-From", type: "string", jsonPath: ".status.rndcKey.level" },
    { name: "Rotate-After", type: "string", jsonPath: ".status.rndcKey.rotateAfter" },
    { name: "Next-Rotation", type: "string", jsonPath: ".status.rndcKey.nextRotation" },
    ageColumn,
  ],
  spec: object(
    {
      clusterRef: objectName("The Bind9Cluster of this namespace that it belongs to."),
      role: oneOf("What it is to its cluster.", roles),
      replicas: integer("How many pods there are of it; 1 when nothing is said.", {
        minimum: 0,
        maximum: MAX_REPLICAS,
      }),
      deploymentRef: object(
        {
          name: objectName("Name of a Deployment of this namespace that mounts the Secret of the key."),
          kind: oneOf("What it is, where it is no Deployment.", [...workloads]),
        },
        { required: ["name"], description: "An existing Deployment to use: none is made then, nor anything it needs." },
      ),
      ...instanceFields,
    },
    {
      required: ["clusterRef", "role"],
      rules: [
        {
          rule: "has(self.deploymentRef) == has(oldSelf.deploymentRef)",
          message: "cannot be put in or taken away: delete the instance and make another one",
          fieldPath: ".deploymentRef",
        },
      ],
    },
  ),
  status: bindStatus({
    replicas: integer("How many pods there are."),
    readyReplicas: integer("How many of them are ready."),
    rndcKey: object(keyChoice, { description: "Which setting of the RNDC key counts." }),
  }),
};
