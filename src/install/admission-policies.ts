import { serviceBinding } from "../api/btp/service-binding.ts";
import { type CustomResource, OWNER_LABELS } from "../api/custom-resource.ts";
import { millisecondsOf } from "../api/duration-rules.ts";
import type { KubeObject } from "../kube/objects.ts";

/**
 * ValidatingAdmissionPolicies that warn of what is allowed but will surprise. They never refuse: what makes no sense is
 * refused by the schemas. Must say what the operator says in the condition of the resource.
 */
const API_VERSION = "admissionregistration.k8s.io/v1";

/** The kinds that rotate. */
const rotated: readonly CustomResource[] = [serviceBinding];

export const admissionPolicies = (): readonly KubeObject[] => rotated.flatMap(adviceFor);

const ROTATION = "object.spec.rotation";

const validations = [
  {
    expression: "!variables.rotates || variables.ttl != variables.frequency",
    message:
      "spec.rotation.ttl equals frequency: the old key ends when the new one begins, and who uses it has no time to move over; make ttl longer than frequency",
  },
  {
    expression: "!variables.rotates || variables.ttl <= 2 * variables.frequency",
    message: "spec.rotation.ttl is more than twice the frequency: more than one retired key exists at a time",
    messageExpression:
      "'spec.rotation.ttl is more than twice the frequency: up to ' + string((variables.ttl - 1) / variables.frequency) + ' retired keys exist at a time; make ttl shorter unless the service allows that many'",
  },
  {
    expression: "!has(object.spec.publishConnectionDetailsTo) || has(object.spec.writeConnectionSecretToRef)",
    message:
      "spec.publishConnectionDetailsTo is ignored, so nothing is published; name a Secret in spec.writeConnectionSecretToRef",
  },
];

/** The policy for one kind, and the binding that puts it to work. */
export function adviceFor({ group, version, plural }: CustomResource): readonly [KubeObject, KubeObject] {
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
        variables: [
          {
            name: "rotates",
            expression: `has(${ROTATION}) && has(${ROTATION}.ttl) && has(${ROTATION}.frequency)`,
          },
          { name: "ttl", expression: millisecondsOf(`${ROTATION}.ttl`) },
          { name: "frequency", expression: millisecondsOf(`${ROTATION}.frequency`) },
        ],
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
