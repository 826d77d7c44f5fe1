import type { SchemaNode } from "./schema.ts";

/** One kind that Keyturn brings along: where it is served, and the schema that the API server enforces. */
export interface CustomResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly columns?: readonly Column[];
  readonly spec: SchemaNode;
  /** Absent for kinds without a status. */
  readonly status?: SchemaNode;
}

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly priority?: number;
}

/** What comes from Keyturn says so; a CRD without this belongs to somebody else and is never touched. */
export const OWNER_LABELS = { "app.kubernetes.io/part-of": "keyturn" } as const;

interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** The CustomResourceDefinition as it is applied to a cluster. */
export function definitionOf(resource: CustomResource): Definition {
  const { group, version, kind, plural } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels: OWNER_LABELS },
    spec: {
      group,
      scope: resource.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(resource.shortNames && { shortNames: resource.shortNames }),
        ...(resource.categories && { categories: resource.categories }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(resource.status && { subresources: { status: {} } }),
          ...(resource.columns && { additionalPrinterColumns: resource.columns }),
          schema: { openAPIV3Schema: schemaOf(resource) },
        },
      ],
    },
  };
}

function schemaOf(resource: CustomResource): SchemaNode {
  return {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: resource.spec,
      ...(resource.status && { status: resource.status }),
    },
    required: ["spec"],
  };
}
