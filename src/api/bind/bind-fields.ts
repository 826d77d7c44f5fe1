import { conditions } from "../crossplane.ts";
import type { Column } from "../custom-resource.ts";
import { instant, integer, list, object, objectName, oneOf, type SchemaNode, text } from "../schema.ts";
import { BINDY_GROUP, BINDY_VERSION } from "./names.ts";
import { rndcKeyFields } from "./rndc-key-fields.ts";

/** What the three kinds of the Bindy document share. */
export const bindKind = { group: BINDY_GROUP, version: BINDY_VERSION, categories: ["keyturn", "bind9"] } as const;

const MAX_REPLICAS = 100;

const image = object(
  {
    image: text("The image, with named on its PATH.", { minLength: 1, maxLength: 512 }),
    imagePullPolicy: oneOf("When it is pulled.", ["Always", "IfNotPresent", "Never"]),
    imagePullSecrets: list(objectName("Name of a Secret."), "With what it is pulled.", { maxItems: 16 }),
  },
  { description: "What named is run from." },
);

const recursion: SchemaNode = {
  type: "boolean",
  description: "Answer recursive queries, from private networks alone. Off unless it is asked for.",
};

/** What pods of an instance can be run by. */
export const workloads = ["Deployment", "StatefulSet"] as const;
export type InstanceWorkload = (typeof workloads)[number];

/** What an instance is run with, said once for all of a cluster or for the one. */
const serverFields: Readonly<Record<string, SchemaNode>> = {
  image,
  workload: oneOf("What runs the pods, a Deployment when nothing is said. Those of a StatefulSet keep their names.", [
    ...workloads,
  ]),
  port: integer("The port of the Service for DNS; 53 when nothing is said.", {
    minimum: 1,
    maximum: 65_535,
    "x-kubernetes-validations": [{ rule: "self != 9953", message: "must be another one than that of commands, 9953" }],
  }),
};

const role = (description: string): SchemaNode =>
  object(
    {
      replicas: integer("How many instances there are of it; 1 when nothing is said.", {
        minimum: 0,
        maximum: MAX_REPLICAS,
      }),
      ...rndcKeyFields,
    },
    { description },
  );

/** Of a cluster, and of a provider that makes one. */
export const clusterFields: Readonly<Record<string, SchemaNode>> = {
  ...serverFields,
  global: object({ recursion, ...rndcKeyFields }, { description: "For all instances." }),
  primary: role("For the primary instances; none when absent. Goes before global."),
  secondary: role("For the secondary instances; none when absent. Goes before global."),
};

export const instanceFields: Readonly<Record<string, SchemaNode>> = { ...serverFields, recursion, ...rndcKeyFields };

export const roles = ["primary", "secondary"] as const;

const observedGeneration = integer("The generation of the spec that this was said of.");

/** Which level's word for the RNDC key counts, and why. */
export const keyChoice = {
  level: oneOf("The level that has won.", ["instance", "role", "global", "default"]),
  source: text("The object that says it."),
  field: text("The field of it that says it."),
  mode: oneOf("Where the key comes from.", ["generated", "inline", "referenced"]),
  why: text("Why this one, and what it goes before."),
  secretName: text("The Secret that holds the key."),
  rotates: { type: "boolean", description: "Whether the key is replaced by itself." },
  rotateAfter: text("At which age."),
  name: text("The RndcKey that rotates it; none where the key is somebody else's."),
  nextRotation: instant("When it is replaced next, as the RndcKey says."),
} as const satisfies Readonly<Record<string, SchemaNode>>;

export const bindStatus = (fields: Readonly<Record<string, SchemaNode>>): SchemaNode =>
  object({ observedGeneration, ...fields, conditions });

export const readyColumn: Column = {
  name: "Ready",
  type: "string",
  jsonPath: ".status.conditions[?(@.type=='Ready')].status",
};
export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

export const replicaColumns: readonly Column[] = [
  { name: "Primary", type: "integer", jsonPath: ".spec.primary.replicas" },
  { name: "Secondary", type: "integer", jsonPath: ".spec.secondary.replicas" },
];
