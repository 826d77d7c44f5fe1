import { serviceBinding } from "../api/btp/service-binding.ts";
import { rotatingCredentialBinding } from "../api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../api/cloudfoundry/service-credential-binding.ts";
import type { CustomResource } from "../api/custom-resource.ts";
import { millisecondsOf } from "../api/duration-rules.ts";
import { rotatingResource } from "../api/keyturn/rotating-resource.ts";
import { ownName } from "../base/own-names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { advicePolicy } from "./advice-policy.ts";

/**
 * ValidatingAdmissionPolicies that warn of what is allowed but will surprise. They never refuse: what makes no sense is
 * refused by the schemas. Must say what the operator says in the condition of the resource. For those of these kinds that
 * rotate; for all that there are when nothing else is said.
 */
export const admissionPolicies = (kinds?: readonly CustomResource[]): readonly KubeObject[] =>
  Object.values<RotatedKind>(rotatedKinds)
    .filter(({ resource }) => kinds?.includes(resource) ?? true)
    .flatMap(adviceFor);

/** A kind that rotates, and where it says how. */
export interface RotatedKind {
  readonly resource: CustomResource;
  /** The `rotation` block, from the object on. */
  readonly rotation: string;
  /** What else the frequency may be called there. */
  readonly alias?: string;
  /** Its schema wants a Secret to be named. */
  readonly alwaysPublishes?: true;
}

export const rotatedKinds = {
  serviceBindings: { resource: serviceBinding, rotation: "spec.rotation" },
  serviceCredentialBindings: {
    resource: serviceCredentialBinding,
    rotation: "spec.forProvider.rotation",
    alias: "interval",
  },
  rotatingCredentialBindings: { resource: rotatingCredentialBinding, rotation: "spec.rotation", alias: "interval" },
  rotatingResources: {
    resource: rotatingResource,
    rotation: "spec.rotation",
    alias: "interval",
    alwaysPublishes: true,
  },
} as const satisfies Readonly<Record<string, RotatedKind>>;

const rotationAdvice = (rotation: string) => [
  {
    expression: "!variables.rotates || variables.ttl != variables.frequency",
    message: `${rotation}.ttl equals frequency: the old key ends when the new one begins, and who uses it has no time to move over; make ttl longer than frequency`,
  },
  {
    expression: "!variables.rotates || variables.ttl <= 2 * variables.frequency",
    message: `${rotation}.ttl is more than twice the frequency: more than one retired key exists at a time`,
    messageExpression: `'${rotation}.ttl is more than twice the frequency: up to ' + string((variables.ttl - 1) / variables.frequency) + ' retired keys exist at a time; make ttl shorter unless the service allows that many'`,
  },
];

/** The annotation counts where the field says nothing. */
const REVOKE = ownName("revoke");

const holdAdvice = (rotation: string) => {
  const block = `object.${rotation}`;
  const annotations = "object.metadata.annotations";
  const isAnnotated = `has(${annotations}) && '${REVOKE}' in ${annotations} && ${annotations}['${REVOKE}'] == 'AfterConsumers'`;
  const isSaid = `(has(${block}.revoke) ? ${block}.revoke == 'AfterConsumers' : (${isAnnotated}))`;
  return [
    {
      expression: `!has(${block}) || !has(${block}.maxHold) || ${isSaid}`,
      message: `${rotation}.maxHold says nothing without revoke: AfterConsumers`,
    },
  ];
};

const secretAdvice = [
  {
    expression: "!has(object.spec.publishConnectionDetailsTo) || has(object.spec.writeConnectionSecretToRef)",
    message:
      "spec.publishConnectionDetailsTo is ignored, so nothing is published; name a Secret in spec.writeConnectionSecretToRef",
  },
  {
    expression: "has(object.spec.publishConnectionDetailsTo) || has(object.spec.writeConnectionSecretToRef)",
    message: "spec.writeConnectionSecretToRef names no Secret: the key is published nowhere, and nobody can use it",
  },
];

const has = (field: string): string => `has(${field})`;

/** The policy for one kind, and the binding that puts it to work. */
export function adviceFor({
  resource,
  rotation,
  alias,
  alwaysPublishes,
}: RotatedKind): readonly [KubeObject, KubeObject] {
  const block = `object.${rotation}`;
  const frequency = `${block}.frequency`;
  const other = alias === undefined ? undefined : `${block}.${alias}`;
  return advicePolicy(resource, {
    variables: [
      {
        name: "rotates",
        expression: `${has(block)} && ${has(`${block}.ttl`)} && (${has(frequency)}${other === undefined ? "" : ` || ${has(other)}`})`,
      },
      { name: "ttl", expression: millisecondsOf(`${block}.ttl`) },
      {
        name: "frequency",
        expression:
          other === undefined
            ? millisecondsOf(frequency)
            : `${has(frequency)} ? ${millisecondsOf(frequency)} : ${millisecondsOf(other)}`,
      },
    ],
    validations: [...rotationAdvice(rotation), ...holdAdvice(rotation), ...(alwaysPublishes ? [] : secretAdvice)],
  });
}
