import { type CustomResource, OWNER_LABELS } from "../api/custom-resource.ts";
import type { KubeObject } from "../kube/objects.ts";

const API_VERSION = "admissionregistration.k8s.io/v1";

export interface Advice {
  /** True where there is nothing to say. */
  readonly expression: string;
  readonly message: string;
  readonly messageExpression?: string;
}

interface AdviceParts {
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Advice[];
}

/** A policy that warns and never refuses, for one kind, and the binding that puts it to work. */
export function advicePolicy(
  resource: CustomResource,
  { variables, validations }: AdviceParts,
): readonly [KubeObject, KubeObject] {
  const { group, version, plural } = resource;
  const metadata = { name: `advice.${plural}.${group}`, labels: OWNER_LABELS };
  return [
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        // Advice that cannot be given must not stop anybody.
        failurePolicy: "Ignore",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [group],
              apiVersions: [version],
              resources: [plural],
              operations: ["CREATE", "UPDATE"],
              // The default, said because kubectl apply would else find a difference each time.
              scope: "*",
            },
          ],
        },
        matchConditions: [
          { name: "spec-is-new", expression: "request.operation == 'CREATE' || object.spec != oldObject.spec" },
        ],
        ...(variables.length > 0 && { variables }),
        validations,
      },
    },
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: metadata.name, validationActions: ["Warn"] },
    },
  ];
}
